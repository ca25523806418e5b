//! Why the store rejects a commit.

use std::path::{Path, PathBuf};

use crate::error::Error;
use crate::model::{
    BranchName, DeliveryId, Fleet, FleetName, LaunchId, MessageId, MessageState, PlanId, PlanName,
    ReplyId, RequestId, SessionId, SessionName, TaskId, TaskKey, TaskStateKind, TokenId, VendorId,
    VendorSessionId, WorktreeId,
};

/// The stored data that a commit contradicts. The store writes no part of the commit. Sessions are
/// named by their addresses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Conflict {
    /// Another session of the fleet has this name.
    NameTaken {
        fleet: FleetName,
        name: SessionName,
    },
    SessionIdTaken {
        id: SessionId,
        owner: String,
    },
    /// A session that has a launch without a recorded end cannot be removed.
    SessionIsOpen {
        session: String,
    },
    /// A session has at most one launch without a recorded end.
    SecondOpenLaunch {
        session: String,
    },
    LaunchIdTaken {
        id: LaunchId,
    },
    LaunchHasEnded {
        id: LaunchId,
        session: String,
    },
    LaunchOfAnotherSession {
        id: LaunchId,
        owner: String,
        session: String,
    },
    /// Another session is or was bound to this conversation.
    ConversationTaken {
        vendor: VendorId,
        id: VendorSessionId,
        owner: String,
    },
    /// A fleet belongs to one folder.
    FleetOfAnotherFolder {
        known: Fleet,
        wanted: Fleet,
    },
    /// The message has a final state already.
    MessageIsSettled {
        id: MessageId,
        state: MessageState,
    },
    /// The report of a task to its parent was sent already.
    ChildReportSent {
        message: MessageId,
    },
    /// A worktree has this path already.
    WorktreePathTaken {
        path: PathBuf,
    },
    /// A worktree has this port already.
    WorktreePortTaken {
        port: u16,
    },
    /// Another session works in the worktree.
    WorktreeLeased {
        branch: BranchName,
        owner: String,
    },
    /// The session works in another worktree already.
    SecondWorktree {
        session: String,
    },
    /// A key stands for one task.
    TaskKeyTaken {
        key: TaskKey,
        owner: TaskId,
    },
    /// Another request has changed the state of the task.
    TaskHasMoved {
        id: TaskId,
        state: TaskStateKind,
    },
    /// Another request has changed the plan.
    PlanHasMoved {
        name: PlanName,
    },
    /// The session has as many children as it may have.
    TooManyChildren {
        session: String,
        limit: u32,
    },
    /// The plan is paused or cancelled: none of its tasks starts.
    PlanIsHeld {
        name: PlanName,
    },
    /// The reports of this source are counted already.
    UsageIsCounted {
        session: String,
    },
    /// Each token has a name of its own.
    TokenNameTaken {
        name: String,
    },
    /// The forge has sent the delivery before.
    DeliveryKnown {
        id: DeliveryId,
    },
    /// The request has recorded this step already.
    RequestRepeated {
        id: RequestId,
    },
}

impl From<Conflict> for Error {
    fn from(conflict: Conflict) -> Self {
        let mut error = explain(&conflict);
        error.conflict = Some(Box::new(conflict));
        error
    }
}

#[expect(clippy::too_many_lines, reason = "one arm per conflict")]
fn explain(conflict: &Conflict) -> Error {
    match conflict {
        Conflict::NameTaken { fleet, name } => name_taken(fleet, name),
        Conflict::SessionIdTaken { id, owner } => {
            Error::conflict(format!("the session id `{id}` belongs to `{owner}`"))
                .hint("run `segue ls --all` to see all sessions")
        }
        Conflict::SessionIsOpen { session } => {
            Error::conflict(format!("session `{session}` has a live launch"))
                .hint(format!("run `segue stop {session}` first"))
        }
        Conflict::SecondOpenLaunch { session } => Error::conflict(format!(
            "session `{session}` has a live launch already"
        ))
        .hint(format!("run `segue attach {session}` to see it, or `segue stop {session}` first")),
        Conflict::LaunchIdTaken { id } => Error::conflict(format!("the launch id `{id}` is taken"))
            .hint("run `segue log` to see what was launched"),
        Conflict::LaunchHasEnded { id, session } => {
            Error::conflict(format!("launch `{id}` of `{session}` has ended"))
                .hint(format!("run `segue log {session}` to see how"))
        }
        Conflict::LaunchOfAnotherSession { id, owner, session } => {
            Error::conflict(format!("launch `{id}` belongs to `{owner}`, not to `{session}`"))
                .hint(format!("run `segue log {owner}` to see its launches"))
        }
        Conflict::ConversationTaken { vendor, id, owner } => Error::conflict(format!(
            "the {vendor} conversation `{id}` belongs to session `{owner}`"
        ))
        .hint(format!("run `segue log {owner}` to see since when")),
        Conflict::FleetOfAnotherFolder { known, wanted } => fleet_taken(known, wanted),
        Conflict::MessageIsSettled { id, state } => {
            Error::conflict(format!("message `{id}` is {} already", state.word()))
                .hint("run `segue messages` to see all messages")
        }
        Conflict::ChildReportSent { message } => report_sent(*message),
        Conflict::WorktreePathTaken { path } => worktree_path_taken(path),
        Conflict::WorktreePortTaken { port } => {
            Error::conflict(format!("another worktree has port {port}"))
                .hint("run the command again")
        }
        Conflict::WorktreeLeased { branch, owner } => worktree_leased(branch, owner),
        Conflict::SecondWorktree { session } => {
            Error::conflict(format!("session `{session}` works in another worktree"))
                .hint("run `segue worktree ls` to see all worktrees")
        }
        Conflict::TaskKeyTaken { key, owner } => {
            Error::conflict(format!("task `{owner}` has the key `{key}` already"))
                .hint(format!("run `segue task show {owner}` to see it"))
        }
        Conflict::TaskHasMoved { id, state } => {
            Error::conflict(format!("task `{id}` is {} meanwhile", state.word()))
                .hint(format!("run `segue task show {id}` to see it"))
        }
        Conflict::PlanHasMoved { name } => {
            Error::conflict(format!("another request has changed plan `{name}`"))
                .hint("run the command again")
        }
        Conflict::TooManyChildren { session, limit } => {
            Error::conflict(format!("`{session}` has {limit} children that are queued or run"))
                .hint("wait until one of them has ended")
        }
        Conflict::PlanIsHeld { name } => {
            Error::conflict(format!("plan `{name}` is paused or cancelled"))
                .hint(format!("run `segue plan resume {name}` first"))
        }
        Conflict::UsageIsCounted { session } => usage_is_counted(session),
        Conflict::TokenNameTaken { name } => token_name_taken(name),
        Conflict::DeliveryKnown { id } => {
            Error::conflict(format!("the delivery was received before, as `{id}`"))
                .hint(format!("run `segue deliveries show {id}` to see it"))
        }
        Conflict::RequestRepeated { id } => {
            Error::conflict(format!("request `{id}` was carried out already"))
                .hint("run `segue log` to see what was done")
        }
    }
}

fn worktree_path_taken(path: &Path) -> Error {
    Error::conflict(format!("there is a worktree at `{}` already", path.display()))
        .hint("run `segue worktree ls` to see all worktrees")
}

fn token_name_taken(name: &str) -> Error {
    Error::conflict(format!("there is a token with the name `{name}`"))
        .hint("use another name")
        .hint(format!("run `segue token revoke {name}` if it is not needed any more"))
}

fn usage_is_counted(session: &str) -> Error {
    Error::conflict(format!("this usage of `{session}` is counted already"))
        .hint("run `segue usage` to see it")
}

fn name_taken(fleet: &FleetName, name: &SessionName) -> Error {
    Error::conflict(format!("the name `{name}` is taken in fleet `{fleet}`"))
        .hint("choose another name with `--name NAME`")
        .hint(format!("run `segue resume {fleet}/{name}` to go on with the session that has it"))
}

fn worktree_leased(branch: &BranchName, owner: &str) -> Error {
    Error::conflict(format!("session `{owner}` works in the worktree of branch `{branch}`"))
        .hint(format!("run `segue resume {owner}` to go on with that session"))
        .hint("use another branch with `--worktree BRANCH`")
        .hint(format!("run `segue rm {owner}` if that session is not needed any more"))
}

fn report_sent(message: MessageId) -> Error {
    Error::conflict(format!("the report with message `{message}` was sent already"))
        .hint("run `segue messages` to see all messages")
}

fn fleet_taken(known: &Fleet, wanted: &Fleet) -> Error {
    let owner = |fleet: &Fleet| match &fleet.folder {
        Some(folder) => format!("the folder `{}`", folder.display()),
        None => "sessions outside any project".to_owned(),
    };
    Error::conflict(format!("the fleet name `{}` is taken by {}", known.name, owner(known)))
        .caused_by(format!("it cannot also be the fleet of {}", owner(wanted)))
        .hint("give this folder's fleet another name: `segue up --fleet NAME`")
}

/// An object that a commit refers to although it is not stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Missing {
    Session(SessionId),
    Launch(LaunchId),
    Message(MessageId),
    Worktree(WorktreeId),
    Task(TaskId),
    Plan(PlanId),
    Token(TokenId),
    Delivery(DeliveryId),
    Reply(ReplyId),
}

impl From<Missing> for Error {
    fn from(missing: Missing) -> Self {
        match missing {
            Missing::Session(id) => Self::not_found(format!("no session has the id `{id}`"))
                .hint("run `segue ls --all` to see all sessions"),
            Missing::Launch(id) => Self::not_found(format!("no launch has the id `{id}`"))
                .hint("run `segue ls --all` to see all sessions"),
            Missing::Plan(id) => Self::not_found(format!("no plan has the id `{id}`"))
                .hint("run `segue plan ls` to see all plans"),
            Missing::Task(id) => Self::not_found(format!("no task has the id `{id}`"))
                .hint("run `segue task ls --all` to see all tasks"),
            Missing::Message(id) => Self::not_found(format!("no message has the id `{id}`"))
                .hint("run `segue messages` to see all messages"),
            Missing::Token(id) => Self::not_found(format!("no token has the id `{id}`"))
                .hint("run `segue token ls` to see all tokens"),
            Missing::Delivery(id) => Self::not_found(format!("no delivery has the id `{id}`"))
                .hint("run `segue deliveries ls` to see all deliveries"),
            Missing::Reply(id) => Self::not_found(format!("no reply has the id `{id}`"))
                .hint("run `segue log` to see what happened"),
            Missing::Worktree(id) => Self::not_found(format!("no worktree has the id `{id}`"))
                .hint("run `segue worktree ls` to see all worktrees"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Kind;

    #[test]
    fn error_of_a_conflict_keeps_the_conflict_and_its_kind() {
        let fleet = FleetName::parse("shop").unwrap();
        let name = SessionName::parse("coder").unwrap();
        let conflict = Conflict::NameTaken { fleet, name };
        let error = Error::from(conflict.clone());
        assert_eq!(error.kind, Kind::Conflict);
        assert_eq!(error.message, "the name `coder` is taken in fleet `shop`");
        assert_eq!(error.conflict.as_deref(), Some(&conflict));
    }
}
