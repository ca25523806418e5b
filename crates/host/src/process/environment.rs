//! Reads the environment of a process.

use std::fs;

use super::read_bounded;
use super::stat::{ProcessState, Stat};

/// The maximum size of an environment. The kernel allows less.
const MAX_ENVIRONMENT_BYTES: usize = 8 << 20;

/// Returns the value that an environment variable had when the process was started. `None` if it is
/// unset or cannot be read, as with processes of other users.
pub fn variable(pid: u32, name: &str) -> Option<String> {
    value_in(&environment(pid)?, name)
}

/// Returns the environment that a process was started with, as the kernel keeps it.
pub(crate) fn environment(pid: u32) -> Option<Vec<u8>> {
    let environment = read_bounded(pid, "environ", MAX_ENVIRONMENT_BYTES)?;
    if environment.is_empty() && is_leaderless(pid) {
        return of_other_threads(pid);
    }
    Some(environment)
}

fn is_leaderless(pid: u32) -> bool {
    Stat::read(pid).is_some_and(|stat| stat.activity == ProcessState::Leaderless)
}

/// Returns the environment of a process whose first thread has exited. The kernel still reports it
/// for the other threads.
fn of_other_threads(pid: u32) -> Option<Vec<u8>> {
    let threads = fs::read_dir(format!("/proc/{pid}/task")).ok()?.flatten();
    let mut environments = threads.filter_map(|thread| {
        let thread = thread.file_name().into_string().ok()?;
        read_bounded(pid, &format!("task/{thread}/environ"), MAX_ENVIRONMENT_BYTES)
    });
    environments.find(|environment| !environment.is_empty())
}

/// Finds an environment variable in the result of [`environment`].
pub(crate) fn value_in(environment: &[u8], name: &str) -> Option<String> {
    let value = environment
        .split(|byte| *byte == 0)
        .find_map(|entry| entry.strip_prefix(name.as_bytes())?.strip_prefix(b"="))?;
    String::from_utf8(value.to_vec()).ok()
}

/// The result of reading the environment of a process.
pub(crate) enum EnvironmentNow {
    Known(Vec<u8>),
    /// The process is inside `execve`, and its environment cannot be read yet.
    InsideExecve,
    /// The process has no environment, has exited, or belongs to another user.
    None,
}

/// Reads a process's environment. Distinguishes an environment that cannot be read yet from an empty
/// environment.
pub(crate) fn environment_now(pid: u32) -> EnvironmentNow {
    // `execve` may end between the two reads below. Then read again.
    for _ in 0..5 {
        match environment(pid) {
            None => return EnvironmentNow::None,
            Some(environment) if environment.is_empty() => {}
            Some(environment) => return EnvironmentNow::Known(environment),
        }
        match Stat::read(pid) {
            Some(stat)
                if stat.is_kernel_thread
                    || !stat.is_alive()
                    || stat.activity == ProcessState::Leaderless =>
            {
                return EnvironmentNow::None;
            }
            Some(stat) if stat.activity == ProcessState::Busy || has_empty_command(pid) => {
                return EnvironmentNow::InsideExecve;
            }
            Some(_) => {}
            None => return EnvironmentNow::None,
        }
    }
    EnvironmentNow::None
}

fn has_empty_command(pid: u32) -> bool {
    read_bounded(pid, "cmdline", 1).is_some_and(|line| line.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kernel_thread_and_missing_process_have_no_environment() {
        // A kernel thread, and an id that no process has.
        assert!(matches!(environment_now(2), EnvironmentNow::None));
        assert!(matches!(environment_now(u32::MAX), EnvironmentNow::None));
    }
}
