//! `segue send`: sends a message to an agent, exactly once.

use std::time::Duration;

use clap::Args;
use jiff::SignedDuration;
use segue_core::api::{MessageView, SelectReport, SendReport, SendRequest, SessionView, Until};
use segue_core::model::{MessageStateKind, StatusKind};
use segue_core::rules::dialog;
use segue_core::{Error, Result};
use segue_server::client::Client;
use tokio::task::JoinSet;

use super::prompt::{self, TextKind};
use super::targets::{self, NameMatching, NamePrinting, Tally};
use super::{duration, failure, outcomes};
use crate::complete;
use crate::context::{CommandEnding, Context};
use crate::progress::{self, AwaitedWork, with_progress};
use crate::render::sessions::{address, asks};
use crate::render::style::TextTone;

/// The timeout of `--wait` without `--timeout`: a year, which is no limit in practice.
const NO_LIMIT_MS: u64 = 365 * 24 * 3_600 * 1_000;

/// How long an interrupted command may take to look up its message.
const LOOKUP_TIMEOUT: Duration = Duration::from_secs(2);

/// Send a message to an agent, exactly once
#[derive(Debug, Args)]
#[command(
    after_help = "The message is recorded first. It is typed when the agent is idle and its \
    input is empty: never into a dialog, never over unsent text.\n\n\
    The exit status is 0 if the message is delivered. After the timeout it is 4, and the message \
    stays queued. If the agent asks a person a question, the command prints the question and ends \
    with 4 at once; the message is delivered after the answer.\n\n\
    With a fleet, each of its sessions gets a message. The exit status is 8 if only some messages \
    are delivered.\n\n\
    Examples:\n  segue send coder \"now the tests\"\n  segue send coder --wait - < review.md\n  \
    segue send coder --interrupt \"stop, look at this first\"\n  segue send coder --command /compact\n  \
    segue send shop \"commit, please\""
)]
pub(crate) struct SendArguments {
    /// A session, or a fleet with all its sessions
    #[arg(value_name = "SESSION|FLEET", add = complete::sessions_and_fleets())]
    pub(crate) session: String,

    /// The message; - or no text reads it from standard input
    #[arg(value_name = "TEXT|-")]
    pub(crate) text: Option<String>,

    /// Interrupt the turn that the agent works on
    #[arg(long)]
    pub(crate) interrupt: bool,

    /// Run the text as a command of the vendor's program, such as /init, instead of sending it
    #[arg(long)]
    pub(crate) command: bool,

    #[command(flatten)]
    pub(crate) waiting: SendWaiting,

    /// The longest time to wait, such as 90s or 20m [default: 30s; with --wait no limit]
    #[arg(long, value_name = "TIME", value_parser = duration::parse)]
    pub(crate) timeout: Option<SignedDuration>,
}

/// When the command ends.
#[derive(Debug, Args)]
pub(crate) struct SendWaiting {
    /// Wait until the agent's turn ends, and print its answer
    #[arg(long, conflicts_with = "no_wait")]
    pub(crate) wait: bool,

    /// End as soon as the message is recorded
    #[arg(long)]
    pub(crate) no_wait: bool,
}

pub(crate) async fn run(arguments: SendArguments, context: &mut Context) -> Result<CommandEnding> {
    let until = match (arguments.waiting.wait, arguments.waiting.no_wait) {
        (_, true) => Until::Recorded,
        (true, _) => Until::TurnEnded,
        _ => Until::Taken,
    };
    let request = request(arguments, until, context)?;
    let client = progress::connect(context).await?;
    let names = [request.session.clone()];
    let SelectReport { sessions, left_out, .. } =
        targets::select(&client, context, &names, NameMatching::Active).await?;
    if let Some(note) = outcomes::left_alone::note(&left_out) {
        context.output.note(&note);
    }
    let requests: Vec<SendRequest> = sessions.iter().map(|it| for_session(it, &request)).collect();
    match requests.as_slice() {
        [] => Err(Error::conflict(format!(
            "no session of `{}` takes messages: each has ended or was handed over",
            request.session
        ))
        .hint(format!("run `segue ls --all --fleet {}` to see them", request.session))),
        [only] => {
            let work =
                AwaitedWork::new("waiting for the agent").showing(sessions.iter().map(address));
            let sent = with_progress(context, work, client.send(only)).await;
            let report = match sent {
                Err(_) if context.is_interrupted() => return Err(interrupted(only, context).await),
                sent => sent?,
            };
            show(&report, until, NamePrinting::Omitted, context)
        }
        _ => send_to_all(requests, &sessions, context).await,
    }
}

/// Returns the request for one session. It has the session's id, because a name could mean another
/// session meanwhile.
fn for_session(session: &SessionView, request: &SendRequest) -> SendRequest {
    SendRequest { session: session.session.to_string(), ..request.clone() }
}

/// Sends a separate message to each session at the same time, and prints each result as it arrives.
async fn send_to_all(
    requests: Vec<SendRequest>,
    sessions: &[SessionView],
    context: &mut Context,
) -> Result<CommandEnding> {
    let work = AwaitedWork::new("waiting for the agents").showing(sessions.iter().map(address));
    let work = work.after_interrupt("messages stay queued", "run `segue messages` to see them");
    let mut tally = Tally::default();
    let mut sends = JoinSet::new();
    for request in requests {
        let local = context.local.clone();
        // A connection carries one request at a time.
        sends.spawn(async move {
            let report = Client::connect(&local).await?.send(&request).await?;
            Ok((report, request.until))
        });
    }
    let show = |(report, until): (SendReport, Until), context: &mut Context| {
        show(&report, until, NamePrinting::Printed, context)
    };
    tally.add_all(sends, &work, context, show).await?;
    Ok(tally.ending())
}

fn request(arguments: SendArguments, until: Until, context: &Context) -> Result<SendRequest> {
    let text = prompt::read(arguments.text.or_else(|| Some("-".to_owned())), TextKind::Message)?;
    let limit = arguments.timeout.map_or(default_limit(until), duration::milliseconds);
    Ok(SendRequest {
        caller: context.caller(),
        session: arguments.session,
        text: text.unwrap_or_default(),
        command: arguments.command,
        interrupt: arguments.interrupt,
        until,
        timeout_ms: limit,
    })
}

/// Makes the error of an interrupted command. It contains the state of the message.
async fn interrupted(request: &SendRequest, context: &Context) -> Error {
    let found = tokio::time::timeout(LOOKUP_TIMEOUT, find_message(request, context)).await;
    let what = match found.ok().flatten() {
        Some(message) if message.state.known() == Some(MessageStateKind::Queued) => {
            format!("the message stays queued as {}", message.id)
        }
        Some(message) => format!("the message {} is {}", message.id, message.state),
        None => "the message stays queued, if it was recorded".to_owned(),
    };
    Error::unavailable(what).hint("run `segue messages` to see its state")
}

/// Finds the message of a request: the newest message of the session with the same text. `None` if
/// it is not found or if the daemon cannot be asked.
async fn find_message(request: &SendRequest, context: &Context) -> Option<MessageView> {
    let client = Client::connect_running(&context.local).await.ok()??;
    let list = client.messages(std::slice::from_ref(&request.session), context.cwd()).await.ok()?;
    list.messages.into_iter().rev().find(|message| message.text == request.text)
}

fn default_limit(until: Until) -> u64 {
    if until == Until::TurnEnded { NO_LIMIT_MS } else { 30_000 }
}

/// Returns the ending for `--json`. The printed report has the reason of a failure.
fn ending(report: &SendReport, until: Until) -> CommandEnding {
    if report.failure.is_some() {
        return CommandEnding::Reported(segue_core::Kind::Vendor);
    }
    match report.message.state.known() {
        _ if until == Until::Recorded => CommandEnding::Done,
        Some(MessageStateKind::Delivered) if until == Until::Taken || report.turn_ended => {
            CommandEnding::Done
        }
        _ => CommandEnding::Reported(segue_core::Kind::Conflict),
    }
}

fn show(
    report: &SendReport,
    until: Until,
    naming: NamePrinting,
    context: &mut Context,
) -> Result<CommandEnding> {
    if context.wants_json() {
        context.output.json(report)?;
        return Ok(ending(report, until));
    }
    let (id, name) = (report.message.id, address(&report.session));
    if let Some(failed) = &report.failure {
        return Err(failure::turn(&name, failed));
    }
    match report.message.state.known() {
        _ if until == Until::Recorded => {
            let name =
                if naming == NamePrinting::Printed { format!("  {name}") } else { String::new() };
            context.output.text(&format!("{id}{name}\n"))?;
            Ok(CommandEnding::Done)
        }
        Some(MessageStateKind::Delivered) if report.turn_ended => {
            if naming == NamePrinting::Printed {
                let heading = context.output.colour().paint(TextTone::Strong, &format!("{name}:"));
                context.output.text(&format!("{heading}\n"))?;
            }
            context.output.agent_text(report.answer.as_deref().unwrap_or_default())?;
            Ok(CommandEnding::Done)
        }
        Some(MessageStateKind::Delivered) if until == Until::Taken => Ok(CommandEnding::Done),
        Some(MessageStateKind::Delivered) => Err(not_over(report, &name)),
        Some(MessageStateKind::Uncertain) => Err(uncertain(report, &name)),
        Some(MessageStateKind::Queued | MessageStateKind::Typing | MessageStateKind::Cancelled)
        | None => Err(queued(report, &name)),
    }
}

fn uncertain(report: &SendReport, name: &str) -> Error {
    Error::conflict(format!("it is not known whether `{name}` got the message"))
        .caused_by(report.note.as_deref().unwrap_or("nothing shows whether it arrived"))
        .caused_by("it is not typed again")
        .hint(format!("run `segue attach {name}` to look"))
}

fn not_over(report: &SendReport, name: &str) -> Error {
    let error = Error::conflict(format!("the turn of `{name}` is not over"));
    match &report.note {
        Some(note) => error.caused_by(note).hint(answer_hint(report, name)),
        None => error.hint(format!("run `segue wait {name}`")),
    }
}

/// Returns a hint how to answer the session's question.
fn answer_hint(report: &SendReport, name: &str) -> String {
    match &report.session.dialog {
        Some(dialog) => dialog::hint(dialog),
        None => format!("run `segue attach {name}` to answer"),
    }
}

fn delivery_hint(name: &str) -> String {
    format!("run `segue resume {name}` to deliver it")
}

fn queued(report: &SendReport, name: &str) -> Error {
    let id = report.message.id;
    let error = Error::conflict(format!("not yet taken by `{name}`: queued as {id}"));
    let error = match &report.note {
        Some(note) => error.caused_by(note),
        None => error,
    };
    let error = match report.session.status.known() {
        Some(StatusKind::Interrupted | StatusKind::Ended | StatusKind::Lost) => {
            error.hint(delivery_hint(name))
        }
        Some(StatusKind::Waiting) if !asks(&report.session) => error.hint(delivery_hint(name)),
        Some(StatusKind::Waiting) => error.hint(answer_hint(report, name)),
        Some(StatusKind::Starting | StatusKind::Working | StatusKind::Idle) | None => {
            error.hint("run `segue messages` to see its state")
        }
    };
    if report.message.state.known() == Some(MessageStateKind::Queued) {
        return error.hint(format!("run `segue messages --cancel {id}` to take it back"));
    }
    error
}
