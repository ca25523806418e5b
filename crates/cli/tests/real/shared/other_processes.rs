//! Other processes of the vendor in the folder of a session: sessions are never swapped or rebound.

use segue_testkit::CommandOutcome;
use segue_testkit::model::AnswerStage;
use segue_testkit::scene::text;
use segue_testkit::vendors::{command, programs};

use super::facts::RunByHand;
use crate::scene;

fn newer_conversation_started_without_segue_is_not_resumed_until_adopted<V: RunByHand>() {
    let scene = scene::<V>();
    let session = scene.start_and_wait("coder", "remember ALPHA");
    let arguments = V::BY_HAND.iter().chain(&["stray OMEGA"]);
    let turn = CommandOutcome::of(&mut command(&scene.world, V::NAME, arguments));
    assert_eq!(turn.status, 0, "{turn:#?}");
    scene.world.kill_everything();
    scene.world.resume(["--all"]).assert_back("coder", "resumed");
    let back = scene.world.session("coder");
    assert_eq!(back["vendor_session_id"], session["vendor_session_id"]);
    scene.assert_carries("coder", &["remember ALPHA"], "which word?");

    let listed = scene.world.json(["adopt", "--json"]);
    assert_eq!(listed["candidates"].as_array().unwrap().len(), 1, "{listed:#}");
    let found = &listed["candidates"][0];
    assert_eq!(found["begins"], "stray OMEGA", "{listed:#}");
    let address = format!("{}:{}", V::NAME, text(found, "vendor_session_id"));
    scene.world.ok(["adopt", &address, "--name", "second"]);
    scene.world.resume(["second"]).assert_back("second", "resumed");
    scene.assert_carries("second", &["stray OMEGA"], "which word here?");
}

test_each!(newer_conversation_started_without_segue_is_not_resumed_until_adopted: claude, codex, pi);

fn agent_that_runs_its_vendor_as_a_tool_stays_in_its_own_conversation<V: RunByHand>() {
    let scene = scene::<V>();
    let bin = programs(&scene.world);
    let (program, arguments) = (V::NAME, V::BY_HAND.join(" "));
    let inner =
        format!("PATH={}:$PATH {program} {arguments} inner-OMEGA < /dev/null", bin.display());
    let message = format!("ALPHA [[tool: {inner} > inner.log 2>&1]]");
    let started = scene.run(&[&["-d", "--name", "coder", &message], V::MAY_RUN_ITSELF].concat());
    assert_eq!(started.status, 0, "{started:#?}");
    scene.model.wait_for(|it| it.newest() == "inner-OMEGA" && it.stage == AnswerStage::Whole);
    let session = scene.wait_idle("coder");
    assert_eq!(scene.transcripts().len(), 2);
    scene.wait_has_content("coder");
    scene.world.kill_everything();
    scene.world.resume(["--all"]).assert_back("coder", "resumed");
    let back = scene.world.session("coder");
    assert_eq!(back["vendor_session_id"], session["vendor_session_id"]);
    scene.assert_carries("coder", &[&message], "which word?");
}

test_each!(agent_that_runs_its_vendor_as_a_tool_stays_in_its_own_conversation: codex, pi);
