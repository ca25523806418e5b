//! The `segue` program: parses the arguments, runs the command, prints errors, and sets the exit
//! status.

mod args;
mod commands;
mod complete;
mod context;
mod output;
mod paged;
mod progress;
mod render;

use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::process::ExitCode;

use segue_core::rules::{askpass, editor_servers};
use segue_core::{Error, Result};
use segue_server::wiring::{self, Local};

use crate::args::{NoCommand, SegueCommand};
use crate::commands::{completions, daemon, git_askpass, man, vendors};
use crate::context::{CommandEnding, Context};
use crate::output::{Output, OutputFormat};

/// The exit status of a command that was ended with Ctrl-C.
const INTERRUPTED_STATUS: u8 = 130;

fn main() -> ExitCode {
    let mut arguments = std::env::args_os();
    let program = arguments.next();
    if program.as_deref().is_some_and(is_askpass) {
        return git_askpass::run(&arguments.collect::<Vec<_>>());
    }
    let first = arguments.next();
    // Internal subcommands. Segue and the vendors' programs start them, some of them for every
    // launch. They are dispatched before anything else is set up, so that they start fast.
    match first.as_ref().and_then(|word| word.to_str()) {
        Some("hold") => wiring::hold(arguments.collect()),
        Some("exec-agent") => wiring::exec_agent(arguments.collect()),
        Some("hook") => wiring::hook(),
        Some(editor_servers::SUBCOMMAND) => wiring::mcp_relay(arguments.collect()),
        Some("ask-person") => wiring::ask_person(),
        Some("git-askpass") => git_askpass::run(&arguments.collect::<Vec<_>>()),
        Some("login-shell") => wiring::login_shell(arguments.collect()),
        Some("shell-command") => wiring::shell_command(arguments.collect()),
        Some("print-environment") => wiring::print_environment(&arguments.collect::<Vec<_>>()),
        Some(segue_conformance::SUBCOMMAND) => vendors::rehearse(&arguments.collect::<Vec<_>>()),
        Some("demo-agent") => wiring::demo_agent(arguments.collect()),
        _ if wiring::has_variable(complete::VARIABLE) => {
            complete::run(program.into_iter().chain(first).chain(arguments))
        }
        _ => match utf8_words(program.into_iter().chain(first).chain(arguments)) {
            Ok(words) => run_user_command(&words),
            Err(error) => print_failure(&error, &mut Output::without_colours(OutputFormat::Text)),
        },
    }
}

/// Returns whether git has started this program by its own name for git.
fn is_askpass(program: &OsStr) -> bool {
    Path::new(program).file_name() == Some(OsStr::new(askpass::PROGRAM))
}

/// Returns the arguments as strings. An argument that is not UTF-8 is a usage error, because the
/// rest of the program handles only UTF-8.
fn utf8_words(arguments: impl Iterator<Item = OsString>) -> Result<Vec<String>> {
    let word = |(number, argument): (usize, OsString)| {
        argument.into_string().map_err(|argument| {
            let shown = argument.to_string_lossy().into_owned();
            Error::usage(format!("argument {number} is not UTF-8: `{shown}`"))
                .hint("give a prompt in another encoding as UTF-8, for example through `iconv`")
        })
    };
    arguments.enumerate().map(word).collect()
}

fn run_user_command(words: &[String]) -> ExitCode {
    let format = if args::wants_json(words) { OutputFormat::Json } else { OutputFormat::Text };
    let mut output = Output::without_colours(format);
    let command = match args::parse(words) {
        Ok(arguments) => arguments.command,
        Err(NoCommand::Show(help)) => return print_help(&help),
        Err(NoCommand::Failure(error)) => return print_failure(&error, &mut output),
    };
    let ending = match command {
        Some(SegueCommand::Completions(arguments)) => completions::run(&arguments, &mut output),
        Some(SegueCommand::Man(arguments)) => man::run(&arguments, &mut output),
        Some(SegueCommand::Daemon(daemon::DaemonArguments {
            action: Some(daemon::DaemonAction::Run),
        })) => wiring::run_daemon().map(|()| CommandEnding::Done),
        command => return run_with_context(command, format),
    };
    match ending {
        Ok(ending) => ExitCode::from(ending.exit_status()),
        Err(error) => print_failure(&error, &mut output),
    }
}

fn run_with_context(command: Option<SegueCommand>, format: OutputFormat) -> ExitCode {
    let mut context = match Local::here() {
        Ok(local) => Context::new(local.with_notice(Output::progress), format),
        Err(error) => return print_failure(&error, &mut Output::without_colours(format)),
    };
    match run_in_runtime(command, &mut context) {
        Ok(ending) => ExitCode::from(ending.exit_status()),
        Err(error) if context.is_interrupted() => {
            context.output.interruption(&error);
            ExitCode::from(INTERRUPTED_STATUS)
        }
        Err(error) => print_failure(&error, &mut context.output),
    }
}

fn run_in_runtime(command: Option<SegueCommand>, context: &mut Context) -> Result<CommandEnding> {
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(|error| {
            Error::unavailable("cannot start the runtime of this command").caused_by(error)
        })?;
    let ending = runtime.block_on(commands::carry_out(command, context));
    // Does not wait for threads that are still blocked: their results are not needed any more.
    runtime.shutdown_background();
    ending
}

fn print_help(help: &clap::Error) -> ExitCode {
    // If standard output is closed, its reader does not want the rest.
    let _ignored = help.print();
    ExitCode::SUCCESS
}

fn print_failure(error: &Error, output: &mut Output) -> ExitCode {
    output.failure(error);
    ExitCode::from(error.kind.exit_status())
}

#[cfg(test)]
mod tests {
    use std::os::unix::ffi::OsStringExt as _;

    use super::*;

    #[test]
    fn an_argument_that_is_not_utf8_is_a_usage_error() {
        let arguments = [OsString::from("segue"), OsString::from_vec(b"caf\xe9".to_vec())];
        let error = utf8_words(arguments.into_iter()).unwrap_err();
        assert_eq!(error.message, "argument 1 is not UTF-8: `caf\u{fffd}`");
        assert_eq!(error.kind.exit_status(), 2);
    }
}
