//! Separate namespaces for a trial. A trial reaches only its own loopback, and sees only its own
//! processes.

use std::process::Command;

/// The shell script of the first process in the PID namespace. It brings the loopback up, runs the
/// command and waits for its end. As the first process it reaps every orphan. When it ends, the
/// kernel kills all processes that the command has left running.
const FIRST_PROCESS: &str = "ip link set lo up || exit 125; \"$@\"; exit $?";

/// Returns a command that runs the arguments that the caller adds to it, in separate namespaces. It
/// is killed when the calling thread ends.
pub fn command() -> Command {
    let mut command = Command::new("setpriv");
    command.args(["--pdeathsig", "KILL", "unshare", "--map-root-user", "--net", "--pid"]);
    command.args(["--mount-proc", "--fork", "--kill-child", "sh", "-c", FIRST_PROCESS, "sh"]);
    command
}

/// Checks that this machine supports the namespaces.
///
/// # Errors
///
/// Returns what is missing, for a person.
pub fn check() -> Result<(), String> {
    let tried = command().arg("true").output();
    let why = match tried {
        Ok(output) if output.status.success() => return Ok(()),
        Ok(output) => String::from_utf8_lossy(&output.stderr).trim().to_owned(),
        Err(error) => format!("`setpriv` and `unshare` of util-linux: {error}"),
    };
    Err(format!(
        "this machine cannot create the namespaces that a trial needs: {why}\n\
         `unshare --map-root-user --net --pid --mount-proc --fork true` must succeed, and `ip` \
         must be installed"
    ))
}
