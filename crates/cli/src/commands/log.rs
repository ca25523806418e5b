//! `segue log`

use std::collections::HashMap;

use clap::Args;
use segue_core::model::{Event, SessionId};
use segue_core::{Error, Result};
use segue_server::client::Client;

use crate::context::{Context, Ending};
use crate::progress;
use crate::render::plain::one_line;
use crate::render::sessions::address;
use crate::render::style::{Colour, Tone};
use crate::render::time::moment;

const PAGE: u32 = 1000;
/// The width of the longest word for what happened.
const KIND: usize = 20;

/// Show what happened: events, and bindings with their evidence
#[derive(Debug, Args)]
#[command(after_help = "With --json each event is one line.\n\n\
    Examples:\n  segue log coder\n  segue log --follow")]
pub(crate) struct Arguments {
    /// Only what happened to this session
    #[arg(value_name = "SESSION")]
    pub(crate) session: Option<String>,

    /// Go on with what happens from now on
    #[arg(long, short)]
    pub(crate) follow: bool,
}

pub(crate) async fn run(arguments: &Arguments, context: &mut Context) -> Result<Ending> {
    let client = progress::connect(context).await?;
    let session = match &arguments.session {
        Some(session) => Some(client.session(session, context.cwd()).await?.id),
        None => None,
    };
    let mut log = Log { client, names: HashMap::new(), last: 0 };
    log.show_past(session, context).await?;
    if arguments.follow {
        log.follow(session, context).await?;
    }
    Ok(Ending::Done)
}

/// The log as far as it was shown.
struct Log {
    client: Client,
    names: HashMap<SessionId, String>,
    last: i64,
}

impl Log {
    async fn show_past(&mut self, session: Option<SessionId>, context: &mut Context) -> Result<()> {
        loop {
            let events = self.client.events(session, self.last, PAGE).await?;
            for event in &events {
                self.show(event, context).await?;
            }
            if events.is_empty() || context.output.reader_gone() {
                return Ok(());
            }
        }
    }

    async fn follow(&mut self, session: Option<SessionId>, context: &mut Context) -> Result<()> {
        // A connection that follows can be asked nothing else.
        let follower = progress::connect(context).await?;
        let mut events = follower.follow(session, self.last).await?;
        while let Some(event) = events.next().await {
            self.show(&event?, context).await?;
            if context.output.reader_gone() {
                return Ok(());
            }
        }
        Err(Error::unavailable("the daemon ended: there is nobody left to follow")
            .hint("run the same command again to go on"))
    }

    async fn show(&mut self, event: &Event, context: &mut Context) -> Result<()> {
        self.last = event.seq;
        if context.wants_json() {
            return context.output.json(event);
        }
        let name = self.name(event.fact.session).await?;
        let widest = self.names.values().map(String::len).max().unwrap_or(0);
        let line = line(event, &name, widest, context.output.colour());
        context.output.text(&line)
    }

    /// Returns the address of a session; a session that is gone is shown by its id.
    async fn name(&mut self, session: Option<SessionId>) -> Result<String> {
        let Some(id) = session else { return Ok("-".to_owned()) };
        if !self.names.contains_key(&id) {
            let known = self.client.sessions().await?.sessions;
            self.names.extend(known.iter().map(|session| (session.id, address(session))));
            self.names.entry(id).or_insert_with(|| id.to_string());
        }
        Ok(self.names.get(&id).cloned().unwrap_or_default())
    }
}

fn line(event: &Event, name: &str, widest: usize, colour: Colour) -> String {
    let fact = &event.fact;
    format!(
        "{}  {}  {:KIND$}  {}\n",
        colour.paint(Tone::Faint, &moment(fact.at)),
        colour.paint(Tone::Strong, &format!("{name:widest$}")),
        fact.kind.word().replace('_', " "),
        one_line(&fact.text),
    )
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_event_is_one_line() {
        let event: Event = serde_json::from_value(json!({
            "seq": 7, "at": "2026-01-02T03:11:12.5Z",
            "session": "0198f9d2-0000-7000-8000-000000000001", "launch": null,
            "kind": "bound", "text": "is conversation `abc`\u{1b}[31m (stream)\nof demo",
        }))
        .unwrap();
        assert_eq!(
            line(&event, "shop/coder", 12, Colour::Off),
            "2026-01-02 03:11:12Z  shop/coder    bound                 \
             is conversation `abc` (stream) of demo\n",
        );
    }
}
