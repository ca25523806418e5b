//! Headless turns that end while others start.

use std::process::{Child, Stdio};

use segue_testkit::isolated;

use crate::world;

/// The number of concurrent turns. With this many, turns often start while others end.
const CONCURRENT_TURNS: usize = 12;
const ROUNDS: usize = 6;

/// Without cgroups the daemon kills the processes that it adopts from a holder that has ended. It
/// must not kill a holder that it starts at the same time, which is its own child.
#[test]
fn headless_turn_that_starts_while_another_ends_is_not_killed() {
    isolated(|| {
        let world = world();
        for round in 0..ROUNDS {
            let turns: Vec<Child> = (0..CONCURRENT_TURNS)
                .map(|turn| {
                    let name = format!("turn-{round}-{turn}");
                    let mut run = world.command(["run", "--headless", "--name", &name, "hello"]);
                    run.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap()
                })
                .collect();
            for turn in turns {
                let output = turn.wait_with_output().unwrap();
                let error = String::from_utf8_lossy(&output.stderr);
                assert!(output.status.success(), "round {round}: {error}");
            }
        }
    });
}
