//! `segue wait`

use clap::{Args, ValueEnum};
use jiff::SignedDuration;
use segue_core::api::{SessionView, WaitReport, WaitRequest, WaitTarget};
use segue_core::rules::dialog;
use segue_core::{Error, Kind, Result};
use segue_server::client::Client;

use super::duration;
use crate::context::{Context, Ending};
use crate::progress::{self, Task, watching};
use crate::render::sessions::{address, asks};

/// Wait until an agent is idle, waits for an answer, or has ended
#[derive(Debug, Args)]
#[command(
    after_help = "Without --for it waits until the agent neither starts nor works. Idle means \
    also that no message is queued. After the timeout it ends with 4. So it does as soon as the \
    agent asks a person something, unless --for says otherwise.\n\n\
    Examples:\n  segue wait coder\n  segue wait coder --for idle --timeout 10m"
)]
pub(crate) struct Arguments {
    #[arg(value_name = "SESSION")]
    pub(crate) session: String,

    /// What to wait for
    #[arg(long = "for", value_enum, value_name = "STATUS")]
    pub(crate) target: Option<Target>,

    /// How long to wait at most
    #[arg(long, value_name = "TIME", value_parser = duration::parse)]
    pub(crate) timeout: Option<SignedDuration>,
}

/// The words for [`WaitTarget`] on the command line.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum Target {
    Idle,
    Waiting,
    Ended,
}

pub(crate) async fn run(arguments: Arguments, context: &mut Context) -> Result<Ending> {
    let client = progress::connect(context).await?;
    let request = WaitRequest {
        cwd: context.cwd().to_owned(),
        session: arguments.session,
        target: match arguments.target {
            Some(Target::Idle) => WaitTarget::Idle,
            Some(Target::Waiting) => WaitTarget::Waiting,
            Some(Target::Ended) => WaitTarget::Ended,
            None => WaitTarget::Rest,
        },
        timeout_ms: arguments.timeout.map(duration::milliseconds),
    };
    show(&waited(&client, &request, context).await?, request.target, context)
}

async fn waited(client: &Client, request: &WaitRequest, context: &Context) -> Result<WaitReport> {
    let name = &request.session;
    let task = Task::new("waiting").of([name.clone()]);
    let task = task.goes_on("the agent goes on", format!("run `segue wait {name}` to wait again"));
    watching(context, task, client.wait(request)).await
}

/// Waits until an agent that was just started neither starts nor works.
pub(crate) async fn for_rest(
    session: &SessionView,
    client: &Client,
    context: &mut Context,
) -> Result<Ending> {
    if !context.wants_json() {
        context.output.text(&format!("{}\n", address(session)))?;
    }
    let (cwd, session) = (context.cwd().to_owned(), session.id.to_string());
    let request = WaitRequest { cwd, session, target: WaitTarget::Rest, timeout_ms: None };
    show(&waited(client, &request, context).await?, request.target, context)
}

fn show(report: &WaitReport, target: WaitTarget, context: &mut Context) -> Result<Ending> {
    let session = &report.session;
    if context.wants_json() {
        context.output.json(session)?;
        let is_done = report.reached && !needs_person(session, target);
        return Ok(if is_done { Ending::Done } else { Ending::Told(Kind::Conflict) });
    }
    if needs_person(session, target) {
        return Err(not_over(session));
    }
    let detail = session.status_detail.as_ref().map(|it| format!(" ({it})")).unwrap_or_default();
    let status = format!("{}{detail}", session.status);
    if report.reached {
        context.output.text(&format!("{status}\n"))?;
        return Ok(Ending::Done);
    }
    let name = address(session);
    Err(Error::conflict(format!("`{name}` is still {status}"))
        .hint(format!("run `segue log {name}` to see why")))
}

/// Tells whether the wait is over because only a person can go on.
fn needs_person(session: &SessionView, target: WaitTarget) -> bool {
    matches!(target, WaitTarget::Idle | WaitTarget::Rest) && asks(session)
}

fn not_over(session: &SessionView) -> Error {
    let name = address(session);
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
