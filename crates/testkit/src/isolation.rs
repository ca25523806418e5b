//! Runs a test in its own Linux namespaces. It reaches no network except its own loopback
//! interface, and it sees no processes except its own.

use std::env;
use std::fs;
use std::path::Path;
use std::thread;

use segue_conformance::isolation;

/// The environment variable with the path of the proof file. The isolated process writes to this
/// file, so that the process outside knows that the test was found and run.
const INSIDE: &str = "SEGUE_TEST_ISOLATED";

/// Runs the calling test, and no other, in its own namespaces: it reaches no network, and no
/// process that it starts outlives it.
///
/// The first call starts the test program again inside the namespaces and waits for it. There, the
/// same test calls this function again, which then calls `test`.
///
/// # Panics
///
/// If the test fails, or if this machine does not allow the namespaces.
pub fn isolated(test: impl FnOnce()) {
    match env::var_os(INSIDE) {
        Some(proof) => {
            fs::write(proof, "inside").expect("writing the proof file");
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

/// Returns the name of the running test. It is the name of the test's thread. If the test runs on
/// the main thread, it is the name on the command line, which must have `--exact`.
fn name() -> String {
    let thread = thread::current();
    let named = thread.name().filter(|name| *name != "main").map(str::to_owned);
    let asked = || {
        let exact = env::args().any(|word| word == "--exact");
        env::args().skip(1).find(|word| exact && !word.starts_with('-'))
    };
    named.or_else(asked).expect("a test that knows its name: run it in a thread of its own")
}
