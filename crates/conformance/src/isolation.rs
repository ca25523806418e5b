//! Namespaces of its own for whatever is tried: no network but its own loopback, no processes but its
//! own.

use std::process::Command;

/// Brings loopback up and stays until its command has ended, taking the status of every process that
/// has lost its parent. With it all that the command has left running ends.
const FIRST_PROCESS: &str = "ip link set lo up || exit 125; \"$@\"; exit $?";

/// Returns a command that runs its further words inside, and is killed when this thread ends.
pub fn command() -> Command {
    let mut command = Command::new("setpriv");
    command.args(["--pdeathsig", "KILL", "unshare", "--map-root-user", "--net", "--pid"]);
    command.args(["--mount-proc", "--fork", "--kill-child", "sh", "-c", FIRST_PROCESS, "sh"]);
    command
}

/// Says why there can be no such namespaces on this machine, if there cannot.
///
/// # Errors
///
/// Says what was missing.
pub fn check() -> Result<(), String> {
    let tried = command().arg("true").output();
    let why = match tried {
        Ok(output) if output.status.success() => return Ok(()),
        Ok(output) => String::from_utf8_lossy(&output.stderr).trim().to_owned(),
        Err(error) => format!("`setpriv` and `unshare` of util-linux: {error}"),
    };
    Err(format!(
        "this machine has no namespaces to try anything in: {why}\n\
         `unshare --map-root-user --net --pid --mount-proc --fork true` must succeed, and `ip` be \
         there"
    ))
}
