//! Hands a conversation over to another vendor. [`handoff`] reads as the list of its steps:
//!
//! 1. A repeated request finishes what its first attempt recorded ([`retry`]).
//! 2. Find the [`target`] and the [`source`] that the request names, and plan the handoff. A dry run
//!    ends here. An impossible handoff is rejected here, before anything has changed.
//! 3. Claim the sessions ([`claims`]): a session takes part in at most one handoff at a time.
//! 4. End the old agent after its turn ([`end_agent`]), and read its conversation again, including
//!    that turn.
//! 5. Transfer the conversation ([`transfer`]), in a task of its own:
//!    1. End a process of the target's earlier session of the conversation, if there is one.
//!    2. In the target's own format ([`native`]): gather the turns, clean and redact them, write
//!       them, record session, binding and step in one commit, start the target, and confirm that
//!       it has the history. If it has not, undo the write.
//!    3. Otherwise send a digest as one message, or start without a message if the conversation is
//!       empty ([`fall_back`]).
//!
//! [`changed_vendor`] begins with step 3, because the project file names source and target.
//! [`start_target`] asks the actor of the target's session. The steps that need no actor are in
//! [`segue_core::flows::handoff`], the decisions in [`segue_core::rules::handoff`].
//!
//! Calls go only downwards in this list: this module, `changed_vendor`, `retry`, `target`, `source`,
//! `transfer`, `native`, `fall_back`, `start_target`, `claims`, `end_agent`.
//!
//! # Crashes and repeated requests
//!
//! - Before the commit, the old session has the conversation. At most these remain: a file that
//!   belongs to no session, or turns in the target's earlier session that the next attempt does not
//!   add again.
//! - After the commit, the target's session is in the store, and a resume starts it.
//! - The commit also records the step of the request. If the client repeats the request, a new
//!   daemon finds that step, so a request hands a conversation over at most once.
//! - If a native transfer fails after its commit, the digest goes to the recorded session.

mod changed_vendor;
mod claims;
mod end_agent;
mod fall_back;
mod native;
mod retry;
mod source;
mod start_target;
mod target;
mod transfer;

use std::sync::Arc;

use segue_core::api::{DryRun, HandoffReport, HandoffRequest};
use segue_core::flows::handoff::{self, HandoffOptions, HandoffPlan};
use segue_core::model::{Principal, RequestKey};
use segue_core::rules::handoff::check_budget;
use segue_core::rules::scope::RestrictedAction;
use segue_core::{Error, Result};

use super::Supervisor;
use crate::blocking::blocking;

pub(super) use self::changed_vendor::{ChangedVendor, hand_over_to_changed_vendor};
pub(super) use self::claims::HandoffClaims;
pub(super) use self::end_agent::end_agent;

/// Hands a conversation over. A dry run only reports what would be handed over.
pub(crate) async fn handoff(
    supervisor: &Arc<Supervisor>,
    principal: &Principal,
    key: Option<RequestKey>,
    request: HandoffRequest,
) -> Result<HandoffReport> {
    principal.allow(RestrictedAction::Everything)?;
    if let Some(report) = retry::finish_earlier_attempt(supervisor, key, &request).await? {
        return Ok(report);
    }
    check_budget(request.budget)?;
    let ports = &supervisor.ports;
    let target = target::find(supervisor, &request).await?;
    let source = source::find(supervisor, principal, &request).await?;
    let options = options(&request, key);
    let plan = HandoffPlan::new(ports, source.clone(), target.clone(), options.clone()).await?;
    if request.dry_run != DryRun::No {
        return preview(supervisor, plan, request.dry_run).await;
    }
    plan.check(ports).await?;
    let claim = supervisor.handoff_claims.claim(plan.sessions())?;
    let source = source.adopted(ports).await?;
    let address = source.session.address();
    let rest = async {
        end_agent(supervisor, source.session.id, request.interrupt).await?;
        let source = source::read_again(supervisor, source).await?;
        let plan = HandoffPlan::new(ports, source, target, options).await?;
        transfer::transfer(supervisor, plan, claim).await
    };
    rest.await.map_err(|error| with_resume_hint(error, &address))
}

fn options(request: &HandoffRequest, key: Option<RequestKey>) -> HandoffOptions {
    let HandoffRequest { mode, name, budget, .. } = request;
    HandoffOptions { mode: *mode, name: name.clone(), budget: *budget, request: key }
}

/// Reports exactly what the vendor would get, and changes nothing.
async fn preview(
    supervisor: &Arc<Supervisor>,
    plan: HandoffPlan,
    dry_run: DryRun,
) -> Result<HandoffReport> {
    let ports = supervisor.ports.clone();
    let target = plan.target_session(&ports).await?;
    let method = plan.method(&ports, &target)?;
    blocking(move || handoff::preview(&ports, &plan, &target, (method, dry_run))).await
}

/// Adds the command with which the old agent continues. The old agent may have been ended.
fn with_resume_hint(error: Error, address: &str) -> Error {
    let hint = format!("run `segue resume {address} --stopped` to go on as before");
    if error.hints.contains(&hint) { error } else { error.hint(hint) }
}
