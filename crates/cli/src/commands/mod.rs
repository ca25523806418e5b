//! The commands, one file each. A file defines the flags, sends the request and prints the answer.
//! `segue` without a command is `screen` on a terminal, and else `overview`.
//!
//! Several commands share these files:
//!
//! | module | what it does |
//! |---|---|
//! | `targets` | finds the sessions that names mean, and counts successes and failures |
//! | `outcomes` | prints which sessions came back, were refused or were left alone |
//! | `prompt` | reads a prompt or a message from an argument or from standard input |
//! | `duration` | parses durations such as `30s` |
//! | `failure` | makes the error about a failed turn |

pub(crate) mod acp;
pub(crate) mod adopt;
pub(crate) mod answer;
pub(crate) mod attach;
pub(crate) mod completions;
pub(crate) mod daemon;
pub(crate) mod deliveries;
pub(crate) mod dispatch;
pub(crate) mod doctor;
pub(crate) mod du;
pub(crate) mod duration;
pub(crate) mod editor;
mod failure;
pub(crate) mod git_askpass;
pub(crate) mod handoff;
pub(crate) mod init;
pub(crate) mod interrupt;
pub(crate) mod log;
pub(crate) mod ls;
pub(crate) mod man;
pub(crate) mod mcp;
pub(crate) mod messages;
pub(crate) mod outcomes;
pub(crate) mod overview;
pub(crate) mod plan;
pub(crate) mod prompt;
pub(crate) mod rename;
pub(crate) mod reset;
pub(crate) mod resume;
pub(crate) mod rm;
pub(crate) mod run;
pub(crate) mod scale;
pub(crate) mod screen;
pub(crate) mod send;
pub(crate) mod serve;
pub(crate) mod set;
pub(crate) mod share;
pub(crate) mod show;
pub(crate) mod status;
pub(crate) mod stop;
pub(crate) mod sweep;
mod targets;
pub(crate) mod task;
pub(crate) mod token;
pub(crate) mod trust;
pub(crate) mod up;
pub(crate) mod usage;
pub(crate) mod vendors;
pub(crate) mod wait;
pub(crate) mod web;
pub(crate) mod worktree;

use segue_core::Result;

use crate::args::SegueCommand;
use crate::context::{CommandEnding, Context};

/// Runs a command. `None` means `segue` without a command.
#[expect(clippy::cognitive_complexity, reason = "one line per command")]
pub(crate) async fn carry_out(
    command: Option<SegueCommand>,
    context: &mut Context,
) -> Result<CommandEnding> {
    match command {
        None if screen::can_open(context) => screen::run(context).await,
        None => overview::run(context).await,
        Some(SegueCommand::Status(_)) => status::run(context).await,
        Some(SegueCommand::Init(_)) => init::run(context),
        Some(SegueCommand::Up(arguments)) => up::run(arguments, context).await,
        Some(SegueCommand::Resume(arguments)) => resume::run(arguments, context).await,
        Some(SegueCommand::Scale(arguments)) => scale::run(arguments, context).await,
        Some(SegueCommand::Run(arguments)) => run::run(arguments, context).await,
        Some(SegueCommand::Ls(arguments)) => ls::run(arguments, context).await,
        Some(SegueCommand::Attach(arguments)) => attach::run(&arguments, context).await,
        Some(SegueCommand::Adopt(arguments)) => adopt::run(arguments, context).await,
        Some(SegueCommand::Handoff(arguments)) => handoff::run(arguments, context).await,
        Some(SegueCommand::Send(arguments)) => send::run(arguments, context).await,
        Some(SegueCommand::Messages(arguments)) => messages::run(arguments, context).await,
        Some(SegueCommand::Answer(arguments)) => answer::run(arguments, context).await,
        Some(SegueCommand::Wait(arguments)) => wait::run(arguments, context).await,
        Some(SegueCommand::Task(arguments)) => task::run(arguments, context).await,
        Some(SegueCommand::Plan(arguments)) => plan::run(arguments, context).await,
        Some(SegueCommand::Stop(arguments)) => stop::run(arguments, context).await,
        Some(SegueCommand::Interrupt(arguments)) => interrupt::run(arguments, context).await,
        Some(SegueCommand::Rename(arguments)) => rename::run(arguments, context).await,
        Some(SegueCommand::Set(arguments)) => set::run(arguments, context).await,
        Some(SegueCommand::Show(arguments)) => show::run(arguments, context).await,
        Some(SegueCommand::Log(arguments)) => log::run(&arguments, context).await,
        Some(SegueCommand::Usage(arguments)) => usage::run(&arguments, context).await,
        Some(SegueCommand::Rm(arguments)) => rm::run(&arguments, context).await,
        Some(SegueCommand::Worktree(arguments)) => worktree::run(arguments, context).await,
        Some(SegueCommand::Du(arguments)) => du::run(&arguments, context).await,
        Some(SegueCommand::Sweep(arguments)) => sweep::run(&arguments, context).await,
        Some(SegueCommand::Reset(arguments)) => reset::run(arguments, context).await,
        Some(SegueCommand::Doctor(arguments)) => doctor::run(&arguments, context).await,
        Some(SegueCommand::Vendors(arguments)) => vendors::run(&arguments, context),
        Some(SegueCommand::Trust(arguments)) => trust::run(&arguments, context).await,
        Some(SegueCommand::Serve(arguments)) => serve::run(arguments, context).await,
        Some(SegueCommand::Web(arguments)) => web::run(arguments, context).await,
        Some(SegueCommand::Share(arguments)) => share::run(arguments, context).await,
        Some(SegueCommand::Token(arguments)) => token::run(arguments, context).await,
        Some(SegueCommand::Deliveries(arguments)) => deliveries::run(arguments, context).await,
        Some(SegueCommand::Dispatch(arguments)) => dispatch::run(arguments, context).await,
        Some(SegueCommand::Mcp(_)) => mcp::run(context).await,
        Some(SegueCommand::Acp(arguments)) => acp::run(arguments, context).await,
        Some(SegueCommand::Editor(arguments)) => editor::run(arguments, context),
        Some(SegueCommand::Daemon(arguments)) => daemon::run(&arguments, context).await,
        Some(SegueCommand::Completions(arguments)) => {
            completions::run(&arguments, &mut context.output)
        }
        Some(SegueCommand::Man(arguments)) => man::run(&arguments, &mut context.output),
    }
}
