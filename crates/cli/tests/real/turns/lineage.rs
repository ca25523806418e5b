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
        let scene = TurnScene::new("codex", &["--vendor", "codex", "--permission", "auto"], true);
        let id = by_hand(&scene, &["exec"], &["heron ü [[tool: echo heron]]"]);
        let first = scene.transcript(&id);
        assert!(fs::read_to_string(&first).unwrap().contains("\"ordinal\":"), "wrong format");
        let said = scene.read(&first);
        assert_eq!(said.len(), 4, "{said:#?}");
        scene.write(&id, &foreign(), Some(&first));
        let all: Vec<Turn> = said.into_iter().chain(foreign()).collect();
        assert_same(&scene.read(&first), &all);

        let fork = by_hand(&scene, &["exec", "fork"], &[&id, "in the fork"]);
        by_hand(&scene, &["exec", "resume"], &[&id, "not in the fork"]);
        let path = scene.transcript(&fork);
        let forked = scene.read(&path);
        assert_same(&forked[..all.len()], &all);
        assert_eq!(forked.len(), all.len() + 2, "{forked:#?}");
        assert_eq!(forked[all.len()].text, "in the fork");
        let own = scene.vendor.transcript_files().unwrap();
        assert_eq!(own.ancestors(&segue_host::LocalFiles, &path), [first]);

        scene.world.ok(["adopt", &format!("codex:{fork}"), "--name", "coder"]);
        scene.world.resume(["coder"]).assert_back("coder", "resumed");
        scene.assert_draws("coder", "That did not work.");
        scene.assert_carries("coder", &forked, "what did not work?");
    });
}

/// Runs Codex without Segue; returns the id of its conversation.
fn by_hand(scene: &TurnScene, verb: &[&str], words: &[&str]) -> String {
    let flags = ["--json", "--skip-git-repo-check"];
    let all = verb.iter().chain(&flags).chain(words);
    let ran = CommandOutcome::of(&mut command(&scene.world, "codex", all));
    assert_eq!(ran.status, 0, "{ran:#?}");
    let started: Value = serde_json::from_str(ran.stdout.lines().next().unwrap()).unwrap();
    started["thread_id"].as_str().unwrap().to_owned()
}
