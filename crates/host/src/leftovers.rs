//! Ends processes that dead launches left running. Such a process is recognized by its cgroup or by
//! the launch mark in its environment.

mod survey;

use std::collections::HashSet;
use std::time::Duration;

use rustix::process::Signal;
use segue_core::model::LaunchId;
use segue_core::ports::EndedProcess;
use segue_core::{Error, Result, failpoint};
use tokio::time::Instant;

use self::survey::survey;
use crate::cgroup;
use crate::process::{self, ProcessHandle};

/// The environment variable that marks every process of a launch.
pub const LAUNCH_MARK: &str = "SEGUE_LAUNCH";

/// How long a process has to exit after SIGTERM.
const EXIT_GRACE: Duration = Duration::from_millis(500);
/// How long the kernel may take to end a killed process.
const KILL_TIMEOUT: Duration = Duration::from_secs(10);
/// The maximum number of passes. Passes after the first do not wait, so no process can escape that
/// many passes by forking.
const MAX_PASSES: usize = 100;
/// The processes are surveyed at most this many times while one of them is inside `execve`. `execve`
/// takes less time than that.
const MAX_SURVEYS: usize = 200;

/// Returns the launch of a process: the launch whose cgroup contains it, or the launch that its
/// environment names.
pub(crate) fn mark(pid: u32) -> Option<LaunchId> {
    member_of(pid).or_else(|| mark_in(&process::environment(pid)?))
}

/// Returns the launch whose cgroup contains a living process.
fn member_of(pid: u32) -> Option<LaunchId> {
    // A zombie stays in its cgroup until its parent collects its exit status.
    cgroup::launch_of(pid).filter(|_| process::find(pid).is_some())
}

/// Returns every process that belongs to a launch, with the launch.
pub(crate) fn marked() -> Vec<(u32, LaunchId)> {
    process::all().into_iter().filter_map(|pid| Some((pid, mark(pid)?))).collect()
}

fn mark_in(environment: &[u8]) -> Option<LaunchId> {
    process::value_in(environment, LAUNCH_MARK)?.parse().ok()
}

/// Ends every process of these dead launches. Returns when a survey finds no more of them.
pub(crate) async fn end_marked(dead: &[LaunchId]) -> Result<Vec<EndedProcess>> {
    let marks: HashSet<LaunchId> = dead.iter().copied().collect();
    let mut ended = Vec::new();
    if marks.is_empty() {
        return Ok(ended);
    }
    for _ in 0..MAX_PASSES {
        let leftovers = find(&marks).await?;
        if leftovers.is_empty() {
            cgroup::remove_all(dead.iter().copied());
            return Ok(ended);
        }
        // Only the first pass sends SIGTERM. Processes that are found later were started by
        // processes that had received it.
        let grace = if ended.is_empty() { Some(EXIT_GRACE) } else { None };
        end(&leftovers, &marks, grace).await?;
        ended.extend(leftovers.into_iter().map(|leftover| leftover.ended));
    }
    Err(Error::unavailable("the processes of a dead launch fork faster than they can be killed"))
}

async fn end(
    leftovers: &[Leftover],
    marks: &HashSet<LaunchId>,
    grace: Option<Duration>,
) -> Result<()> {
    failpoint::hit("leftovers.end.before");
    if let Some(grace) = grace {
        signal(leftovers, Signal::TERM)?;
        wait(leftovers, grace).await?;
    }
    // Kill all processes of a cgroup at once. No process can leave its cgroup by forking.
    cgroup::kill_all(marks.iter().copied());
    signal(leftovers, Signal::KILL)?;
    if !wait(leftovers, KILL_TIMEOUT).await? {
        return Err(does_not_end(leftovers));
    }
    failpoint::hit("leftovers.end.after");
    Ok(())
}

/// A process of a dead launch. The handle makes sure that no other process gets its signals.
struct Leftover {
    ended: EndedProcess,
    handle: ProcessHandle,
}

/// Surveys all processes. Repeats the survey while a process is inside `execve`.
async fn find(marks: &HashSet<LaunchId>) -> Result<Vec<Leftover>> {
    for _ in 0..MAX_SURVEYS {
        let survey = survey().await?;
        let found = survey.marked.iter().filter(|(_, mark)| marks.contains(mark));
        let opened: Vec<Option<Leftover>> = found.map(|(pid, _)| open(*pid, marks)).collect();
        // A process without a handle has exited or has called `execve` in the meantime.
        let is_incomplete = survey.is_incomplete || opened.iter().any(Option::is_none);
        let leftovers: Vec<Leftover> = opened.into_iter().flatten().collect();
        if !leftovers.is_empty() || !is_incomplete {
            return Ok(leftovers);
        }
    }
    Ok(Vec::new())
}

/// Opens a handle of a process if it belongs to one of these launches.
fn open(pid: u32, marks: &HashSet<LaunchId>) -> Option<Leftover> {
    // The mark is read between two lookups that find the same process. So it is the mark of that
    // process.
    let process = process::find(pid)?;
    mark(pid).is_some_and(|mark| marks.contains(&mark)).then_some(())?;
    let command = process::command_line(pid).unwrap_or_default();
    let handle = ProcessHandle::open(&process).ok()??;
    Some(Leftover { ended: EndedProcess { pid, command }, handle })
}

fn signal(leftovers: &[Leftover], signal: Signal) -> Result<()> {
    leftovers.iter().try_for_each(|leftover| {
        let sent = leftover.handle.signal(signal);
        sent.map(drop).map_err(|error| cannot_end(&leftover.ended).caused_by(error))
    })
}

/// Waits for all of these processes together. Returns whether all have exited.
async fn wait(leftovers: &[Leftover], limit: Duration) -> Result<bool> {
    let deadline = Instant::now() + limit;
    for leftover in leftovers {
        let remaining = deadline.saturating_duration_since(Instant::now());
        let gone = leftover.handle.gone_within(remaining).await;
        if !gone.map_err(|error| cannot_end(&leftover.ended).caused_by(error))? {
            return Ok(false);
        }
    }
    Ok(true)
}

fn cannot_end(process: &EndedProcess) -> Error {
    Error::unavailable(format!(
        "cannot end process {} (`{}`), which a dead launch left behind",
        process.pid, process.command
    ))
}

fn does_not_end(leftovers: &[Leftover]) -> Error {
    let pids: Vec<String> = leftovers.iter().map(|it| it.ended.pid.to_string()).collect();
    let command = format!("ps -o pid,stat,wchan,args -p {}", pids.join(","));
    Error::unavailable("processes that a dead launch left behind do not end after SIGKILL")
        .hint(format!("run `{command}` to see what they wait for"))
}

#[cfg(test)]
mod tests {
    use std::io::{BufRead as _, BufReader};
    use std::process::{Child, Command, Stdio};

    use uuid::Uuid;

    use super::*;

    /// A marked shell. It is killed on drop, even if its test fails.
    struct Marked {
        child: Child,
        launch: LaunchId,
    }

    impl Marked {
        /// Starts a shell and waits for the line `up`, which the script prints when it is ready.
        fn shell(script: &str) -> Self {
            let launch = LaunchId::new(Uuid::new_v4());
            let mut command = Command::new("sh");
            command.args(["-c", script]).env(LAUNCH_MARK, launch.to_string());
            let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
            let mut line = String::new();
            let mut output = BufReader::new(child.stdout.take().unwrap());
            output.read_line(&mut line).unwrap();
            assert_eq!(line, "up\n");
            Self { child, launch }
        }
    }

    impl Drop for Marked {
        fn drop(&mut self) {
            for pid in pids_of(self.launch) {
                let process = process::find(pid).map(|process| ProcessHandle::open(&process));
                if let Some(Ok(Some(handle))) = process {
                    handle.signal(Signal::KILL).unwrap();
                }
            }
            self.child.wait().unwrap();
        }
    }

    fn pids_of(launch: LaunchId) -> Vec<u32> {
        marked().into_iter().filter(|(_, mark)| *mark == launch).map(|(pid, _)| pid).collect()
    }

    #[tokio::test]
    async fn end_marked_ends_all_marked_processes_also_in_other_sessions() {
        let dead = Marked::shell("setsid sh -c 'echo up; exec sleep 600' & wait");
        let alive = Marked::shell("echo up; sleep 600");
        let ended = end_marked(&[dead.launch]).await.unwrap();
        assert_eq!(ended.len(), 2, "{ended:?}");
        assert!(ended.iter().all(|process| process.command.contains("sleep 600")), "{ended:?}");
        assert_eq!(pids_of(dead.launch), Vec::<u32>::new());
        assert!(!pids_of(alive.launch).is_empty());
        assert_eq!(end_marked(&[dead.launch]).await.unwrap(), []);
    }

    #[tokio::test]
    async fn zombie_in_the_cgroup_of_a_dead_launch_is_no_leftover() {
        let launch = LaunchId::new(Uuid::new_v4());
        // The launch of a zombie is visible only with cgroups.
        let Ok(group) = cgroup::AgentGroup::make(launch) else { return };
        let mut command = Command::new("sh");
        command.args(["-c", "echo 0 > \"$0\"; cat"]).arg(group.entrance());
        let mut child = command.stdin(Stdio::piped()).spawn().unwrap();
        while mark(child.id()) != Some(launch) {
            std::thread::yield_now();
        }
        drop(child.stdin.take());
        while process::find(child.id()).is_some() {
            std::thread::yield_now();
        }
        assert_eq!(cgroup::launch_of(child.id()), Some(launch), "the zombie has left its cgroup");
        assert_eq!((mark(child.id()), pids_of(launch)), (None, Vec::new()));
        assert_eq!(end_marked(&[launch]).await.unwrap(), []);
        child.wait().unwrap();
        group.remove();
    }

    #[tokio::test]
    async fn process_that_ignores_sigterm_is_killed() {
        let stubborn = Marked::shell("trap '' TERM; echo up; sleep 600 & wait; sleep 600");
        let ended = end_marked(&[stubborn.launch]).await.unwrap();
        assert!(!ended.is_empty());
        assert_eq!(pids_of(stubborn.launch), Vec::<u32>::new());
    }

    #[tokio::test]
    async fn process_started_while_its_launch_is_ended_is_ended_too() {
        let heir = Marked::shell(
            "trap 'setsid sleep 600 & exit' TERM; echo up; while :; do sleep 1; done",
        );
        end_marked(&[heir.launch]).await.unwrap();
        assert_eq!(pids_of(heir.launch), Vec::<u32>::new());
    }

    #[tokio::test]
    async fn end_marked_without_launches_ends_nothing() {
        assert_eq!(end_marked(&[]).await.unwrap(), []);
    }
}
