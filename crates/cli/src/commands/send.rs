//! `segue send`

use std::time::Duration;

use clap::Args;
use jiff::SignedDuration;
use segue_core::api::{MessageView, SendReport, SendRequest, Until};
use segue_core::rules::dialog;
use segue_core::{Error, Result};
use segue_server::client::Client;

use super::prompt::{self, Saying};
use super::{duration, failure};
use crate::context::{Context, Ending};
use crate::progress::{self, Task, watching};
use crate::render::sessions::address;

/// How long a turn may take that is waited for without a limit: for ever, in practice.
const NO_LIMIT_MS: u64 = 365 * 24 * 3_600 * 1_000;

/// How long a command that was interrupted looks for its message.
const LAST_LOOK: Duration = Duration::from_secs(2);

/// Tell an agent something, exactly once
#[derive(Debug, Args)]
#[command(after_help = "The message is recorded first and typed when the agent's input is free: \
    never into a dialog, never over somebody's text. It ends with 0 when the agent has taken it; \
    after the timeout it ends with 4, and the message stays queued. If the agent asks a person \
    something, it does not wait for the timeout: it prints the question and ends with 4, and the \
    message is delivered after the answer.\n\n\
    Examples:\n  segue send coder \"now the tests\"\n  segue send coder --wait - < review.md\n  \
    segue send coder --interrupt \"stop, look at this first\"")]
pub(crate) struct Arguments {
    #[arg(value_name = "SESSION")]
    pub(crate) session: String,

    /// What to say; - or nothing reads it from standard input
    #[arg(value_name = "TEXT|-")]
    pub(crate) text: Option<String>,

    /// Break off what it does now
    #[arg(long)]
    pub(crate) interrupt: bool,

    #[command(flatten)]
    pub(crate) waiting: Waiting,

    /// How long to wait at most [default: 30s, with --wait no limit]
    #[arg(long, value_name = "TIME", value_parser = duration::parse)]
    pub(crate) timeout: Option<SignedDuration>,
}

/// How long the command stays.
#[derive(Debug, Args)]
pub(crate) struct Waiting {
    /// Stay until its turn ends, and print what it said
    #[arg(long, conflicts_with = "no_wait")]
    pub(crate) wait: bool,

    /// Come back as soon as the message is recorded
    #[arg(long)]
    pub(crate) no_wait: bool,
}

pub(crate) async fn run(arguments: Arguments, context: &mut Context) -> Result<Ending> {
    let until = match (arguments.waiting.wait, arguments.waiting.no_wait) {
        (_, true) => Until::Recorded,
        (true, _) => Until::TurnEnded,
        _ => Until::Taken,
    };
    let request = request(arguments, until, context)?;
    let client = progress::connect(context).await?;
    let task = Task::new("waiting for the agent").of([request.session.clone()]);
    let sent = watching(context, task, client.send(&request)).await;
    let report = match sent {
        Err(_) if context.is_interrupted() => return Err(left(&request, context).await),
        sent => sent?,
    };
    if context.wants_json() {
        context.output.json(&report)?;
        return Ok(ending(&report, until));
    }
    show(&report, until, context)
}

fn request(arguments: Arguments, until: Until, context: &Context) -> Result<SendRequest> {
    let text = prompt::read(arguments.text.or_else(|| Some("-".to_owned())), Saying::Message)?;
    let limit = arguments.timeout.map_or(default_limit(until), duration::milliseconds);
    Ok(SendRequest {
        caller: context.caller(),
        session: arguments.session,
        text: text.unwrap_or_default(),
        interrupt: arguments.interrupt,
        until,
        timeout_ms: limit,
    })
}

/// Says what becomes of a message that is not waited for any longer.
async fn left(request: &SendRequest, context: &Context) -> Error {
    let found = tokio::time::timeout(LAST_LOOK, queued_as(request, context)).await;
    let what = match found.ok().flatten() {
        Some(message) if message.state == "queued" => {
            format!("the message stays queued as {}", message.id)
        }
        Some(message) => format!("the message {} is {}", message.id, message.state),
        None => "the message stays queued, if it was recorded".to_owned(),
    };
    Error::unavailable(what).hint("run `segue messages` to see what becomes of it")
}

/// Finds the message among those of its session: the newest with its text.
async fn queued_as(request: &SendRequest, context: &Context) -> Option<MessageView> {
    let client = Client::connect_running(&context.local).await.ok()??;
    let list = client.messages(Some(&request.session), context.cwd()).await.ok()?;
    list.messages.into_iter().rev().find(|message| message.text == request.text)
}

fn default_limit(until: Until) -> u64 {
    if until == Until::TurnEnded { NO_LIMIT_MS } else { 30_000 }
}

/// Returns the exit status for a program that reads the rest.
fn ending(report: &SendReport, until: Until) -> Ending {
    if report.failure.is_some() {
        return Ending::Told(segue_core::Kind::Vendor);
    }
    match report.message.state.as_str() {
        _ if until == Until::Recorded => Ending::Done,
        "delivered" if until == Until::Taken || report.turn_ended => Ending::Done,
        _ => Ending::Told(segue_core::Kind::Conflict),
    }
}

fn show(report: &SendReport, until: Until, context: &mut Context) -> Result<Ending> {
    let (id, name) = (report.message.id, address(&report.session));
    if let Some(failed) = &report.failure {
        return Err(failure::turn(&name, failed));
    }
    match report.message.state.as_str() {
        _ if until == Until::Recorded => {
            context.output.text(&format!("{id}\n"))?;
            Ok(Ending::Done)
        }
        "delivered" if report.turn_ended => {
            context.output.words_of_agent(report.answer.as_deref().unwrap_or_default())?;
            Ok(Ending::Done)
        }
        "delivered" if until == Until::Taken => Ok(Ending::Done),
        "delivered" => Err(not_over(report, &name)),
        "uncertain" => Err(Error::conflict(format!("nobody can tell whether `{name}` took it"))
            .caused_by(report.note.as_deref().unwrap_or("nothing shows whether it arrived"))
            .caused_by("it is not typed again")
            .hint(format!("run `segue attach {name}` to look"))),
        _ => Err(queued(report, &name)),
    }
}

fn not_over(report: &SendReport, name: &str) -> Error {
    let error = Error::conflict(format!("the turn of `{name}` is not over"));
    match &report.note {
        Some(note) => error.caused_by(note).hint(to_answer(report, name)),
        None => error.hint(format!("run `segue wait {name}`")),
    }
}

/// Returns how the question is answered that the session asks.
fn to_answer(report: &SendReport, name: &str) -> String {
    match &report.session.dialog {
        Some(dialog) => dialog::hint(dialog),
        None => format!("run `segue answer {name} yes`, or `no`"),
    }
}

fn queued(report: &SendReport, name: &str) -> Error {
    let id = report.message.id;
    let error = Error::conflict(format!("not yet taken by `{name}`: queued as {id}"));
    let error = match &report.note {
        Some(note) => error.caused_by(note),
        None => error,
    };
    let error = match report.session.status.as_str() {
        "ended" | "lost" => {
            error.hint(format!("run `segue resume {name}`: it is delivered after that"))
        }
        "waiting" => error.hint(to_answer(report, name)),
        _ => error.hint("run `segue messages` to see what becomes of it"),
    };
    if report.message.state == "queued" {
        return error.hint(format!("run `segue messages --cancel {id}` to take it back"));
    }
    error
}
