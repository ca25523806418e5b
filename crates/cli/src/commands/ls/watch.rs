//! `segue ls --watch`: the list as it changes.

use std::collections::BTreeMap;

use segue_core::api::{ListRequest, SessionList, SessionView};
use segue_core::model::SessionId;
use segue_core::{Error, Kind, Result};
use segue_server::client::{Client, EventStream};
use segue_server::wiring::Size;
use serde::Serialize;
use tokio::signal::unix::{Signal, SignalKind, signal};

use super::hidden;
use crate::context::{Context, Ending};
use crate::progress::Interrupts;
use crate::render::plain::one_line;
use crate::render::sessions::{address, place, status, table};
use crate::render::table::{Cut, shortened};

/// The alternate screen without a cursor, and back: the user's own screen stays as it was.
const ENTER: &str = "\u{1b}[?1049h\u{1b}[?25l";
const LEAVE: &str = "\u{1b}[?25h\u{1b}[?1049l";
/// Begins a new picture without a moment in which nothing is shown.
const HOME: &str = "\u{1b}[H";
const REST_OF_LINE: &str = "\u{1b}[K";
const REST_OF_SCREEN: &str = "\u{1b}[J";

/// Shows the list whenever something happens, until its person has seen enough.
pub(super) async fn watch(request: &ListRequest, context: &mut Context) -> Result<Ending> {
    let mut stop = Stop::new()?;
    let is_drawn = Size::of_output().is_some() && !context.wants_json();
    let mut view = if is_drawn { View::Screen } else { View::Lines(BTreeMap::new()) };
    // What is wrong with the request is reported before the screen changes.
    let mut source = tokio::select! {
        () = stop.asked() => return Ok(Ending::Done),
        source = Source::connect(request, context) => source?,
    };
    if is_drawn {
        context.output.text(ENTER)?;
    }
    let watched = show_changes(&mut view, &mut source, request, (&mut stop, &mut *context)).await;
    if is_drawn {
        context.output.text(LEAVE)?;
    }
    watched.map(|()| Ending::Done)
}

async fn show_changes(
    view: &mut View,
    source: &mut Source,
    request: &ListRequest,
    (stop, context): (&mut Stop, &mut Context),
) -> Result<()> {
    let mut resized = signal(SignalKind::window_change()).map_err(no_signals)?;
    while !context.output.reader_gone() {
        view.show(source, context)?;
        tokio::select! {
            () = stop.asked() => return Ok(()),
            _ = resized.recv() => {}
            changed = source.changed(request, context) => changed?,
        }
    }
    Ok(())
}

/// Ctrl-C, or the request to end.
struct Stop {
    interrupts: Interrupts,
    ended: Signal,
}

impl Stop {
    fn new() -> Result<Self> {
        let ended = signal(SignalKind::terminate()).map_err(no_signals)?;
        Ok(Self { interrupts: Interrupts::take()?, ended })
    }

    async fn asked(&mut self) {
        tokio::select! {
            () = self.interrupts.next() => {}
            _ = self.ended.recv() => {}
        }
    }
}

fn no_signals(error: std::io::Error) -> Error {
    Error::internal("cannot notice signals").caused_by(error)
}

/// Where the list comes from.
struct Source {
    client: Client,
    events: EventStream,
    list: SessionList,
    /// What has happened since the list was read. Reading it can be interrupted.
    news: Option<News>,
    /// No daemon answers: the list is as it was.
    is_lost: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum News {
    Event,
    DaemonEnded,
}

impl Source {
    async fn connect(request: &ListRequest, context: &Context) -> Result<Self> {
        Self::with(Client::connect(&context.local).await?, request, context).await
    }

    async fn with(client: Client, request: &ListRequest, context: &Context) -> Result<Self> {
        // A connection that follows can be asked nothing else. It follows before the first look,
        // so that no change is missed.
        let events = Client::connect(&context.local).await?.follow_from_now().await?;
        let list = client.list(request).await?;
        Ok(Self { client, events, list, news: None, is_lost: false })
    }

    /// Returns when something has happened, with the list as it is then. If the daemon ends, this
    /// waits for the next one and starts none: a person may have stopped the daemon on purpose.
    async fn changed(&mut self, request: &ListRequest, context: &Context) -> Result<()> {
        if self.is_lost {
            let client = Client::when_running(&context.local).await?;
            *self = Self::with(client, request, context).await?;
            return Ok(());
        }
        if self.news.is_none() {
            // Of many events at once only the last one is worth a picture.
            let is_connected = matches!(self.events.next_burst().await, Some(Ok(())));
            self.news = Some(if is_connected { News::Event } else { News::DaemonEnded });
        }
        let list = match self.news {
            Some(News::DaemonEnded) => Err(Error::unavailable("the daemon ended")),
            _ => self.client.list(request).await,
        };
        match list {
            Ok(list) => self.list = list,
            Err(error) if error.kind == Kind::Unavailable => self.is_lost = true,
            // A fleet may lose its last session meanwhile.
            Err(error) if error.kind == Kind::NotFound => {
                self.list = SessionList { sessions: Vec::new(), hidden: 0 };
            }
            Err(error) => return Err(error),
        }
        self.news = None;
        Ok(())
    }
}

/// How the list is shown.
enum View {
    /// In place, on a terminal.
    Screen,
    /// A line for each session that has changed since this was shown.
    Lines(BTreeMap<SessionId, SessionView>),
}

impl View {
    fn show(&mut self, source: &Source, context: &mut Context) -> Result<()> {
        match self {
            Self::Screen => draw(source, context),
            Self::Lines(known) => tell(known, &source.list, context),
        }
    }
}

fn draw(Source { list, is_lost, .. }: &Source, context: &mut Context) -> Result<()> {
    let size = Size::of_output().unwrap_or(Size { rows: 24, columns: 80 });
    let surroundings = context.surroundings_now();
    let text =
        table(&list.sessions, surroundings).render(context.output.colour(), Some(size.columns));
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    let mut footer = Vec::new();
    if list.sessions.is_empty() {
        footer.push("no sessions".to_owned());
    }
    if list.hidden > 0 {
        footer.push(hidden(list.hidden));
    }
    if *is_lost {
        footer.push("the daemon has ended: any other command starts it".to_owned());
    }
    // The last row stays empty: a full one would move everything up.
    let room = size.rows.saturating_sub(footer.len() + 2);
    if lines.len() > room + 1 {
        footer.insert(0, format!("… {} more", lines.len() - room));
        lines.truncate(room);
    }
    lines.extend(footer.iter().map(|line| shortened(line, size.columns, Cut::End)));
    let lines = lines.join(&format!("{REST_OF_LINE}\r\n"));
    context.output.text(&format!("{HOME}{lines}{REST_OF_LINE}{REST_OF_SCREEN}"))
}

/// A session that is not in the list any more.
#[derive(Serialize)]
struct Gone<'a> {
    session: SessionId,
    name: &'a str,
    fleet: &'a str,
    address: &'a str,
    outcome: &'static str,
}

fn tell(
    known: &mut BTreeMap<SessionId, SessionView>,
    list: &SessionList,
    context: &mut Context,
) -> Result<()> {
    let now: BTreeMap<SessionId, SessionView> =
        list.sessions.iter().map(|it| (it.session, it.clone())).collect();
    for session in list.sessions.iter().filter(|it| known.get(&it.session) != Some(it)) {
        if context.wants_json() {
            context.output.json(session)?;
        } else {
            let home = context.surroundings().home;
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
            let gone = Gone { session, name, fleet, address, outcome: "gone" };
            context.output.json(&gone)?;
        } else {
            context.output.text(&format!("{}  gone\n", address(gone)))?;
        }
    }
    *known = now;
    Ok(())
}
