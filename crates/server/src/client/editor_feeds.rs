//! What an ACP agent follows: the events and the turns of a session.

use std::collections::VecDeque;
use std::ops::ControlFlow;

use async_trait::async_trait;
use segue_acp::{FeedStart, SessionEventFeed, TurnFeed};
use segue_core::model::{Event, SessionId, Turn, VendorSessionId};
use segue_core::ports::EventQuery;
use segue_core::{Error, Result};
use tokio::sync::mpsc;

use super::pool::DAEMON_TIMEOUT;
use super::{Client, EventStream};
use crate::conversation::{ConversationReading, Follower, Numbered};
use crate::wiring::Local;

/// At most this many turns of a replayed conversation are in memory.
const REPLAYED_TURNS: usize = 32;

/// This many of the last replayed turns are remembered, to find what is new behind them.
const LAST_TURNS: usize = 8;

/// The events of a session, also of later daemons.
#[derive(Debug)]
pub(super) struct SessionEvents {
    local: Local,
    session: SessionId,
    /// The sequence number of the last event.
    last: i64,
    stream: Option<EventStream>,
}

impl SessionEvents {
    /// Opens the stream of events from now on.
    pub(super) async fn open(local: &Local, session: SessionId) -> Result<Self> {
        let client = Client::connect_patiently(local, DAEMON_TIMEOUT).await?;
        let newest =
            EventQuery { sessions: vec![session], limit: 1, newest: true, ..EventQuery::default() };
        let newest = client.events(&newest).await?;
        let last = newest.last().map_or(0, |event| event.seq);
        let stream = Some(client.follow(&[session], last).await?.without_checks());
        Ok(Self { local: local.clone(), session, last, stream })
    }

    /// Waits for the next daemon. A daemon that the user has stopped is not started for an editor
    /// that only looks.
    async fn connect(&self) -> Result<EventStream> {
        let client = Client::when_running(&self.local).await?;
        Ok(client.follow(&[self.session], self.last).await?.without_checks())
    }
}

#[async_trait]
impl SessionEventFeed for SessionEvents {
    async fn next(&mut self) -> Result<Event> {
        loop {
            if self.stream.is_none() {
                self.stream = Some(self.connect().await?);
            }
            let Some(stream) = &mut self.stream else { continue };
            if let Some(Ok(event)) = stream.next().await {
                self.last = event.seq;
                return Ok(event);
            }
            self.stream = None;
        }
    }
}

/// The turns of a conversation: those that are there, and those that are added.
#[derive(Debug)]
pub(super) struct ConversationFeed {
    conversation: Option<VendorSessionId>,
    state: FeedState,
}

#[derive(Debug)]
enum FeedState {
    Replaying(StoryReplay),
    Following(Follower),
    /// The conversation cannot be followed any more.
    Ended,
}

/// The turns of conversations, from the first to the last.
#[derive(Debug)]
struct StoryReplay {
    turns: mpsc::Receiver<ReplayedTurn>,
    /// The last conversation, which is followed later.
    reading: ConversationReading,
    /// Its last turns.
    last: VecDeque<Turn>,
}

#[derive(Debug)]
struct ReplayedTurn {
    turn: Turn,
    /// The turn belongs to the last conversation.
    is_own: bool,
}

impl ConversationFeed {
    /// Prepares to read conversations, of which the last is followed.
    pub(super) fn open(mut readings: Vec<ConversationReading>, start: FeedStart) -> Result<Self> {
        let own = readings.last().cloned();
        let own = own.ok_or_else(|| Error::internal("a session has no conversation"))?;
        let conversation = own.vendor_session().cloned();
        let state = match start {
            FeedStart::Story => {
                own.check()?;
                readings.retain(|reading| reading.check().is_ok());
                FeedState::Replaying(replay(readings, own))
            }
            FeedStart::Beginning => FeedState::Following(Follower::after(own, &[])?),
            FeedStart::End => FeedState::Following(Follower::start(own, 0)?.0),
        };
        Ok(Self { conversation, state })
    }
}

/// Starts to read conversations in a thread. It ends when the feed is dropped.
fn replay(readings: Vec<ConversationReading>, own: ConversationReading) -> StoryReplay {
    let (sender, turns) = mpsc::channel(REPLAYED_TURNS);
    std::thread::spawn(move || {
        let count = readings.len();
        for (reading, number) in readings.iter().zip(1..) {
            let is_own = number == count;
            let mut send = |Numbered { turn, .. }: Numbered| match sender
                .blocking_send(ReplayedTurn { turn, is_own })
            {
                Ok(()) => ControlFlow::Continue(()),
                Err(_) => ControlFlow::Break(()),
            };
            // What can be read of a damaged conversation is shown.
            let _damaged = reading.forwards(&mut send);
        }
    });
    StoryReplay { turns, reading: own, last: VecDeque::new() }
}

impl StoryReplay {
    /// Returns the next turns. Empty at the end.
    async fn next(&mut self) -> Vec<Turn> {
        let mut some = Vec::new();
        self.turns.recv_many(&mut some, REPLAYED_TURNS).await;
        for ReplayedTurn { turn, .. } in some.iter().filter(|it| it.is_own) {
            self.last.push_back(turn.clone());
            if self.last.len() > LAST_TURNS {
                self.last.pop_front();
            }
        }
        some.into_iter().map(|it| it.turn).collect()
    }
}

#[async_trait]
impl TurnFeed for ConversationFeed {
    fn conversation(&self) -> Option<VendorSessionId> {
        self.conversation.clone()
    }

    async fn changed(&mut self) -> Result<()> {
        match &mut self.state {
            FeedState::Replaying(_) => Ok(()),
            FeedState::Following(follower) => follower.changed().await,
            FeedState::Ended => std::future::pending().await,
        }
    }

    async fn news(&mut self) -> Result<Vec<Turn>> {
        if let FeedState::Replaying(replay) = &mut self.state {
            let turns = replay.next().await;
            if !turns.is_empty() {
                return Ok(turns);
            }
            let state = std::mem::replace(&mut self.state, FeedState::Ended);
            if let FeedState::Replaying(StoryReplay { reading, last, .. }) = state {
                self.state = FeedState::Following(Follower::after(reading, &Vec::from(last))?);
            }
        }
        match &mut self.state {
            FeedState::Following(follower) => {
                Ok(follower.news()?.turns.into_iter().map(|it| it.turn).collect())
            }
            FeedState::Replaying(_) | FeedState::Ended => Ok(Vec::new()),
        }
    }
}
