//! Codex's own conversations have another format than those that Segue starts for it. A fork of a
//! conversation has only the turns after the fork.

use std::fs;

use segue_core::model::Turn;
use segue_testkit::vendors::command;
use segue_testkit::{CommandOutcome, isolated};
use serde_json::Value;

use super::{TurnScene, assert_same, foreign};

#[test]
fn codex_conversation_started_without_segue_can_be_read_extended_and_forked() {
    isolated(|| {
        let scenery = TurnScene::new("codex", &["--vendor", "codex", "--permission", "auto"], true);
        let id = by_hand(&scenery, &["exec"], &["heron ü [[tool: echo heron]]"]);
        let first = scenery.transcript(&id);
        assert!(fs::read_to_string(&first).unwrap().contains("\"ordinal\":"), "wrong format");
        let said = scenery.read(&first);
        assert_eq!(said.len(), 4, "{said:#?}");
        scenery.write(&id, &foreign(), Some(&first));
        let all: Vec<Turn> = said.into_iter().chain(foreign()).collect();
        assert_same(&scenery.read(&first), &all);

        let fork = by_hand(&scenery, &["exec", "fork"], &[&id, "in the fork"]);
        by_hand(&scenery, &["exec", "resume"], &[&id, "not in the fork"]);
        let path = scenery.transcript(&fork);
        let forked = scenery.read(&path);
        assert_same(&forked[..all.len()], &all);
        assert_eq!(forked.len(), all.len() + 2, "{forked:#?}");
        assert_eq!(forked[all.len()].text, "in the fork");
        let own = scenery.vendor.transcript_files().unwrap();
        assert_eq!(own.ancestors(&segue_host::LocalFiles, &path), [first]);

        scenery.world.ok(["adopt", &format!("codex:{fork}"), "--name", "coder"]);
        scenery.world.resume(["coder"]).assert_back("coder", "resumed");
        scenery.assert_draws("coder", "That did not work.");
        scenery.assert_carries("coder", &forked, "what did not work?");
    });
}

/// Runs Codex without Segue; returns the id of its conversation.
fn by_hand(scenery: &TurnScene, verb: &[&str], words: &[&str]) -> String {
    let flags = ["--json", "--skip-git-repo-check"];
    let all = verb.iter().chain(&flags).chain(words);
    let ran = CommandOutcome::of(&mut command(&scenery.world, "codex", all));
    assert_eq!(ran.status, 0, "{ran:#?}");
    let started: Value = serde_json::from_str(ran.stdout.lines().next().unwrap()).unwrap();
    started["thread_id"].as_str().unwrap().to_owned()
}
