//! Closes the file descriptors that this process inherited from its caller. A daemon must not keep
//! them open.

use std::ffi::OsString;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::Command;

use rustix::fs::OFlags;

/// Returns a command for these words. It does not pass on the descriptors that this process itself
/// inherited, such as the lock in `( flock 9; segue run -d … ) 9>lock`.
pub(crate) fn without_inherited(words: &[OsString]) -> Command {
    let (shell, inherited) = closable(inherited());
    let Some((program, arguments)) = words.split_first().filter(|_| !inherited.is_empty()) else {
        let mut words = words.iter();
        let mut command = Command::new(words.next().cloned().unwrap_or_default());
        command.args(words);
        return command;
    };
    let mut script = String::from("exec \"$@\"");
    for descriptor in inherited {
        // Writing to a `String` cannot fail.
        let _written = write!(script, " {descriptor}>&-");
    }
    let mut command = Command::new(shell);
    command.arg("-c").arg(script).arg("sh").arg(program).args(arguments);
    command
}

/// Returns a shell, and the descriptors that it can close. A plain `sh` supports only descriptors of
/// one digit. If higher descriptors are open, the caller nearly always opened them with bash, so
/// bash is installed.
fn closable(mut descriptors: Vec<u32>) -> (&'static str, Vec<u32>) {
    let paths = ["/bin/bash", "/usr/bin/bash", "/usr/local/bin/bash"];
    let bash = paths.into_iter().find(|shell| Path::new(shell).exists());
    match bash.filter(|_| descriptors.iter().any(|descriptor| *descriptor > 9)) {
        Some(shell) => (shell, descriptors),
        None => {
            descriptors.retain(|descriptor| *descriptor <= 9);
            ("/bin/sh", descriptors)
        }
    }
}

/// Returns the open descriptors above 2 that a spawned program would inherit.
fn inherited() -> Vec<u32> {
    let open = fs::read_dir("/proc/self/fd").into_iter().flatten().flatten();
    let open = open.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    open.filter(|descriptor| *descriptor > 2 && is_passed_on(*descriptor)).collect()
}

fn is_passed_on(descriptor: u32) -> bool {
    let Ok(info) = fs::read_to_string(format!("/proc/self/fdinfo/{descriptor}")) else {
        return false;
    };
    let flags = info.lines().find_map(|line| line.strip_prefix("flags:"));
    let flags = flags.and_then(|flags| u32::from_str_radix(flags.trim(), 8).ok());
    flags.is_some_and(|flags| flags & OFlags::CLOEXEC.bits() == 0)
}
