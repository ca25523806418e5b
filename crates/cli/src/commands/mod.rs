//! The commands, one file each. A file defines the flags, sends the request and prints the answer.

pub(crate) mod adopt;
pub(crate) mod answer;
pub(crate) mod attach;
pub(crate) mod completions;
pub(crate) mod daemon;
pub(crate) mod doctor;
pub(crate) mod duration;
mod failure;
pub(crate) mod glance;
pub(crate) mod handoff;
pub(crate) mod init;
pub(crate) mod log;
pub(crate) mod ls;
pub(crate) mod man;
pub(crate) mod messages;
pub(crate) mod outcomes;
pub(crate) mod prompt;
pub(crate) mod resume;
pub(crate) mod rm;
pub(crate) mod run;
pub(crate) mod scale;
pub(crate) mod send;
pub(crate) mod show;
pub(crate) mod stop;
mod targets;
pub(crate) mod trust;
pub(crate) mod up;
pub(crate) mod vendors;
pub(crate) mod wait;

use segue_core::Result;

use crate::args::Command;
use crate::context::{Context, Ending};

/// Runs a command. `None` means `segue` without a command.
#[expect(clippy::cognitive_complexity, reason = "one line per command")]
pub(crate) async fn carry_out(command: Option<Command>, context: &mut Context) -> Result<Ending> {
    match command {
        None => glance::run(context).await,
        Some(Command::Init(_)) => init::run(context),
        Some(Command::Up(arguments)) => up::run(arguments, context).await,
        Some(Command::Resume(arguments)) => resume::run(arguments, context).await,
        Some(Command::Scale(arguments)) => scale::run(arguments, context).await,
        Some(Command::Run(arguments)) => run::run(arguments, context).await,
        Some(Command::Ls(arguments)) => ls::run(arguments, context).await,
        Some(Command::Attach(arguments)) => attach::run(&arguments, context).await,
        Some(Command::Adopt(arguments)) => adopt::run(arguments, context).await,
        Some(Command::Handoff(arguments)) => handoff::run(arguments, context).await,
        Some(Command::Send(arguments)) => send::run(arguments, context).await,
        Some(Command::Messages(arguments)) => messages::run(arguments, context).await,
        Some(Command::Answer(arguments)) => answer::run(arguments, context).await,
        Some(Command::Wait(arguments)) => wait::run(arguments, context).await,
        Some(Command::Stop(arguments)) => stop::run(arguments, context).await,
        Some(Command::Show(arguments)) => show::run(arguments, context).await,
        Some(Command::Log(arguments)) => log::run(&arguments, context).await,
        Some(Command::Rm(arguments)) => rm::run(&arguments, context).await,
        Some(Command::Doctor(arguments)) => doctor::run(&arguments, context).await,
        Some(Command::Vendors(arguments)) => vendors::run(&arguments, context),
        Some(Command::Trust(arguments)) => trust::run(&arguments, context).await,
        Some(Command::Daemon(arguments)) => daemon::run(&arguments, context).await,
        Some(Command::Completions(arguments)) => completions::run(&arguments, &mut context.output),
        Some(Command::Man(arguments)) => man::run(&arguments, &mut context.output),
    }
}
