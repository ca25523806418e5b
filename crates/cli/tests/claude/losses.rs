//! Transcripts that are deleted.

use std::fs;

use segue_testkit::{isolated, launches};

use crate::{Stage, is_answer, records};

#[test]
fn a_transcript_deleted_while_nothing_runs_is_restored() {
    isolated(|| {
        let stage = Stage::new();
        let session = stage.told("coder", "remember ALPHA");
        stage.world.kill_everything();
        fs::remove_file(stage.transcript(&session)).unwrap();
        stage.world.resume(["coder"]).assert_back("coder", "restored");
        stage.wait_idle("coder");
        stage.assert_carries("coder", &["remember ALPHA"], "what was it?");
    });
}

#[test]
fn a_transcript_deleted_while_its_agent_runs_is_restored_with_what_was_said_after() {
    isolated(|| {
        let stage = Stage::new();
        let session = stage.told("coder", "remember ALPHA");
        let path = stage.transcript(&session);
        let guard = launches::guard(&launches::of(&stage.world, &session)[0].0, &path);
        assert!(records(&guard).iter().any(is_answer), "no guard");
        fs::remove_file(&path).unwrap();
        // It writes on under the old name, in a file that lacks the beginning.
        stage.ask("coder", "remember OMEGA");
        stage.wait_answers("coder", 1);
        stage.world.kill_everything();
        stage.world.resume(["coder"]).assert_back("coder", "restored");
        stage.wait_idle("coder");
        stage.assert_carries("coder", &["remember ALPHA", "remember OMEGA"], "what was it?");
    });
}

#[test]
fn a_transcript_that_nobody_has_is_a_loss_that_is_told() {
    isolated(|| {
        let stage = Stage::new();
        let session = stage.told("coder", "remember ALPHA");
        stage.world.kill_everything();
        fs::remove_file(stage.transcript(&session)).unwrap();
        launches::remove_copies(&stage.world, &session);
        stage.world.resume(["coder"]).assert_not_back("coder", "refused");
        assert_eq!(stage.model.conversations().len(), 1, "nothing was begun");
    });
}
