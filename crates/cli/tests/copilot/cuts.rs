//! A kill in the middle of a tool call. Copilot itself repairs the conversation on resume.

use std::fs;

use segue_testkit::scene::process;
use segue_testkit::{isolated, launches, processes};

use crate::Scenery;

#[test]
fn tool_process_is_killed_when_its_agent_is_killed() {
    isolated(|| {
        let scenery = Scenery::new();
        scenery.start("coder", "ALPHA [[tool: echo $$ > pid; exec sleep 987]]");
        let folder = scenery.world.project();
        let pid = || fs::read_to_string(folder.join("pid")).ok()?.trim().parse::<u32>().ok();
        launches::wait_until(&[&folder], "the tool", || pid().is_some());
        let session = scenery.wait_spoke("coder");
        processes::kill(process(&session, "pid"));
        let nudged = scenery.model.wait_answered("started again");
        let nudges = nudged.user_texts().iter().filter(|it| it.contains("started again")).count();
        assert_eq!(nudges, 1);
        let sleeping = |pid: &u32| processes::command_line(*pid).contains(&"987".to_owned());
        let left: Vec<u32> = scenery.world.processes().into_iter().filter(sleeping).collect();
        assert!(left.is_empty(), "{left:?}");
        assert_eq!(scenery.wait_idle("coder")["launches"], 2);
    });
}
