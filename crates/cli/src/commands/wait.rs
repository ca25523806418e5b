//! `segue wait`: waits until sessions have a given status.

use clap::{Args, ValueEnum};
use jiff::SignedDuration;
use segue_core::api::{SessionView, WaitReport, WaitRequest, WaitTarget};
use segue_core::model::StatusKind;
use segue_core::rules::dialog;
use segue_core::{Error, Kind, Result};
use segue_server::client::Client;
use serde::Serialize;
use tokio::task::JoinSet;

use super::duration;
use super::targets::{self, NameMatching, NamePrinting, Tally};
use crate::complete;
use crate::context::{CommandEnding, Context};
use crate::progress::{self, AwaitedWork, with_progress};
use crate::render::sessions::{address, asks, question_hint, status};

/// Wait until agents are idle, ask a question, or have ended
#[derive(Debug, Args)]
#[command(
    after_help = "Without --for, it waits until the agent neither starts nor works. An agent \
    with a queued message is not idle. After the timeout, the exit status is 4. It is also 4 as \
    soon as the agent asks a person a question, unless --for is `waiting` or `ended`. With several \
    agents, it waits for all of them; the exit status is 8 if only some of them reach the status.\n\n\
    Examples:\n  segue wait coder\n  segue wait coder --for idle --timeout 10m\n  \
    segue wait shop --for ended"
)]
pub(crate) struct WaitArguments {
    /// Sessions, or fleets with all their sessions
    #[arg(value_name = "SESSION|FLEET", required = true, add = complete::sessions_and_fleets())]
    pub(crate) names: Vec<String>,

    /// The status to wait for
    #[arg(long = "for", value_enum, value_name = "STATUS")]
    pub(crate) target: Option<WaitTargetArgument>,

    /// The longest time to wait, such as 90s or 20m [default: no limit]
    #[arg(long, value_name = "TIME", value_parser = duration::parse)]
    pub(crate) timeout: Option<SignedDuration>,
}

/// The words for [`WaitTarget`] on the command line.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum WaitTargetArgument {
    Idle,
    Waiting,
    Ended,
}

pub(crate) async fn run(arguments: WaitArguments, context: &mut Context) -> Result<CommandEnding> {
    let client = progress::connect(context).await?;
    let target = match arguments.target {
        Some(WaitTargetArgument::Idle) => WaitTarget::Idle,
        Some(WaitTargetArgument::Waiting) => WaitTarget::Waiting,
        Some(WaitTargetArgument::Ended) => WaitTarget::Ended,
        None => WaitTarget::Rest,
    };
    let timeout_ms = arguments.timeout.map(duration::milliseconds);
    let request = |session: &SessionView| WaitRequest {
        cwd: context.cwd().to_owned(),
        session: session.session.to_string(),
        target,
        timeout_ms,
    };
    let chosen = targets::select(&client, context, &arguments.names, NameMatching::Loose).await?;
    if let ([only], []) = (chosen.sessions.as_slice(), chosen.failed.as_slice()) {
        let request = request(only);
        let report = wait_for_one(&client, &request, &address(only), context).await?;
        return show(&report, target, NamePrinting::Omitted, context);
    }
    let requests = chosen.sessions.iter().map(|it| (address(it), request(it))).collect();
    let mut tally = Tally::of(&chosen.failed, context);
    wait_for_all(requests, &mut tally, context).await?;
    Ok(tally.ending())
}

/// Waits for several sessions at the same time, and prints each result as it arrives.
async fn wait_for_all(
    requests: Vec<(String, WaitRequest)>,
    tally: &mut Tally,
    context: &mut Context,
) -> Result<()> {
    let names: Vec<String> = requests.iter().map(|(name, _)| name.clone()).collect();
    let work = AwaitedWork::new("waiting").showing(names.clone());
    let again = format!("run `segue wait {}` to wait again", names.join(" "));
    let work = work.after_interrupt("the agents go on", again);
    let mut waits = JoinSet::new();
    for (_, request) in requests {
        let local = context.local.clone();
        // A connection carries one request at a time.
        waits.spawn(async move {
            let report = Client::connect(&local).await?.wait(&request).await?;
            Ok((report, request.target))
        });
    }
    let show = |(report, target): (WaitReport, WaitTarget), context: &mut Context| {
        show(&report, target, NamePrinting::Printed, context)
    };
    tally.add_all(waits, &work, context, show).await
}

async fn wait_for_one(
    client: &Client,
    request: &WaitRequest,
    name: &str,
    context: &Context,
) -> Result<WaitReport> {
    let work = AwaitedWork::new("waiting").showing([name.to_owned()]);
    let work =
        work.after_interrupt("the agent goes on", format!("run `segue wait {name}` to wait again"));
    with_progress(context, work, client.wait(request)).await
}

/// The session, and why the wait is over, as `segue wait --json` prints them.
#[derive(Serialize)]
struct Waited<'a> {
    #[serde(flatten)]
    session: &'a SessionView,
    outcome: WaitOutcome,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
enum WaitOutcome {
    Reached,
    /// The session waits for an action of the user, such as an answer.
    NeedsPerson,
    TimedOut,
}

/// Waits until an agent that was just started is neither `starting` nor `working`.
pub(crate) async fn for_rest(
    session: &SessionView,
    client: &Client,
    context: &mut Context,
) -> Result<CommandEnding> {
    if !context.wants_json() {
        context.output.text(&format!("{}\n", address(session)))?;
    }
    let (cwd, id) = (context.cwd().to_owned(), session.session.to_string());
    let request = WaitRequest { cwd, session: id, target: WaitTarget::Rest, timeout_ms: None };
    let report = wait_for_one(client, &request, &address(session), context).await?;
    show(&report, request.target, NamePrinting::Omitted, context)
}

fn show(
    report: &WaitReport,
    target: WaitTarget,
    naming: NamePrinting,
    context: &mut Context,
) -> Result<CommandEnding> {
    let session = &report.session;
    let outcome = match report.reached {
        _ if needs_person(session, target) => WaitOutcome::NeedsPerson,
        true => WaitOutcome::Reached,
        false => WaitOutcome::TimedOut,
    };
    if context.wants_json() {
        context.output.json(&Waited { session, outcome })?;
        return Ok(CommandEnding::of_answer(outcome != WaitOutcome::Reached, Kind::Conflict));
    }
    let name = address(session);
    let status = status(session);
    match outcome {
        WaitOutcome::NeedsPerson => Err(report.why.iter().fold(blocked(session), Error::caused_by)),
        WaitOutcome::TimedOut => {
            let wanted = wanted(target);
            let why = format!("the time ran out before it was {wanted}");
            Err(Error::conflict(format!("`{name}` is still {status}: {why}"))
                .hint(format!("run `segue log {name}` to see why")))
        }
        WaitOutcome::Reached => {
            let name =
                if naming == NamePrinting::Printed { format!("{name}  ") } else { String::new() };
            context.output.text(&format!("{name}{status}\n"))?;
            report.why.iter().for_each(|why| context.output.note(why));
            if asks(session) {
                context.output.hint(&question_hint(session));
            }
            Ok(CommandEnding::Done)
        }
    }
}

/// Returns the statuses that end a wait.
fn wanted(target: WaitTarget) -> &'static str {
    match target {
        WaitTarget::Idle => "`idle`",
        WaitTarget::Waiting => "`waiting`",
        WaitTarget::Ended => "`ended`",
        WaitTarget::Rest => "`idle`, `waiting` or `ended`",
    }
}

/// Returns whether the wait is over because the session cannot go on without the user.
fn needs_person(session: &SessionView, target: WaitTarget) -> bool {
    matches!(target, WaitTarget::Idle | WaitTarget::Rest)
        && matches!(
            session.status.known(),
            Some(StatusKind::Waiting | StatusKind::Interrupted | StatusKind::Lost)
        )
}

fn blocked(session: &SessionView) -> Error {
    let name = address(session);
    if !asks(session) {
        let status = status(session);
        return Error::conflict(format!("`{name}` cannot go on: it does not run, and is {status}"))
            .hint(format!("run `segue log {name}` to see why"))
            .hint(format!("run `segue resume {name}` to start it again"));
    }
    let error = Error::conflict(format!("`{name}` cannot go on: a person has to answer"));
    match &session.dialog {
        Some(dialog) => {
            error.caused_by(dialog::describe(dialog.kind, Some(dialog))).hint(dialog::hint(dialog))
        }
        None => error
            .caused_by(session.status_detail.clone().unwrap_or_default())
            .hint(format!("run `segue attach {name}` to answer")),
    }
}
