//! What a session's turns tell about its account, and the session that goes ahead of the others.

use std::time::Duration;

use segue_core::Result;
use segue_core::model::{FailureClass, LaunchId, Status};

use super::super::accounts::{Account, Scout, Wish};
use super::{Actor, Message};

/// How long the others wait for the first word of the one that went ahead: a service refuses an
/// account at once, and an answer may take for ever.
const LISTENS: Duration = Duration::from_secs(5);

/// How long the others wait for the one that went ahead to come up at all.
const COMES_UP: Duration = Duration::from_secs(30);

/// What the actor has to do with its account.
#[derive(Debug)]
pub(super) struct Standing {
    /// Who asked for what is started next.
    pub(super) wish: Wish,
    /// It went ahead, and others may wait for what comes of it.
    scout: Option<Scout>,
    /// The launch whose word was passed on, and why its turn failed.
    told: Option<(LaunchId, Option<FailureClass>)>,
}

impl Standing {
    pub(super) fn new(wish: Wish) -> Self {
        Self { wish, scout: None, told: None }
    }
}

impl Actor {
    pub(super) fn account(&self) -> Account {
        let session = &self.state.session;
        Account { vendor: session.vendor.clone(), config_dir: session.config_dir.clone() }
    }

    /// Waits until the account lets this session start.
    pub(super) async fn enter_account(&mut self, goes_ahead: bool) -> Result<()> {
        // A launch that went ahead is over, or there would be none to start: nobody waits for itself.
        self.standing.scout = None;
        let (account, wish) = (self.account(), self.standing.wish);
        let accounts = &self.supervisor.accounts;
        if goes_ahead || accounts.is_held(&account) {
            self.standing.scout = accounts.enter(&account, wish).await?;
        }
        Ok(())
    }

    /// Refuses to start when the account was refused since this session was let in.
    pub(super) fn check_account(&mut self) -> Result<()> {
        if self.standing.scout.is_some() {
            return Ok(());
        }
        let checked = self.supervisor.accounts.check(&self.account(), self.standing.wish);
        checked.inspect_err(|_| self.passes.clear())
    }

    /// Expects the launch that went ahead to come up within reason.
    pub(super) fn expect_scout(&self, launch: LaunchId) {
        if self.standing.scout.is_some() {
            self.tell_later(COMES_UP, Message::HeardNothing { launch });
        }
    }

    /// Listens for a while to what the launch that went ahead has to say.
    pub(super) fn listen_to_scout(&self, launch: LaunchId) {
        if self.standing.scout.is_some() {
            self.tell_later(LISTENS, Message::HeardNothing { launch });
        }
    }

    pub(super) fn heard_nothing(&mut self, launch: LaunchId) {
        if self.state.open().is_some_and(|open| open.id == launch) {
            self.standing.scout.take().into_iter().for_each(Scout::heard_nothing);
        }
    }

    /// Passes on what is new about the account.
    pub(super) fn note_account(&mut self) {
        let launch = self.state.launches.last().map(|launch| launch.id);
        match (&self.state.turn, launch) {
            (Some(turn), Some(launch)) => {
                let word = Some((launch, turn.failure.as_ref().map(|failure| failure.class)));
                let known = turn.ok || turn.failure.is_some();
                if known && self.standing.told != word {
                    self.standing.told = word;
                    self.supervisor.accounts.note(&self.account(), turn.failure.as_ref());
                    self.standing.scout = None;
                }
            }
            _ => self.standing.told = None,
        }
        self.come_back();
    }

    /// A launch that is over, or was given nothing to do, has nothing more to say.
    fn come_back(&mut self) {
        let Some(open) = self.state.open() else {
            self.standing.scout = None;
            return;
        };
        let rests = match self.state.session.status {
            Status::Idle => open.message.is_none() && self.state.is_confirmed(open.id),
            // A person's answer may take for ever.
            Status::Waiting(_) => true,
            _ => false,
        };
        if rests {
            self.heard_nothing(open.id);
        }
    }
}
