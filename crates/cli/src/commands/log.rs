//! `segue log`: prints the events of sessions.

use std::collections::HashMap;

use clap::{Args, value_parser};
use segue_core::api::SessionView;
use segue_core::model::{
    Event, EventPayload, FleetName, SessionId, SessionName, TaskId, TaskStateKind,
};
use segue_core::ports::EventQuery;
use segue_core::{Error, Result};
use segue_server::client::Client;
use segue_server::wiring::Size;
use serde::Serialize;

use super::targets::{self, NameMatching, Tally};
use crate::complete;
use crate::context::{CommandEnding, Context};
use crate::output::OutputFormat;
use crate::paged::Paged;
use crate::progress;
use crate::render::json;
use crate::render::plain::one_line;
use crate::render::sessions::address;
use crate::render::style::{Colour, TextTone};
use crate::render::time::DisplayClock;

/// How many events one request returns at most.
const PAGE_EVENTS: u32 = 1000;
/// The width of the column of event kinds, which is the length of the longest kind.
const KIND_COLUMNS: usize = 20;
/// The column of names is at most this wide. A longer name shifts only its own lines.
const WIDEST_NAME_COLUMNS: usize = 24;

/// Print the events of sessions, and bindings with their evidence
#[derive(Debug, Args)]
#[command(after_help = "On a terminal, output that does not fit on the screen goes through \
    $SEGUE_PAGER, $PAGER or `less`. With --json, each event is one line.\n\n\
    Examples:\n  segue log coder\n  segue log coder tester --last 20\n  segue log --follow")]
pub(crate) struct LogArguments {
    /// Only events of these sessions and fleets
    #[arg(value_name = "SESSION|FLEET", add = complete::sessions_and_fleets())]
    pub(crate) names: Vec<String>,

    /// Only the last N events
    #[arg(long, short = 'n', value_name = "N", value_parser = value_parser!(u32).range(1..))]
    pub(crate) last: Option<u32>,

    /// Continue with new events as they happen
    #[arg(long, short)]
    pub(crate) follow: bool,

    /// Print without a pager
    #[arg(long)]
    pub(crate) no_pager: bool,
}

pub(crate) async fn run(arguments: &LogArguments, context: &mut Context) -> Result<CommandEnding> {
    let client = progress::connect(context).await?;
    let mut tally = Tally::default();
    let mut sessions = Vec::new();
    if !arguments.names.is_empty() {
        let chosen =
            targets::select(&client, context, &arguments.names, NameMatching::Loose).await?;
        tally = Tally::of(&chosen.failed, context);
        sessions.extend(chosen.sessions.iter().map(|session| session.session));
    }
    let style = LogStyle { format: context.output.format(), colour: context.output.colour() };
    let mut log = EventLog::new(client, sessions, style);
    let wants_pager =
        style.format == OutputFormat::Text && !arguments.follow && !arguments.no_pager;
    log.show_past(arguments.last, wants_pager, context).await?;
    tally.succeed();
    if arguments.follow {
        log.follow(context).await?;
    }
    Ok(tally.ending())
}

/// Prints the events of the session that works on a task. With `until`, continues with new events
/// until that task has ended.
pub(crate) async fn of_task(
    client: Client,
    session: SessionId,
    until: Option<TaskId>,
    context: &mut Context,
) -> Result<()> {
    let style = LogStyle { format: context.output.format(), colour: context.output.colour() };
    let mut log = EventLog::new(client, vec![session], style);
    log.until = until;
    let wants_pager = style.format == OutputFormat::Text && until.is_none();
    log.show_past(None, wants_pager, context).await?;
    if until.is_some() && !log.is_over { log.follow(context).await } else { Ok(()) }
}

/// The state of `segue log`: its filter, the names of sessions, and the last event that it printed.
struct EventLog {
    client: Client,
    /// The sessions whose events are printed. If empty, all events are printed.
    sessions: Vec<SessionId>,
    style: LogStyle,
    known: HashMap<SessionId, Named>,
    /// The width of the column of names.
    widest: usize,
    last: i64,
    /// The log ends with the end of this task.
    until: Option<TaskId>,
    /// Whether the end of that task was printed.
    is_over: bool,
}

#[derive(Clone, Copy, Debug)]
struct LogStyle {
    format: OutputFormat,
    colour: Colour,
}

/// The name of an event's session. All fields are `None` if the session was removed, or if the
/// event has no session.
#[derive(Clone, Debug, Default, Serialize)]
struct Named {
    name: Option<SessionName>,
    fleet: Option<FleetName>,
    address: Option<String>,
}

/// An event as `segue log --json` prints it.
#[derive(Serialize)]
struct LogLine<'a> {
    #[serde(flatten)]
    event: &'a Event,
    #[serde(flatten)]
    named: &'a Named,
}

impl EventLog {
    fn new(client: Client, sessions: Vec<SessionId>, style: LogStyle) -> Self {
        let known = HashMap::new();
        Self { client, sessions, style, known, widest: 0, last: 0, until: None, is_over: false }
    }

    async fn show_past(
        &mut self,
        last: Option<u32>,
        wants_pager: bool,
        context: &mut Context,
    ) -> Result<()> {
        let clock = context.clock().clone();
        let size = Size::of_output().filter(|_| wants_pager);
        let mut page = Paged::new(&mut context.output, context.local.environment(), size);
        loop {
            let query = EventQuery {
                after: self.last,
                sessions: self.sessions.clone(),
                limit: last.unwrap_or(PAGE_EVENTS),
                newest: last.is_some(),
            };
            let events = self.client.events(&query).await?;
            for event in &events {
                self.make_room(event).await?;
            }
            for event in &events {
                let text = self.text(event, &clock).await?;
                if page.text(&text)?.is_break() {
                    return page.finish();
                }
            }
            if events.is_empty() || last.is_some() {
                return page.finish();
            }
        }
    }

    async fn follow(&mut self, context: &mut Context) -> Result<()> {
        // A connection that streams events cannot carry other requests.
        let follower = progress::connect(context).await?;
        let mut events = follower.follow(&self.sessions, self.last).await?;
        let clock = context.clock().clone();
        while let Some(event) = events.next().await {
            let event = event?;
            self.make_room(&event).await?;
            let text = self.text(&event, &clock).await?;
            context.output.text(&text)?;
            if context.output.is_reader_gone() || self.is_over {
                return Ok(());
            }
        }
        Err(Error::unavailable("the daemon ended, so no more events can be followed")
            .hint("run the same command again to continue"))
    }

    /// Returns the line about an event, and records it as the last event that was printed.
    async fn text(&mut self, event: &Event, clock: &DisplayClock) -> Result<String> {
        self.last = event.seq;
        self.is_over |= self.until.is_some_and(|task| is_end_of(&event.fact.payload, task));
        let named = self.named(event.fact.session).await?;
        if self.style.format == OutputFormat::Json {
            return json::line(&LogLine { event, named: &named });
        }
        let name = shown_name(&named, event.fact.session);
        Ok(line(event, (&name, self.widest), clock, self.style.colour))
    }

    /// Widens the column of names, if the session of an event that is printed next needs it.
    async fn make_room(&mut self, event: &Event) -> Result<()> {
        let named = self.named(event.fact.session).await?;
        self.widest = widened(self.widest, &shown_name(&named, event.fact.session));
        Ok(())
    }

    async fn named(&mut self, session: Option<SessionId>) -> Result<Named> {
        let Some(id) = session else { return Ok(Named::default()) };
        if !self.known.contains_key(&id) {
            let sessions = self.client.sessions().await?.sessions;
            self.known.extend(sessions.iter().map(|session| (session.session, named(session))));
            self.known.entry(id).or_default();
        }
        Ok(self.known.get(&id).cloned().unwrap_or_default())
    }
}

fn is_end_of(payload: &EventPayload, wanted: TaskId) -> bool {
    use TaskStateKind::{Cancelled, Done, Failed};
    matches!(payload, EventPayload::TaskChanged { task, state: Done | Failed | Cancelled, .. }
        if *task == wanted)
}

fn named(session: &SessionView) -> Named {
    Named {
        name: Some(session.name.clone()),
        fleet: Some(session.fleet.clone()),
        address: Some(address(session)),
    }
}

/// Returns the address of a session, or its id if it was removed, or `-` if the event has no
/// session.
fn shown_name(named: &Named, session: Option<SessionId>) -> String {
    let gone = || session.map_or_else(|| "-".to_owned(), |id| id.to_string());
    named.address.clone().unwrap_or_else(gone)
}

/// Returns the width of the column of names after `name` was added. A name that is longer than
/// [`WIDEST_NAME_COLUMNS`] does not widen it.
fn widened(widest: usize, name: &str) -> usize {
    if name.len() > WIDEST_NAME_COLUMNS { widest } else { widest.max(name.len()) }
}

fn line(
    event: &Event,
    (name, widest): (&str, usize),
    clock: &DisplayClock,
    colour: Colour,
) -> String {
    let fact = &event.fact;
    format!(
        "{}  {}  {:KIND_COLUMNS$}  {}\n",
        colour.paint(TextTone::Faint, &clock.timestamp(fact.at)),
        colour.paint(TextTone::Strong, &format!("{name:widest$}")),
        fact.payload.kind().word().replace('_', " "),
        one_line(&fact.payload.to_string()),
    )
}

#[cfg(test)]
mod tests {
    use segue_core::model::EventKind;
    use serde_json::json;

    use super::*;

    #[test]
    fn column_of_names_is_as_wide_as_the_widest_name_that_is_not_too_long() {
        let widest = |names: &[&str]| names.iter().fold(0, |widest, name| widened(widest, name));
        assert_eq!(widest(&[]), 0);
        assert_eq!(widest(&["shop/coder", "shop/a"]), 10);
        assert_eq!(widest(&["shop/a", &"x".repeat(64)]), 6);
    }

    #[test]
    fn column_of_kinds_is_as_wide_as_the_longest_kind() {
        let longest = EventKind::ALL.iter().map(|kind| kind.word().len()).max();
        assert_eq!(longest, Some(KIND_COLUMNS));
    }

    #[test]
    fn event_with_line_breaks_is_shown_on_one_line() {
        let event: Event = serde_json::from_value(json!({
            "seq": 7, "at": "2026-01-02T03:11:12.5Z",
            "session": "0198f9d2-0000-7000-8000-000000000001", "launch": null,
            "kind": "bound", "text": "is conversation `abc`\u{1b}[31m (stream)\nof demo",
        }))
        .unwrap();
        assert_eq!(
            line(&event, ("shop/coder", 12), &DisplayClock::utc(), Colour::Off),
            "2026-01-02 03:11:12Z  shop/coder    bound                 \
             is conversation `abc` (stream) of demo\n",
        );
    }
}
