//! Accounts: after the service has refused one agent of an account, the other agents of that
//! account are not started.
//!
//! This state is in memory only, and losing it is harmless. A session that was not started because
//! of its account stays ended: no restart is scheduled for it, and no holder keeps its environment.
//! So a new daemon starts none of these sessions by itself. If a user asks the new daemon to start
//! them, the state of the account is unknown again, and one session tries the account first.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use segue_core::model::{Failure, VendorId};
use segue_core::rules::accounts::{self, AccountStatus, Admission, Since, StartRequester};
use segue_core::{Error, Result};
use tokio::sync::watch;
use tokio::time::Instant;

/// A vendor's account on this machine.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Account {
    pub(crate) vendor: VendorId,
    pub(crate) config_dir: PathBuf,
}

/// Who requested a start, and when.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StartTrigger {
    pub(crate) requester: StartRequester,
    pub(crate) at: Instant,
}

impl StartTrigger {
    pub(crate) fn now(requester: StartRequester) -> Self {
        Self { requester, at: Instant::now() }
    }
}

/// The known state of one account.
#[derive(Debug, Default)]
struct AccountRecord {
    status: AccountStatus,
    /// When and why the service refused the account last.
    refusal: Option<(Instant, Failure)>,
    /// The number of the scout that tries the account now.
    scout: Option<u64>,
    /// How many scouts there were. Each has its own number.
    scouts: u64,
}

impl AccountRecord {
    fn admission(&self, trigger: StartTrigger) -> Admission {
        let scout = match self.scout {
            Some(_) => accounts::ScoutState::Running,
            None => accounts::ScoutState::None,
        };
        let since = match &self.refusal {
            Some((at, _)) if trigger.at > *at => Since::AfterRefusal,
            _ => Since::BeforeRefusal,
        };
        accounts::admit(self.status, scout, trigger.requester, since)
    }

    fn send_scout(&mut self) -> u64 {
        self.scouts += 1;
        *self.scout.insert(self.scouts)
    }

    fn end_scouting(&mut self, status: AccountStatus) {
        self.status = status;
        self.scout = None;
    }
}

/// The role of the session that tries the account before the others start. If it is dropped without
/// a result, the next session becomes the scout.
#[derive(Debug)]
pub(crate) struct Scout {
    account: Arc<watch::Sender<AccountRecord>>,
    number: u64,
}

impl Scout {
    /// Ends the role of scout, because the service did not refuse the account. The sessions that wait
    /// for the scout start.
    pub(crate) fn finish(self) {
        self.account.send_if_modified(|known| {
            let is_out = known.scout == Some(self.number);
            if is_out {
                known.end_scouting(AccountStatus::Accepted);
            }
            is_out
        });
    }
}

impl Drop for Scout {
    fn drop(&mut self) {
        self.account.send_if_modified(|known| {
            let is_out = known.scout == Some(self.number);
            if is_out {
                known.scout = None;
            }
            is_out
        });
    }
}

/// All accounts that were used since the daemon started.
#[derive(Debug, Default)]
pub(crate) struct Accounts(Mutex<HashMap<Account, Arc<watch::Sender<AccountRecord>>>>);

impl Accounts {
    /// Waits until this start is admitted. Returns a `Scout` if this session has to try the account
    /// first. Fails if the account is refused.
    pub(crate) async fn enter(
        &self,
        account: &Account,
        trigger: StartTrigger,
    ) -> Result<Option<Scout>> {
        let known = self.known(account);
        let mut changes = known.subscribe();
        loop {
            match admit(&known, trigger) {
                (Admission::Enter, _) => return Ok(None),
                (Admission::EnterAsScout, number) => {
                    return Ok(Some(Scout { account: Arc::clone(&known), number }));
                }
                (Admission::Hold, _) => return Err(refused(account, &known.borrow())),
                // `known` keeps the sender alive, so this cannot fail.
                (Admission::WaitForScout, _) => drop(changes.changed().await),
            }
        }
    }

    /// Waits until the service accepts the account. Never returns if no agent uses it.
    pub(crate) async fn accepted(&self, account: &Account) {
        let known = self.known(account);
        let is_accepted = |known: &AccountRecord| known.status == AccountStatus::Accepted;
        // `known` keeps the sender alive, so this cannot fail.
        drop(known.subscribe().wait_for(is_accepted).await);
    }

    /// Fails if the account was refused after this start was admitted.
    pub(crate) fn check(&self, account: &Account, trigger: StartTrigger) -> Result<()> {
        let known = self.known(account);
        let known = known.borrow();
        match known.admission(trigger) {
            Admission::Hold => Err(refused(account, &known)),
            _ => Ok(()),
        }
    }

    /// Returns whether the service has refused the account and has not accepted it since.
    pub(crate) fn is_refused(&self, account: &Account) -> bool {
        self.known(account).borrow().status == AccountStatus::Refused
    }

    /// Updates the status of the account from the result of a turn.
    pub(crate) fn note(&self, account: &Account, failure: Option<&Failure>) {
        let Some(status) = accounts::status_shown_by(failure) else { return };
        self.known(account).send_modify(|known| {
            known.refusal = failure
                .filter(|_| status == AccountStatus::Refused)
                .map(|failure| (Instant::now(), failure.clone()));
            known.end_scouting(status);
        });
    }

    fn known(&self, account: &Account) -> Arc<watch::Sender<AccountRecord>> {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(all.entry(account.clone()).or_insert_with(|| Arc::new(watch::Sender::default())))
    }
}

/// Decides about a start. If the start becomes the scout, that is recorded atomically with the
/// decision.
fn admit(known: &watch::Sender<AccountRecord>, trigger: StartTrigger) -> (Admission, u64) {
    let mut decided = (Admission::Hold, 0);
    known.send_if_modified(|known| {
        decided.0 = known.admission(trigger);
        if decided.0 == Admission::EnterAsScout {
            decided.1 = known.send_scout();
        }
        // Waiting sessions need no notification that a scout was sent.
        false
    });
    decided
}

fn refused(account: &Account, known: &AccountRecord) -> Error {
    let Account { vendor, config_dir } = account;
    let error = Error::vendor(format!(
        "not started: the service of `{vendor}` refuses the account in `{}`",
        config_dir.display()
    ));
    let error = match &known.refusal {
        Some((_, failure)) => error.caused_by(&failure.message).hint(failure.class.advice()),
        None => error,
    };
    error.hint("then run the command again: one agent tries it first")
}

#[cfg(test)]
mod tests {

    use segue_core::model::FailureClass;

    use super::*;

    fn account() -> Account {
        Account { vendor: VendorId::new("tool"), config_dir: "/home".into() }
    }

    fn refusal() -> Failure {
        let message = "401".to_owned();
        Failure { class: FailureClass::Account, message, resets_at: None }
    }

    #[tokio::test]
    async fn others_wait_for_the_scout_and_are_refused_if_it_is_refused() {
        let accounts = Accounts::default();
        let trigger = StartTrigger::now(StartRequester::Many);
        let scout = accounts.enter(&account(), trigger).await.unwrap();
        assert!(scout.is_some());
        let account = account();
        let second = accounts.enter(&account, trigger);
        tokio::pin!(second);
        let waits = tokio::time::timeout(std::time::Duration::ZERO, &mut second).await;
        assert!(waits.is_err(), "the second session did not wait");
        accounts.note(&account, Some(&refusal()));
        let error = second.await.unwrap_err().to_string();
        assert!(error.contains("`tool`") && error.contains("/home"), "{error}");
        accounts.check(&account, trigger).unwrap_err();
        let again = accounts.enter(&account, StartTrigger::now(StartRequester::One)).await.unwrap();
        assert!(again.is_some(), "no session tries the account again");
        accounts.note(&account, None);
        assert!(accounts.enter(&account, trigger).await.unwrap().is_none());
    }

    #[tokio::test]
    async fn next_session_becomes_the_scout_after_a_scout_is_dropped() {
        let accounts = Accounts::default();
        let trigger = StartTrigger::now(StartRequester::Many);
        drop(accounts.enter(&account(), trigger).await.unwrap());
        let second = accounts.enter(&account(), trigger).await.unwrap().unwrap();
        second.finish();
        assert!(accounts.enter(&account(), trigger).await.unwrap().is_none());
    }
}
