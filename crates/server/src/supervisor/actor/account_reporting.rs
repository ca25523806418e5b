//! Reports the results of a session's turns to its account, and tracks whether this session is the
//! scout. The scout is the session that tries an account before the others start.

use std::time::Duration;

use segue_core::model::{FailureClass, LaunchId, Status};

use super::super::accounts::{Account, Scout, StartTrigger};
use super::{Actor, SessionTimeout};

/// How long the other sessions wait for the result of the scout's first turn. A service refuses an
/// account within this time, but an answer can take longer.
const REFUSAL_TIMEOUT: Duration = Duration::from_secs(5);

/// How long the other sessions wait until the scout's process has proven its conversation.
const SCOUT_START_TIMEOUT: Duration = Duration::from_secs(30);

/// The actor's view of its account.
#[derive(Debug)]
pub(super) struct AccountReporting {
    /// Who requested the next start, and when.
    pub(super) trigger: StartTrigger,
    /// `Some` while this session is the scout. Other sessions may wait for its result.
    pub(super) scout: Option<Scout>,
    /// The last result that was reported to the account: the launch, and the class of its failure
    /// if its turn failed.
    reported: Option<(LaunchId, Option<FailureClass>)>,
}

impl AccountReporting {
    pub(super) fn new(trigger: StartTrigger) -> Self {
        Self { trigger, scout: None, reported: None }
    }
}

impl Actor {
    pub(super) fn account(&self) -> Account {
        let session = &self.state.session;
        Account { vendor: session.vendor.clone(), config_dir: session.config_dir.clone() }
    }

    /// Starts the timeout after which the other sessions no longer wait for the start of the scout.
    pub(super) fn limit_scout_start(&self, launch: LaunchId) {
        if self.account_reporting.scout.is_some() {
            self.send_later(SCOUT_START_TIMEOUT, SessionTimeout::ScoutTimeout { launch });
        }
    }

    /// Starts the timeout after which the other sessions no longer wait for the result of the
    /// scout's first turn.
    pub(super) fn limit_scout_turn(&self, launch: LaunchId) {
        if self.account_reporting.scout.is_some() {
            self.send_later(REFUSAL_TIMEOUT, SessionTimeout::ScoutTimeout { launch });
        }
    }

    /// Ends the role of scout, if this launch has it. The sessions that wait for the scout start.
    pub(super) fn end_scouting(&mut self, launch: LaunchId) {
        if self.is_open(launch) {
            self.account_reporting.scout.take().into_iter().for_each(Scout::finish);
        }
    }

    /// Reports the result of the newest turn to the account, once per result.
    pub(super) fn report_to_account(&mut self) {
        let launch = self.state.launches.last().map(|launch| launch.id);
        match (&self.state.turn, launch) {
            (Some(turn), Some(launch)) => {
                let result = Some((launch, turn.failure.as_ref().map(|failure| failure.class)));
                let is_known = turn.ok || turn.failure.is_some();
                if is_known && self.account_reporting.reported != result {
                    self.account_reporting.reported = result;
                    self.supervisor.accounts.note(&self.account(), turn.failure.as_ref());
                    self.account_reporting.scout = None;
                }
            }
            _ => self.account_reporting.reported = None,
        }
        self.end_scouting_without_result();
    }

    /// Ends the role of scout if no result is to be expected: the launch has ended, it was started
    /// without a message, or it waits for a person.
    fn end_scouting_without_result(&mut self) {
        let Some(open) = self.state.open() else {
            self.account_reporting.scout = None;
            return;
        };
        let expects_none = match self.state.session.status {
            Status::Idle => open.message.is_none() && self.state.is_confirmed(open.id),
            // A person may never answer.
            Status::Waiting(_) => true,
            _ => false,
        };
        if expects_none {
            self.end_scouting(open.id);
        }
    }
}
