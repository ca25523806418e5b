//! The permission to start an agent: its account must admit the start, and the start must pass its
//! gates.

use segue_core::Result;
use segue_core::ports::{FirstTurn, Pace, Place};

use super::accounts::{Account, Accounts, Scout, StartTrigger};
use super::gate::{GateKey, GatePermit, Gates};

/// A start that needs permission.
#[derive(Clone, Debug)]
pub(crate) struct AdmissionRequest {
    pub(crate) account: Account,
    pub(crate) trigger: StartTrigger,
    pub(crate) first_turn: FirstTurn,
    pub(crate) pace: Pace,
    /// The place of the conversation if the vendor chooses its id. Only one session at a time may
    /// start there.
    pub(crate) finding: Option<Place>,
}

/// The permission to start. It is returned when dropped.
#[derive(Debug)]
pub(crate) struct StartPermits {
    pub(crate) gates: Vec<GatePermit>,
    /// `Some` if this session has to try the account before the others.
    pub(crate) scout: Option<Scout>,
    /// Whether the folder of the session's worktree was made again for this start.
    pub(crate) worktree_was_gone: bool,
}

/// Waits until a start is permitted. Dropping the future returns the permits that it has. Fails if
/// the account is refused.
pub(crate) async fn admit(
    gates: &Gates,
    accounts: &Accounts,
    request: AdmissionRequest,
) -> Result<StartPermits> {
    let AdmissionRequest { account, trigger, first_turn, pace, finding } = request;
    let scout = match first_turn == FirstTurn::ShowsAccount || accounts.is_refused(&account) {
        true => accounts.enter(&account, trigger).await?,
        false => None,
    };
    let mut gates_passed = Vec::new();
    gates_passed.extend(gates.enter(GateKey::Account(account.clone()), pace).await);
    if let Some(place) = finding {
        let key = GateKey::Finding { vendor: account.vendor.clone(), place };
        gates_passed.extend(gates.enter(key, Pace { at_once: 1, first_alone: false }).await);
    }
    // The service may have refused the account while this start waited. The scout is exempt: it
    // tries a refused account on purpose.
    if scout.is_none() {
        accounts.check(&account, trigger)?;
    }
    Ok(StartPermits { gates: gates_passed, scout, worktree_was_gone: false })
}

#[cfg(test)]
mod tests {
    use std::pin::pin;
    use std::task::{Context, Poll, Waker};

    use segue_core::model::{Failure, FailureClass, VendorId};
    use segue_core::rules::accounts::StartRequester;

    use super::*;

    fn request(finding: Option<Place>) -> AdmissionRequest {
        AdmissionRequest {
            account: Account { vendor: VendorId::new("tool"), config_dir: "/home".into() },
            trigger: StartTrigger::now(StartRequester::One),
            first_turn: FirstTurn::ShowsNothing,
            pace: Pace { at_once: 2, first_alone: false },
            finding,
        }
    }

    fn place() -> Place {
        Place { config_dir: "/home".into(), cwd: "/work".into() }
    }

    fn poll<F: Future>(future: std::pin::Pin<&mut F>) -> Poll<F::Output> {
        future.poll(&mut Context::from_waker(Waker::noop()))
    }

    #[tokio::test]
    async fn dropped_wait_returns_the_permits_that_it_has() {
        let (gates, accounts) = (Gates::default(), Accounts::default());
        let first = admit(&gates, &accounts, request(Some(place()))).await.unwrap();
        {
            // Has the second permit of the account, and waits for the place.
            let mut waiting = pin!(admit(&gates, &accounts, request(Some(place()))));
            assert!(poll(waiting.as_mut()).is_pending());
            let mut third = pin!(admit(&gates, &accounts, request(None)));
            assert!(poll(third.as_mut()).is_pending());
        }
        let third = admit(&gates, &accounts, request(None)).await.unwrap();
        assert_eq!((first.gates.len(), third.gates.len()), (2, 1));
    }

    #[tokio::test]
    async fn start_that_waits_is_refused_if_the_account_is_refused_meanwhile() {
        let (gates, accounts) = (Gates::default(), Accounts::default());
        let first = admit(&gates, &accounts, request(Some(place()))).await.unwrap();
        let mut waiting = pin!(admit(&gates, &accounts, request(Some(place()))));
        assert!(poll(waiting.as_mut()).is_pending());
        let (class, message) = (FailureClass::Account, "401".to_owned());
        let refusal = Failure { class, message, resets_at: None };
        accounts.note(&request(None).account, Some(&refusal));
        drop(first);
        let error = waiting.await.unwrap_err().to_string();
        assert!(error.contains("refuses the account"), "{error}");
    }
}
