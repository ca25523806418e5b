//! Lets a test act at a chosen time: when the processes of a `World` have passed a given number of
//! failpoints.

use std::fs;
use std::path::PathBuf;
use std::process::Child;

use segue_host::process::{self, ProcessHandle};
use segue_host::watch::Watcher;

use crate::runtime::block_on;
use crate::world::{DEADLINE, World};

/// Counts the failpoints that the processes of a world pass. Each of them is a line in a log file.
#[derive(Debug)]
pub struct Passing {
    log: PathBuf,
}

impl Passing {
    /// Starts to count. Includes only processes that are started from now on.
    pub fn count(world: &mut World) -> Self {
        let log = world.root().join("passing").join("points");
        fs::create_dir_all(log.parent().expect("a folder")).expect("a folder");
        world.set("SEGUE_FAILPOINT", "list");
        world.set("SEGUE_FAILPOINT_LOG", log.to_str().expect("a plain path"));
        Self { log }
    }

    /// Waits until `more` further failpoints are passed, or until all these commands have exited.
    /// Returns `true` if the failpoints came first.
    pub fn wait(&self, more: usize, commands: &[Child]) -> bool {
        let wanted = self.passed() + more;
        block_on(async {
            let mut watcher = Watcher::new().expect("a watcher");
            watcher.add(self.log.parent().expect("a folder")).expect("watched");
            let all_gone = all_gone(commands);
            tokio::pin!(all_gone);
            while self.passed() < wanted {
                let change = tokio::time::timeout(DEADLINE, watcher.next());
                tokio::select! {
                    change = change => drop(change.expect("a failpoint").expect("a change")),
                    () = &mut all_gone => return false,
                }
            }
            true
        })
    }

    fn passed(&self) -> usize {
        fs::read_to_string(&self.log).unwrap_or_default().lines().count()
    }
}

async fn all_gone(commands: &[Child]) {
    for command in commands {
        // A command without a process has already exited.
        let Some(process) = process::find(command.id()) else { continue };
        if let Some(handle) = ProcessHandle::open(&process).expect("a process") {
            handle.gone().await.expect("its end");
        }
    }
}
