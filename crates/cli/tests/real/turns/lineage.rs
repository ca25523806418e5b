//! Codex's own conversations have another format than those that Segue starts for it. A fork of a
//! conversation has only the turns after the fork.

use std::fs;

use segue_core::model::Turn;
use segue_testkit::isolated;

use super::{TurnScene, assert_same, foreign};
use crate::codex::run_without_segue;

#[test]
fn codex_conversation_started_without_segue_can_be_read_extended_and_forked() {
    isolated(|| {
        let scene = TurnScene::new("codex", &["--vendor", "codex", "--permission", "auto"], true);
        let id = run_without_segue(&scene.world, &["exec"], &["heron ü [[tool: echo heron]]"]);
        let first = scene.transcript(&id);
        assert!(fs::read_to_string(&first).unwrap().contains("\"ordinal\":"), "wrong format");
        let turns = scene.read(&first);
        assert_eq!(turns.len(), 4, "{turns:#?}");
        scene.write(&id, &foreign(), Some(&first));
        let all: Vec<Turn> = turns.into_iter().chain(foreign()).collect();
        assert_same(&scene.read(&first), &all);

        let fork = run_without_segue(&scene.world, &["exec", "fork"], &[&id, "in the fork"]);
        run_without_segue(&scene.world, &["exec", "resume"], &[&id, "not in the fork"]);
        let path = scene.transcript(&fork);
        let forked = scene.read(&path);
        assert_same(&forked[..all.len()], &all);
        assert_eq!(forked.len(), all.len() + 2, "{forked:#?}");
        assert_eq!(forked[all.len()].text, "in the fork");
        let own = scene.vendor.transcript_files().unwrap();
        assert_eq!(own.ancestors(&segue_host::LocalFiles, &path), [first]);

        scene.world.ok(["adopt", &format!("codex:{fork}"), "--name", "coder"]);
        scene.world.resume(["coder"]).assert_back("coder", "resumed");
        scene.assert_shows("coder", "That did not work.");
        scene.assert_carries("coder", &forked, "what did not work?");
    });
}
