//! `segue ls`: lists sessions.

mod watch;

use std::path::{Path, PathBuf};

use clap::Args;
use segue_core::Result;
use segue_core::api::{ListRequest, SessionList, SessionView};
use segue_core::rules::attention::Reason;
use segue_core::rules::{listing, screens};
use serde::Serialize;

use crate::complete;
use crate::context::{CommandEnding, Context};
use crate::progress;
use crate::render::sessions::{asks, counted, question_hint, start_hints, table};

/// List the sessions: name, vendor, status, since, where
#[derive(Debug, Args)]
#[command(
    after_help = "Sessions that ended more than a day ago are only counted; --all or --status \
    ended lists them. If a filter has several values, a session must match one of them. If there \
    are several filters, it must match all of them. The beginning of a fleet's or a vendor's name \
    is enough.\n\n\
    With --watch, the list is redrawn whenever a session changes, until Ctrl-C. Without a \
    terminal, or with --json, it prints one line for each session, and another line whenever that \
    session changes. A session that leaves the list has the outcome `gone`. With --json, a line \
    with `daemon` follows the first list: `running`. It is `ended` if the list is old because the \
    daemon has ended.\n\n\
    Examples:\n  segue ls\n  segue ls --fleet shop --status waiting,idle\n  segue ls --cwd . --watch\n  \
    segue ls --all --json | jq -r '.sessions[].address'"
)]
pub(crate) struct LsArguments {
    /// Include the sessions that ended more than a day ago
    #[arg(long, short)]
    pub(crate) all: bool,

    /// Only sessions of this fleet
    #[arg(long, value_name = "FLEET", value_delimiter = ',', add = complete::fleets())]
    pub(crate) fleet: Vec<String>,

    /// Only sessions of this vendor
    #[arg(long, value_name = "VENDOR", value_delimiter = ',', add = complete::vendors())]
    pub(crate) vendor: Vec<String>,

    /// Only sessions with this status: starting, working, waiting, idle,
    /// interrupted, ended or lost
    #[arg(long, value_name = "STATUS", value_delimiter = ',', add = complete::statuses())]
    pub(crate) status: Vec<String>,

    /// Only sessions that work in this folder or below
    #[arg(long, value_name = "DIR")]
    pub(crate) cwd: Option<PathBuf>,

    /// Redraw the list whenever a session changes
    #[arg(long, short)]
    pub(crate) watch: bool,
}

pub(crate) async fn run(arguments: LsArguments, context: &mut Context) -> Result<CommandEnding> {
    let is_watched = arguments.watch;
    let request = request(arguments, context.cwd())?;
    if is_watched {
        return watch::watch(&request, context).await;
    }
    let client = progress::connect(context).await?;
    let list = client.list(&request).await?;
    show(&list, &request, context)?;
    Ok(CommandEnding::Done)
}

fn request(arguments: LsArguments, cwd: &Path) -> Result<ListRequest> {
    let LsArguments { all, fleet: fleets, vendor: vendors, status, cwd: folder, .. } = arguments;
    let folder = folder.map(|folder| cwd.join(folder));
    let statuses = status.iter().map(|word| listing::find_status(word)).collect::<Result<_>>()?;
    Ok(ListRequest { all, fleets, vendors, statuses, folder, ..ListRequest::default() })
}

/// The list as `segue ls --json` prints it.
#[derive(Serialize)]
struct Sessions<'a> {
    sessions: Vec<ListedSession<'a>>,
}

/// A session as `segue ls --json` prints it.
#[derive(Serialize)]
struct ListedSession<'a> {
    #[serde(flatten)]
    session: &'a SessionView,
    /// Why it needs a person, in a word of `GET /v1/attention`.
    attention: Option<&'static str>,
}

impl<'a> ListedSession<'a> {
    fn new(session: &'a SessionView) -> Self {
        Self { session, attention: screens::attention(session).map(Reason::word) }
    }
}

fn show(list: &SessionList, request: &ListRequest, context: &mut Context) -> Result<()> {
    if context.wants_json() {
        if list.hidden > 0 {
            context.output.note(&hidden(list.hidden));
        }
        let sessions = list.sessions.iter().map(ListedSession::new).collect();
        return context.output.json(&Sessions { sessions });
    }
    let table = table(&list.sessions, context.display());
    context.output.table(&table)?;
    for session in list.sessions.iter().filter(|session| asks(session)) {
        context.output.hint(&question_hint(session));
    }
    for step in start_hints(&list.sessions) {
        context.output.hint(&step);
    }
    if list.hidden > 0 {
        context.output.note(&hidden(list.hidden));
    } else if list.sessions.is_empty() && *request == ListRequest::default() {
        context.output.note("no sessions yet");
        context.output.hint("run `segue run \"what is to be done\"` to start an agent here");
    } else if list.sessions.is_empty() {
        context.output.note("no session matches these filters");
    }
    Ok(())
}

/// Returns the note about the sessions that are not shown.
fn hidden(count: usize) -> String {
    format!("{} that ended more than a day ago: `segue ls --all`", counted(count, "session"))
}
