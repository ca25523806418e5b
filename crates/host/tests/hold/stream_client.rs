//! A client of a terminal stream.

use std::num::NonZeroU16;

use segue_core::model::{LaunchEnd, LaunchId, TerminalSize};
use segue_core::ports::{
    ScrollbackPage, ScrollbackRange, TerminalAccess, TerminalClients, TerminalEvent,
    TerminalStream, Terminals as _,
};
use segue_core::{Error, Result};
use segue_host::hold::LocalTerminals;
use vt100::{Parser, Screen};

use super::fixture::{DEADLINE, HoldFixture};

fn terminals(fixture: &HoldFixture) -> LocalTerminals {
    LocalTerminals::new(fixture.paths.launches())
}

/// A client that draws the events of a stream on a screen.
pub(crate) struct StreamClient {
    pub(crate) stream: Box<dyn TerminalStream>,
    pub(crate) parser: Parser,
    /// The sizes of all snapshots.
    pub(crate) sizes: Vec<TerminalSize>,
    pub(crate) clients: TerminalClients,
    pub(crate) refusals: Vec<Error>,
    pub(crate) end: Option<LaunchEnd>,
    pub(crate) pages: Vec<ScrollbackPage>,
    /// How many bytes of snapshots and output were received.
    pub(crate) bytes: usize,
    /// Whether the stream has ended.
    pub(crate) has_ended: bool,
}

impl StreamClient {
    pub(crate) async fn open(
        fixture: &HoldFixture,
        launch: LaunchId,
        access: TerminalAccess,
    ) -> Self {
        Self::try_open(fixture, launch, access).await.unwrap()
    }

    pub(crate) async fn try_open(
        fixture: &HoldFixture,
        launch: LaunchId,
        access: TerminalAccess,
    ) -> Result<Self> {
        let stream = terminals(fixture).open(launch, access).await?;
        let mut client = Self {
            stream,
            parser: Parser::new(NonZeroU16::MIN, NonZeroU16::MIN, 0),
            sizes: Vec::new(),
            clients: TerminalClients::default(),
            refusals: Vec::new(),
            end: None,
            pages: Vec::new(),
            bytes: 0,
            has_ended: false,
        };
        client.receive().await;
        assert_eq!(client.sizes.len(), 1, "the first event is not a snapshot");
        Ok(client)
    }

    /// Waits for the next event and applies it.
    async fn receive(&mut self) {
        let event = tokio::time::timeout(DEADLINE, self.stream.next()).await.unwrap();
        match event {
            Some(TerminalEvent::Snapshot(snapshot)) => {
                self.sizes.push(snapshot.size);
                let non_zero = |number| NonZeroU16::new(number).unwrap();
                let (rows, cols) = (snapshot.size.rows, snapshot.size.cols);
                self.parser.set_size(non_zero(rows), non_zero(cols));
                self.draw(&snapshot.painted);
            }
            Some(TerminalEvent::Output(bytes)) => self.draw(&bytes),
            Some(TerminalEvent::Uses(_)) => {}
            Some(TerminalEvent::Clients(clients)) => self.clients = clients,
            Some(TerminalEvent::Scrollback(page)) => self.pages.push(page),
            Some(TerminalEvent::Refused(error)) => self.refusals.push(error),
            Some(TerminalEvent::Ended(end)) => self.end = Some(end),
            None => self.has_ended = true,
        }
    }

    fn draw(&mut self, bytes: &[u8]) {
        self.bytes += bytes.len();
        self.parser.process(bytes);
    }

    /// Receives events until the condition holds. Fails with `expected` in its message if the stream
    /// ends.
    pub(crate) async fn wait_for(
        &mut self,
        expected: &str,
        mut condition: impl FnMut(&Self) -> bool,
    ) {
        while !condition(self) {
            assert!(!self.has_ended, "no {expected}: {:#?}", self.rows());
            self.receive().await;
        }
    }

    pub(crate) async fn wait_for_text(&mut self, text: &str) {
        self.wait_for(text, |client| client.screen().contents().contains(text)).await;
    }

    pub(crate) async fn read_page(&mut self, range: ScrollbackRange) -> ScrollbackPage {
        self.stream.scrollback(range).await.unwrap();
        self.wait_for("page", |client| !client.pages.is_empty()).await;
        self.pages.remove(0)
    }

    pub(crate) fn screen(&self) -> &Screen {
        self.parser.screen()
    }

    pub(crate) fn rows(&self) -> Vec<String> {
        let (_, cols) = self.screen().size();
        self.screen().rows(0, cols.get()).map(|row| row.trim_end().to_owned()).collect()
    }

    pub(crate) fn size(&self) -> TerminalSize {
        *self.sizes.last().unwrap()
    }
}
