//! A test in namespaces of its own: no network but its own loopback, no processes but its own.

use std::env;
use std::fs;
use std::path::Path;
use std::thread;

use segue_conformance::isolation;

/// Names the file that tells the process outside that the test has run inside.
const INSIDE: &str = "SEGUE_TEST_ISOLATED";

/// Runs the test that calls it, and nothing else, where it reaches no network and where nothing
/// that it starts outlives it. The test's own process waits outside.
///
/// # Panics
///
/// When the test fails inside, or when this machine has no namespaces for it.
pub fn isolated(test: impl FnOnce()) {
    match env::var_os(INSIDE) {
        Some(proof) => {
            fs::write(proof, "inside").expect("the proof that it runs");
            test();
        }
        None => run_inside(&name()),
    }
}

fn run_inside(name: &str) {
    isolation::check().unwrap_or_else(|why| panic!("{why}"));
    let proof = tempfile::NamedTempFile::new().expect("a file");
    let mut command = isolation::command();
    command.arg(env::current_exe().expect("this program"));
    command.args(["--exact", name, "--nocapture", "--include-ignored"]);
    let status = command.env(INSIDE, proof.path()).status().expect("the test starts");
    assert!(has_run(proof.path()), "there is no test `{name}` to run in isolation: {status}");
    assert!(status.success(), "`{name}` failed in isolation: {status}");
}

fn has_run(proof: &Path) -> bool {
    fs::metadata(proof).is_ok_and(|file| file.len() > 0)
}

/// Returns the name of the test that runs: its thread has it, and where there is but one thread
/// the command line.
fn name() -> String {
    let thread = thread::current();
    let named = thread.name().filter(|name| *name != "main").map(str::to_owned);
    let asked = || {
        let exact = env::args().any(|word| word == "--exact");
        env::args().skip(1).find(|word| exact && !word.starts_with('-'))
    };
    named.or_else(asked).expect("a test that knows its name: run it in a thread of its own")
}
