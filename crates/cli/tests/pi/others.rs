//! Other Pi processes in the same folder: sessions are never swapped or rebound.

use segue_testkit::model::Stage;
use segue_testkit::scene::text;
use segue_testkit::vendors::{command, programs};
use segue_testkit::{Outcome, isolated};

use crate::{Scenery, transcripts};

#[test]
fn newer_conversation_started_without_segue_is_not_resumed_until_adopted() {
    isolated(|| {
        let scenery = Scenery::new();
        let session = scenery.told("coder", "remember ALPHA");
        let stray = Outcome::of(&mut command(&scenery.world, "pi", ["-p", "stray OMEGA"]));
        assert_eq!(stray.status, 0, "{stray:#?}");
        scenery.world.kill_everything();
        scenery.world.resume(["--all"]).assert_back("coder", "resumed");
        let back = scenery.world.session("coder");
        assert_eq!(back["vendor_session_id"], session["vendor_session_id"]);
        scenery.assert_carries("coder", &["remember ALPHA"], "which word?");

        let listed = scenery.world.json(["adopt", "--json"]);
        assert_eq!(listed["candidates"].as_array().unwrap().len(), 1, "{listed:#}");
        let found = &listed["candidates"][0];
        assert_eq!(found["begins"], "stray OMEGA", "{listed:#}");
        let which = format!("pi:{}", text(found, "vendor_session_id"));
        scenery.world.ok(["adopt", &which, "--name", "second"]);
        scenery.world.resume(["second"]).assert_back("second", "resumed");
        scenery.assert_carries("second", &["stray OMEGA"], "which word here?");
    });
}

#[test]
fn an_agent_that_runs_pi_as_a_tool_stays_in_its_own_conversation() {
    isolated(|| {
        let scenery = Scenery::new();
        let bin = programs(&scenery.world);
        let inner = format!("PATH={}:$PATH pi -p inner-OMEGA < /dev/null", bin.display());
        let message = format!("ALPHA [[tool: {inner} > inner.log 2>&1]]");
        scenery.start("coder", &message);
        scenery.model.wait_for(|it| it.newest() == "inner-OMEGA" && it.stage == Stage::Whole);
        let session = scenery.wait_idle("coder");
        assert_eq!(transcripts(scenery.home.folder()).len(), 2);
        scenery.wait_spoke("coder");
        scenery.world.kill_everything();
        scenery.world.resume(["--all"]).assert_back("coder", "resumed");
        let back = scenery.world.session("coder");
        assert_eq!(back["vendor_session_id"], session["vendor_session_id"]);
        scenery.assert_carries("coder", &[&message], "which word?");
    });
}

/// The other process belongs to another Segue of the same user, which knows nothing of this one.
#[test]
fn resume_is_refused_while_another_segue_has_the_conversation_open() {
    isolated(|| {
        let mut scenery = Scenery::new();
        let session = scenery.told("coder", "remember ALPHA");
        scenery.world.ok(["stop", "coder"]);
        let own = scenery.world.segue_home();
        let other = scenery.world.root().join("other");
        scenery.world.set("SEGUE_HOME", other.to_str().unwrap());
        let path = scenery.transcript(&session);
        let arguments = ["--", "--session", path.to_str().unwrap()];
        let started = scenery.run(&[&["-d", "--name", "second"], &arguments[..]].concat());
        assert_eq!(started.status, 0, "{started:#?}");
        scenery.wait_idle("second");
        scenery.world.set("SEGUE_HOME", own.to_str().unwrap());
        let refused = scenery.world.segue(["resume", "coder"]);
        assert_eq!(refused.status, 8, "{refused:#?}");
        assert!(refused.stdout.contains("is open in process"), "{refused:#?}");
        scenery.world.set("SEGUE_HOME", other.to_str().unwrap());
        scenery.world.ok(["stop", "second"]);
        scenery.world.ok(["daemon", "stop"]);
        scenery.world.set("SEGUE_HOME", own.to_str().unwrap());
        scenery.world.resume(["coder"]).assert_back("coder", "resumed");
        scenery.assert_carries("coder", &["remember ALPHA"], "which word?");
    });
}
