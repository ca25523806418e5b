//! Waits for the events that Segue reports.

use std::io::{BufRead as _, BufReader};
use std::process::{Child, ChildStdout, Stdio};
use std::time::Instant;

use serde_json::Value;

use crate::expectation::expect;
use crate::wait::readable;
use crate::world::{DEADLINE, World};

/// The events of a world from its beginning, as `segue log --follow` prints them.
#[derive(Debug)]
pub struct Events {
    follower: Child,
    lines: BufReader<ChildStdout>,
    /// The lines that were read so far, for the report of a timeout.
    read: String,
}

impl Events {
    /// Starts `segue log --follow`. Failpoints are off in that process.
    pub fn of(world: &World) -> Self {
        let mut command = world.command(["log", "--follow", "--json"]);
        command.env_remove("SEGUE_FAILPOINT").stdout(Stdio::piped()).stderr(Stdio::null());
        let mut follower = command.spawn().expect("segue starts");
        let lines = BufReader::new(follower.stdout.take().expect("an output"));
        Self { follower, lines, read: String::new() }
    }

    /// Waits for an event. `None` if the daemon ends first.
    pub fn wait_for(&mut self, is_wanted: impl Fn(&Value) -> bool) -> Option<Value> {
        loop {
            let event = self.next()?;
            if is_wanted(&event) {
                return Some(event);
            }
        }
    }

    fn next(&mut self) -> Option<Value> {
        let mut line = String::new();
        if self.lines.buffer().is_empty() {
            let ready = readable(&[self.lines.get_ref()], Instant::now() + DEADLINE);
            let expected = format!("another event within {} s", DEADLINE.as_secs());
            expect(ready, expected, || format!("only these events:\n{}", self.read));
        }
        self.lines.read_line(&mut line).expect("a line");
        self.read.push_str(&line);
        serde_json::from_str(&line).ok()
    }
}

impl Drop for Events {
    fn drop(&mut self) {
        let _gone = self.follower.kill();
        let _gone = self.follower.wait();
    }
}
