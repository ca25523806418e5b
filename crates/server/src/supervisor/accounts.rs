//! Accounts: after one agent was refused by its service the others of its account are not started.
//!
//! All of this is in memory only, and nothing is lost with it: a session that is held is left ended,
//! with nothing planned and no holder that keeps its environment, so that a new daemon starts none of
//! them by itself. What a person asks it for finds the account unknown, and one goes ahead again.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use segue_core::model::{Failure, VendorId};
use segue_core::rules::accounts::{self, Admission, Since, Standing, Wanted};
use segue_core::{Error, Result};
use tokio::sync::watch;
use tokio::time::Instant;

/// A vendor's account on this machine.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Account {
    pub(crate) vendor: VendorId,
    pub(crate) config_dir: PathBuf,
}

/// Who wants a start, and since when.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wish {
    pub(crate) wanted: Wanted,
    pub(crate) at: Instant,
}

impl Wish {
    pub(crate) fn now(wanted: Wanted) -> Self {
        Self { wanted, at: Instant::now() }
    }
}

/// What is known about one account.
#[derive(Debug, Default)]
struct Known {
    standing: Standing,
    refusal: Option<(Instant, Failure)>,
    /// Which of the scouts is out; each has a number of its own.
    scout: Option<u64>,
    scouts: u64,
}

impl Known {
    fn admission(&self, wish: Wish) -> Admission {
        let scout = match self.scout {
            Some(_) => accounts::Scout::Out,
            None => accounts::Scout::None,
        };
        let since = match &self.refusal {
            Some((at, _)) if wish.at > *at => Since::AfterRefusal,
            _ => Since::BeforeRefusal,
        };
        accounts::admit(self.standing, scout, wish.wanted, since)
    }

    fn send_scout(&mut self) -> u64 {
        self.scouts += 1;
        *self.scout.insert(self.scouts)
    }

    fn settle(&mut self, standing: Standing) {
        self.standing = standing;
        self.scout = None;
    }
}

/// The one that goes ahead; without a word from it the next one is sent when it is dropped.
#[derive(Debug)]
pub(crate) struct Scout {
    account: Arc<watch::Sender<Known>>,
    number: u64,
}

impl Scout {
    /// Says that nothing was said against the account: the others may come.
    pub(crate) fn heard_nothing(self) {
        self.account.send_if_modified(|known| {
            let is_out = known.scout == Some(self.number);
            if is_out {
                known.settle(Standing::Open);
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

/// All accounts that were used.
#[derive(Debug, Default)]
pub(crate) struct Accounts(Mutex<HashMap<Account, Arc<watch::Sender<Known>>>>);

impl Accounts {
    /// Waits until it is known whether this start may begin; returns whether it is the one that goes
    /// ahead.
    pub(crate) async fn enter(&self, account: &Account, wish: Wish) -> Result<Option<Scout>> {
        let known = self.known(account);
        let mut changes = known.subscribe();
        loop {
            match admit(&known, wish) {
                (Admission::Enter, _) => return Ok(None),
                (Admission::EnterAsScout, number) => {
                    return Ok(Some(Scout { account: Arc::clone(&known), number }));
                }
                (Admission::Hold, _) => return Err(held(account, &known.borrow())),
                // Whoever can change it is kept alive by `known`.
                (Admission::WaitForScout, _) => drop(changes.changed().await),
            }
        }
    }

    /// Refuses what was let in before the account was refused.
    pub(crate) fn check(&self, account: &Account, wish: Wish) -> Result<()> {
        let known = self.known(account);
        let known = known.borrow();
        match known.admission(wish) {
            Admission::Hold => Err(held(account, &known)),
            _ => Ok(()),
        }
    }

    /// Tells whether the last word of the service was that it does not take the account.
    pub(crate) fn is_held(&self, account: &Account) -> bool {
        self.known(account).borrow().standing == Standing::Refused
    }

    /// Notes what the end of a turn tells about the account.
    pub(crate) fn note(&self, account: &Account, failure: Option<&Failure>) {
        let Some(standing) = accounts::told_by(failure) else { return };
        self.known(account).send_modify(|known| {
            known.refusal = failure
                .filter(|_| standing == Standing::Refused)
                .map(|failure| (Instant::now(), failure.clone()));
            known.settle(standing);
        });
    }

    fn known(&self, account: &Account) -> Arc<watch::Sender<Known>> {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(all.entry(account.clone()).or_insert_with(|| Arc::new(watch::Sender::default())))
    }
}

/// Decides about a start, and sends it ahead in the same moment if that is what it is to do.
fn admit(known: &watch::Sender<Known>, wish: Wish) -> (Admission, u64) {
    let mut decided = (Admission::Hold, 0);
    known.send_if_modified(|known| {
        decided.0 = known.admission(wish);
        let goes_ahead = decided.0 == Admission::EnterAsScout;
        if goes_ahead {
            decided.1 = known.send_scout();
        }
        // Nobody waits for somebody to leave.
        false
    });
    decided
}

fn held(account: &Account, known: &Known) -> Error {
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
    async fn the_others_wait_for_the_scout_and_are_held_with_it() {
        let accounts = Accounts::default();
        let wish = Wish::now(Wanted::Many);
        let scout = accounts.enter(&account(), wish).await.unwrap();
        assert!(scout.is_some());
        let account = account();
        let second = accounts.enter(&account, wish);
        tokio::pin!(second);
        let waits = tokio::time::timeout(std::time::Duration::ZERO, &mut second).await;
        assert!(waits.is_err(), "the second did not wait");
        accounts.note(&account, Some(&refusal()));
        let error = second.await.unwrap_err().to_string();
        assert!(error.contains("`tool`") && error.contains("/home"), "{error}");
        accounts.check(&account, wish).unwrap_err();
        let again = accounts.enter(&account, Wish::now(Wanted::One)).await.unwrap();
        assert!(again.is_some(), "nobody tries it again");
        accounts.note(&account, None);
        assert!(accounts.enter(&account, wish).await.unwrap().is_none());
    }

    #[tokio::test]
    async fn a_scout_that_never_came_up_is_followed_by_another_one() {
        let accounts = Accounts::default();
        let wish = Wish::now(Wanted::Many);
        drop(accounts.enter(&account(), wish).await.unwrap());
        let second = accounts.enter(&account(), wish).await.unwrap().unwrap();
        second.heard_nothing();
        assert!(accounts.enter(&account(), wish).await.unwrap().is_none());
    }
}
