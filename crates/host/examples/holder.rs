//! A small program with the hidden `hold`, `exec-agent`, `attach` and `ask-person` commands of the
//! command line, for tests and measurements.

use std::ffi::OsString;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use segue_core::model::LaunchId;
use segue_core::ports::{TerminalAccess, Terminals as _};
use segue_host::hold::{self, AttachEnd, LocalTerminals, UserTerminal};

fn main() -> ExitCode {
    let mut arguments = std::env::args_os().skip(1);
    let command = arguments.next().and_then(|word| word.into_string().ok()).unwrap_or_default();
    match command.as_str() {
        "hold" => hold::run_holder(arguments),
        "exec-agent" => fail(&hold::exec_agent(arguments)),
        "attach" => attach(arguments.next()),
        "ask-person" => ask_person(arguments.next()),
        "view" => view(arguments.next()),
        _ => fail(&"usage: holder hold|exec-agent|attach|ask-person|view"),
    }
}

fn attach(socket: Option<OsString>) -> ExitCode {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let socket = socket.map(PathBuf::from).unwrap_or_default();
    let Some((launches, launch)) = launch_of(&socket) else {
        return fail(&"usage: holder attach LAUNCH-FOLDER/holder.sock");
    };
    let ended = match (runtime, UserTerminal::of_this_process()) {
        (Ok(runtime), Ok(terminal)) => {
            let terminals = LocalTerminals::new(launches);
            runtime.block_on(hold::attach(&terminals, launch, terminal))
        }
        (Err(error), _) => return fail(&error),
        (_, Err(error)) => return fail(&error),
    };
    match ended {
        Ok(AttachEnd::Detached) => print("[detached]"),
        Ok(AttachEnd::AgentEnded(end)) => print(&format!("[ended: {}]", end.exit)),
        Ok(AttachEnd::HolderGone) => print("[holder gone]"),
        Err(error) => fail(&error),
    }
}

/// Asks a person. The request is on standard input.
fn ask_person(socket: Option<OsString>) -> ExitCode {
    let socket = socket.map(PathBuf::from).unwrap_or_default();
    let folder = socket.parent().unwrap_or(&socket);
    match hold::ask_person(folder, std::io::stdin().lock()) {
        Ok(reply) => print(&reply),
        Err(error) => fail(&error),
    }
}

/// Tries to watch a terminal.
fn view(socket: Option<OsString>) -> ExitCode {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let launch = launch_of(&socket.map(PathBuf::from).unwrap_or_default());
    let (Ok(runtime), Some((launches, launch))) = (runtime, launch) else {
        return fail(&"usage: holder view LAUNCH-FOLDER/holder.sock");
    };
    let terminals = LocalTerminals::new(launches);
    match runtime.block_on(terminals.open(launch, TerminalAccess::View)) {
        Ok(_) => print("[watching]"),
        Err(error) => fail(&error),
    }
}

/// Returns the folder of all launches, and the launch to which a socket belongs.
fn launch_of(socket: &Path) -> Option<(PathBuf, LaunchId)> {
    let folder = socket.parent()?;
    Some((folder.parent()?.to_owned(), folder.file_name()?.to_str()?.parse().ok()?))
}

fn print(line: &str) -> ExitCode {
    match writeln!(std::io::stdout(), "{line}") {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::FAILURE,
    }
}

fn fail(error: &dyn std::fmt::Display) -> ExitCode {
    // If standard error cannot be written, the error cannot be reported.
    let _written = writeln!(std::io::stderr(), "error: {error}");
    ExitCode::FAILURE
}
