//! The whole life of an issue: assigned, worked on, pushed, reviewed, merged and cleaned up.

use std::path::PathBuf;

use segue_core::model::{ForgeSubject, PullState, ReviewVerdict};
use segue_testkit::dispatch_scene::{DispatchScene, REPOSITORY, SECRET, TOKEN};
use segue_testkit::events::Events;
use segue_testkit::files;
use segue_testkit::forge_server::DeliveredDetail;
use segue_testkit::repositories::git;
use segue_testkit::scene::{share_environment, text, write_project};

use super::facts::PushesCommits;
use crate::with_vendor;

const WORK: &str = "echo fixed >> code.txt; git commit -q -a -m 'fix it'; git push -q origin HEAD";

fn issue_is_worked_on_reviewed_and_cleaned_up_in_one_conversation<V: PushesCommits>() {
    let (world, model) = with_vendor::<V>();
    share_environment(&world);
    let identity = "git = { name = \"Coder\", email = \"coder@example.org\" }\n";
    let agent = format!("[[agents]]\nname = \"coder\"\nvendor = \"{}\"\n", V::NAME);
    let agent = format!("{agent}permission = \"auto\"\n{}{identity}", V::AGENT_LINES);
    write_project(&world, &format!("[fleet]\nname = \"shop\"\n{agent}"));
    let prompt = format!("[[tool: {WORK}]] [[say: pushed]] {{{{ quoted }}}}");
    let assigned = format!(
        "on = \"issue.assigned\"\nagent = \"coder\"\nreply = true\nprompt = \"\"\"{prompt}\"\"\""
    );
    let reviewed = "on = \"pull.review_submitted\"\nagent = \"coder\"\nreply = true";
    let scene = DispatchScene::new(world, &[&assigned, reviewed]);

    let number = scene.assign("Parser HERON fails");
    let first = scene.ended_tasks().remove(0);
    assert_eq!(first["state"], "done", "{first:#}");
    let branch = format!("coder/issue-{number}");
    let origin = scene.world.root().join("origins/app.git");
    let pushed = git(&origin, &["log", "-1", "--format=%an <%ae> %s", &branch]);
    assert_eq!(pushed, "Coder <coder@example.org> fix it");

    let pull = scene
        .forge
        .change(|state| state.add_pull(REPOSITORY, &branch, &format!("Closes #{number}")));
    let review = scene.forge.change(|state| {
        let by = ("ada", ReviewVerdict::ChangesRequested);
        state.add_review(REPOSITORY, pull, by, &[("code.txt", 2, "Use a better word.")])
    });
    let subject = ForgeSubject::Pull(pull);
    let event = ("pull_request_review", "submitted", "ada");
    scene.deliver(subject, event, DeliveredDetail::Review(&review));
    let tasks = scene.ended_tasks();
    let [_, second] = &tasks[..] else { panic!("{tasks:#?}") };
    assert_eq!((&second["state"], &second["session"]), (&"done".into(), &first["session"]));
    let delta = model.conversation_of("Use a better word.").unwrap();
    assert!(delta.mentions("HERON"), "the review came without the history: {delta:#?}");

    let worktree = PathBuf::from(text(&first, "worktree"));
    assert!(worktree.is_dir());
    let mut events = Events::of(&scene.world);
    scene.forge.change(|state| {
        let pulls = &mut state.repository(REPOSITORY).pulls;
        pulls.get_mut(&pull).unwrap().state = PullState::Merged;
        state.tick();
    });
    scene.deliver(subject, ("pull_request", "closed", "ada"), DeliveredDetail::None);
    events.wait_for(|event| event["kind"] == "issue_cleaned_up").unwrap();
    assert!(!worktree.exists());
    let comments = scene.forge.comments(REPOSITORY, ForgeSubject::Issue(number));
    assert_eq!(comments.len(), 1, "{comments:#?}");
    let comments = scene.forge.comments(REPOSITORY, subject);
    assert_eq!(comments.len(), 1, "{comments:#?}");
    for (secret, own) in [(SECRET, "hook-secret"), (TOKEN, "forge-token")] {
        let own = scene.world.root().join(own);
        let traces = files::containing(scene.world.root(), secret);
        assert_eq!(traces.iter().filter(|path| **path != own).count(), 0, "{traces:#?}");
    }
}

test_each!(issue_is_worked_on_reviewed_and_cleaned_up_in_one_conversation: claude, codex);
