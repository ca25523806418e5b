//! Whether the user who caused an event may start work.

use crate::model::{AllowedActors, DispatchRule, ForgeEvent, ForgeUser, TriggerKind};

/// What is known about the actor of an event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ActorCheck {
    Allowed,
    /// The forge has to say whether this user may push commits.
    NeedsPermission(ForgeUser),
    /// The text is the reason.
    Refused(String),
}

/// Decides whether the actor of an event may start the work of a rule. `account` is the account of
/// the source's token.
///
/// The account itself and programs never start work: two agents that answer each other would never
/// stop. The actor of a CI run is the user who pushed, often the account itself. So a CI run is
/// allowed here, and the caller checks that the run is about the branch of an agent.
pub fn check_actor(
    rule: &DispatchRule,
    event: &ForgeEvent,
    account: Option<&ForgeUser>,
) -> ActorCheck {
    if matches!(event.trigger, TriggerKind::CiFailed | TriggerKind::CiSucceeded) {
        return ActorCheck::Allowed;
    }
    let Some(actor) = &event.actor else {
        // Segue itself found the assignment. Only people with write access can assign an issue.
        let is_allowed = event.trigger == TriggerKind::IssueAssigned
            && !matches!(rule.who, AllowedActors::Listed(_));
        if is_allowed {
            return ActorCheck::Allowed;
        }
        return ActorCheck::Refused("the forge does not name who caused the event".to_owned());
    };
    if account.is_some_and(|account| account.is_same(actor)) {
        return ActorCheck::Refused(format!("`{}` is the account of Segue itself", actor.login));
    }
    if actor.is_bot() {
        return ActorCheck::Refused(format!("`{}` is a program", actor.login));
    }
    match &rule.who {
        AllowedActors::Anyone => ActorCheck::Allowed,
        AllowedActors::Write => ActorCheck::NeedsPermission(actor.clone()),
        AllowedActors::Listed(logins) => {
            match logins.iter().any(|login| login.eq_ignore_ascii_case(&actor.login)) {
                true => ActorCheck::Allowed,
                false => ActorCheck::Refused(format!("`who` does not list `{}`", actor.login)),
            }
        }
    }
}
