//! `segue ls --watch`: prints the list again whenever it changes.

use std::collections::BTreeMap;

use segue_core::api::{ListRequest, SessionList, SessionView};
use segue_core::model::SessionId;
use segue_core::{Error, Kind, Result};
use segue_server::client::{Client, EventStream};
use segue_server::wiring::{self, Size};
use serde::Serialize;
use tokio::signal::unix::{Signal, SignalKind, signal};

use super::{ListedSession, hidden};
use crate::context::{CommandEnding, Context};
use crate::progress::Interrupts;
use crate::render::plain::one_line;
use crate::render::sessions::{address, place, status, table};
use crate::render::table::{CutPlace, shortened};

/// Switches to the alternate screen and hides the cursor. [`LEAVE`] undoes both, so that the user's
/// own screen is as it was before.
const ENTER: &str = "\u{1b}[?1049h\u{1b}[?25l";
const LEAVE: &str = "\u{1b}[?25h\u{1b}[?1049l";
/// Moves the cursor to the first row. The new list overwrites the old one, because clearing the
/// screen first would make it flicker.
const HOME: &str = "\u{1b}[H";
const REST_OF_LINE: &str = "\u{1b}[K";
const REST_OF_SCREEN: &str = "\u{1b}[J";

/// Shows the list again after every event. Ends on SIGINT (Ctrl-C), on SIGTERM, or if the reader
/// closes standard output.
pub(super) async fn watch(request: &ListRequest, context: &mut Context) -> Result<CommandEnding> {
    let mut stop = StopSignals::new()?;
    let is_drawn = Size::of_output().is_some() && !context.wants_json();
    let mut view =
        if is_drawn { WatchView::Screen } else { WatchView::Lines(PrintedList::default()) };
    // Connects before the switch to the alternate screen, so that an error of the request is
    // reported on the user's own screen.
    let mut source = tokio::select! {
        () = stop.asked() => return Ok(CommandEnding::Done),
        source = WatchedList::connect(request, context) => source?,
    };
    if is_drawn {
        context.output.text(ENTER)?;
    }
    let watched = show_changes(&mut view, &mut source, request, (&mut stop, &mut *context)).await;
    if is_drawn {
        context.output.text(LEAVE)?;
    }
    watched.map(|()| CommandEnding::Done)
}

async fn show_changes(
    view: &mut WatchView,
    source: &mut WatchedList,
    request: &ListRequest,
    (stop, context): (&mut StopSignals, &mut Context),
) -> Result<()> {
    let mut resized = signal(SignalKind::window_change()).map_err(signal_error)?;
    while !context.output.is_reader_gone() {
        view.show(source, context)?;
        tokio::select! {
            () = stop.asked() => return Ok(()),
            _ = resized.recv() => {}
            changed = source.changed(request, context) => changed?,
        }
    }
    Ok(())
}

/// Waits for SIGINT (Ctrl-C), for SIGTERM, or until the reader closes standard output.
struct StopSignals {
    interrupts: Interrupts,
    ended: Signal,
}

impl StopSignals {
    fn new() -> Result<Self> {
        let ended = signal(SignalKind::terminate()).map_err(signal_error)?;
        Ok(Self { interrupts: Interrupts::take()?, ended })
    }

    async fn asked(&mut self) {
        tokio::select! {
            () = self.interrupts.next() => {}
            _ = self.ended.recv() => {}
            () = wiring::reader_gone() => {}
        }
    }
}

fn signal_error(error: std::io::Error) -> Error {
    Error::internal("cannot handle signals").caused_by(error)
}

/// Reads the list from the daemon, and waits for changes.
struct WatchedList {
    client: Client,
    events: EventStream,
    list: SessionList,
    /// An event that `list` does not contain yet. It is stored here, because `changed` can be
    /// cancelled after the event and before the list was read.
    news: Option<ListChange>,
    /// The daemon has ended. `list` is as it was before.
    is_lost: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ListChange {
    Event,
    DaemonEnded,
}

impl WatchedList {
    async fn connect(request: &ListRequest, context: &Context) -> Result<Self> {
        Self::with(Client::connect(&context.local).await?, request, context).await
    }

    async fn with(client: Client, request: &ListRequest, context: &Context) -> Result<Self> {
        // A connection that streams events cannot carry other requests. The stream begins before
        // the list is read, so that no change is missed.
        let events = Client::connect(&context.local).await?.follow_from_now().await?;
        let list = client.list(request).await?;
        Ok(Self { client, events, list, news: None, is_lost: false })
    }

    /// Waits for an event and reads the list again. After the end of the daemon, waits for the next
    /// daemon and starts none: the user may have stopped the daemon on purpose.
    async fn changed(&mut self, request: &ListRequest, context: &Context) -> Result<()> {
        if self.is_lost {
            let client = Client::when_running(&context.local).await?;
            *self = Self::with(client, request, context).await?;
            return Ok(());
        }
        if self.news.is_none() {
            // Many events at once need only one redraw.
            let is_connected = matches!(self.events.next_burst().await, Some(Ok(())));
            self.news =
                Some(if is_connected { ListChange::Event } else { ListChange::DaemonEnded });
        }
        let list = match self.news {
            Some(ListChange::DaemonEnded) => Err(Error::unavailable("the daemon ended")),
            _ => self.client.list(request).await,
        };
        match list {
            Ok(list) => self.list = list,
            Err(error) if error.kind == Kind::Unavailable => self.is_lost = true,
            // The last session of a requested fleet may have been removed meanwhile.
            Err(error) if error.kind == Kind::NotFound => {
                self.list = SessionList { sessions: Vec::new(), hidden: 0, next: None };
            }
            Err(error) => return Err(error),
        }
        self.news = None;
        Ok(())
    }
}

/// How the list is shown.
enum WatchView {
    /// Redraws the whole list in place, on a terminal.
    Screen,
    /// Prints a line for each session that has changed.
    Lines(PrintedList),
}

/// The sessions and the state of the daemon as they were last printed.
#[derive(Default)]
struct PrintedList {
    sessions: BTreeMap<SessionId, SessionView>,
    daemon: Option<WatchedDaemon>,
}

/// Whether the list is current, as `--json` prints it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
enum WatchedDaemon {
    Running,
    /// The list is as it was when the daemon ended.
    Ended,
}

impl WatchView {
    fn show(&mut self, source: &WatchedList, context: &mut Context) -> Result<()> {
        match self {
            Self::Screen => draw(source, context),
            Self::Lines(printed) => {
                print_changes(&mut printed.sessions, &source.list, context)?;
                print_daemon(&mut printed.daemon, source.is_lost, context)
            }
        }
    }
}

fn draw(WatchedList { list, is_lost, .. }: &WatchedList, context: &mut Context) -> Result<()> {
    let size = Size::of_output().unwrap_or(Size { rows: 24, columns: 80 });
    let display = context.display_now();
    let text = table(&list.sessions, display).render(context.output.colour(), Some(size.columns));
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    let mut footer = Vec::new();
    if list.sessions.is_empty() {
        footer.push("no sessions".to_owned());
    }
    if list.hidden > 0 {
        footer.push(hidden(list.hidden));
    }
    if *is_lost {
        footer.push("the daemon has ended: any other command starts it again".to_owned());
    }
    // The last row stays empty: a full last row would scroll the screen.
    let room = size.rows.saturating_sub(footer.len() + 2);
    if lines.len() > room + 1 {
        footer.insert(0, format!("… {} more", lines.len() - room));
        lines.truncate(room);
    }
    lines.extend(footer.iter().map(|line| shortened(line, size.columns, CutPlace::End)));
    let lines = lines.join(&format!("{REST_OF_LINE}\r\n"));
    context.output.text(&format!("{HOME}{lines}{REST_OF_LINE}{REST_OF_SCREEN}"))
}

/// A session that is not in the list any more, as `--json` prints it.
#[derive(Serialize)]
struct GoneSession<'a> {
    session: SessionId,
    name: &'a str,
    fleet: &'a str,
    address: &'a str,
    outcome: &'static str,
}

fn print_changes(
    known: &mut BTreeMap<SessionId, SessionView>,
    list: &SessionList,
    context: &mut Context,
) -> Result<()> {
    let now: BTreeMap<SessionId, SessionView> =
        list.sessions.iter().map(|it| (it.session, it.clone())).collect();
    for session in list.sessions.iter().filter(|it| known.get(&it.session) != Some(it)) {
        if context.wants_json() {
            context.output.json(&ListedSession::new(session))?;
        } else {
            let home = context.display().home;
            let words = [
                address(session),
                session.vendor.to_string(),
                status(session),
                place(&session.cwd, home),
            ];
            context.output.text(&format!("{}\n", one_line(&words.join("  "))))?;
        }
    }
    for gone in known.values().filter(|it| !now.contains_key(&it.session)) {
        if context.wants_json() {
            let (name, fleet) = (gone.name.as_str(), gone.fleet.as_str());
            let (session, address) = (gone.session, gone.address.as_str());
            let gone = GoneSession { session, name, fleet, address, outcome: "gone" };
            context.output.json(&gone)?;
        } else {
            context.output.text(&format!("{}  gone\n", address(gone)))?;
        }
    }
    *known = now;
    Ok(())
}

/// The state of the daemon, as `--json` prints it.
#[derive(Serialize)]
struct DaemonLine {
    daemon: WatchedDaemon,
}

/// Prints the state of the daemon if it has changed. People who read lines have no use for it.
fn print_daemon(
    printed: &mut Option<WatchedDaemon>,
    is_lost: bool,
    context: &mut Context,
) -> Result<()> {
    let daemon = if is_lost { WatchedDaemon::Ended } else { WatchedDaemon::Running };
    if context.wants_json() && *printed != Some(daemon) {
        context.output.json(&DaemonLine { daemon })?;
    }
    *printed = Some(daemon);
    Ok(())
}
