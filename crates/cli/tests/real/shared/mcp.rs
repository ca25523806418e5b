//! Agents that use Segue's tools: the vendor's real program starts the MCP server of its launch, and
//! the scripted model calls the tools.

use std::process::Command;

use segue_testkit::Model;
use segue_testkit::model::{Exchange, SpeakerRole};
use segue_testkit::vendor_scene::PinnedVendor;

use crate::scene;

/// Waits for a request with this many results of tools in the conversation with this message. Returns
/// the results.
pub(super) fn tool_results(model: &Model, message: &str, count: usize) -> Vec<String> {
    let results = |exchange: &Exchange| -> Vec<String> {
        let results = exchange.turns.iter().filter(|it| it.role == SpeakerRole::ToolResult);
        results.map(|it| it.text.clone()).collect()
    };
    let is_wanted =
        |it: &Exchange| !it.is_background && it.mentions(message) && results(it).len() == count;
    results(&model.wait_for(is_wanted))
}

/// Replaces the folder for temporary files with one that only its owner may write to. Gemini ignores
/// settings below a folder that others may write to. The test runs in a mount namespace of its own.
pub(super) fn private_temporary_folder() {
    let mut mount = Command::new("mount");
    mount.args(["-t", "tmpfs", "-o", "mode=0755", "tmpfs"]).arg(std::env::temp_dir());
    assert!(mount.status().unwrap().success());
}

/// A conversation with the rights of its session: it starts a child, waits for it and reads its
/// answer. Another session is out of its reach.
fn agent_starts_another_one_with_the_tools_and_reaches_no_other_session<V: PinnedVendor>() {
    private_temporary_folder();
    let mut scene = scene::<V>();
    // The scripted model cannot search for tools that Claude Code offers only after a search.
    scene.world.set("ENABLE_TOOL_SEARCH", "false");
    scene.world.ok([
        "run",
        "-d",
        "--vendor",
        "demo",
        "--name",
        "stranger",
        "remember the word SECRET",
    ]);
    let message = "delegate \
        [[mcp: agent_start {\"vendor\": \"demo\", \"name\": \"helper\", \
        \"prompt\": \"remember the word OWL\"}]] \
        [[mcp: agent_wait {\"session\": \"helper\"}]] \
        [[mcp: agent_read {\"session\": \"stranger\"}]] [[say: DELEGATED]]";
    let mut arguments = vec!["run", "-d"];
    arguments.extend(V::RUN);
    // An interactive Claude Code begins its first turn before its MCP servers are connected.
    arguments.extend(["--mcp", "--name", "boss", "begin"]);
    let run = scene.world.command(&arguments).output().unwrap();
    assert!(run.status.success(), "{run:?}");
    scene.model.wait_answered("begin");
    scene.wait_idle("boss");
    scene.world.ok(["send", "boss", "--no-wait", message]);
    let results = tool_results(&scene.model, "delegate", 3);
    let [started, waited, refused] = results.as_slice() else { panic!("{results:?}") };
    assert!(started.contains("/helper"), "{started}");
    assert!(waited.contains("I will remember OWL"), "{waited}");
    assert!(refused.contains("neither its own nor its child"), "{refused}");
    assert!(!refused.contains("SECRET"), "{refused}");
    let (boss, helper) = (scene.world.session("boss"), scene.world.session("helper"));
    assert_eq!(helper["fleet"], boss["fleet"]);
}

test_each!(
    agent_starts_another_one_with_the_tools_and_reaches_no_other_session:
    claude, codex, copilot, gemini, opencode
);
