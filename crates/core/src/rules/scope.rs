//! What a principal may do. The user may do everything. An agent may act only on its own session and
//! its child sessions. A token allows what its scopes contain.

use std::path::Path;

use uuid::Uuid;

use crate::error::{Error, Kind, Result};
use crate::model::{
    AccessToken, AccessTokenKind, Permission, PermissionEffect, Principal, RequestId, RequestKey,
    Session, SessionId, TokenScope, VendorDescription, VendorId, WaitingFor,
};

/// An action that an agent may not take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RestrictedAction {
    Attach,
    /// Watching a terminal through the daemon.
    WatchTerminal,
    /// Typing into a terminal through the daemon.
    ControlTerminal,
    /// Answering a dialog in place of a person. What an agent may answer is decided by
    /// [`Principal::allow_answer`].
    Answer,
    Remove,
    /// Renaming a session. People know sessions by their names.
    Rename,
    /// Running a command of a vendor's program.
    RunCommand,
    /// Changing the model or the permission of a session.
    Configure,
    Trust,
    Repair,
    Adopt,
    StopDaemon,
    /// Reading the events of all sessions.
    ReadAll,
    /// Making a worktree for a new session, or changing one.
    MakeWorktree,
    /// An action on all sessions or on a whole fleet.
    Everything,
    /// Adding or changing a task.
    Tasks,
    ReadTasks,
    /// Changing where the daemon listens, or who has a token.
    Network,
    /// Removing everything that is old.
    Sweep,
}

/// What a caller needs to use a route.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RouteRight {
    /// A token of this scope, or a process of the user. The route may ask for more.
    Scope(TokenScope),
    /// A process on this machine: the answer is about that process, or of no use elsewhere.
    Local,
    /// Nothing that Segue gives away: the route itself checks who has sent the request.
    Signed,
    /// Nothing: the route shows nothing, or checks a code.
    Public,
    /// The login of a browser, whatever it allows: the route is about that login.
    Browser,
}

/// A request for a route.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RouteUse {
    pub right: RouteRight,
    /// Whether the route shows nothing but the sessions that its caller may reach.
    pub is_shareable: bool,
    /// The session that the path names.
    pub session: Option<SessionId>,
}

const SHARED: &str = "this link shows one session, and nothing else";

const ARGUMENTS: &str = "give arguments to the vendor's program";

const OTHER_SESSION: &str = "reach a session that is neither its own nor its child";

impl Principal {
    /// Returns an error if an agent requests an action that only a person may take.
    pub fn allow(&self, action: RestrictedAction) -> Result<()> {
        match self {
            Self::User => Ok(()),
            Self::Agent(session) => Err(refusal(session, description_of(action))),
            Self::Token(token)
                if token.only_session.is_some() && action != RestrictedAction::WatchTerminal =>
            {
                Err(Error::new(Kind::Forbidden, SHARED))
            }
            Self::Token(token) => require(token, scope_for(action), description_of(action)),
        }
    }

    /// Returns an error if a token may not use a route.
    pub fn allow_route(&self, route: RouteUse) -> Result<()> {
        let Self::Token(token) = self else { return Ok(()) };
        let is_shared = route.is_shareable || route.right == RouteRight::Browser;
        let is_other = |own| route.session.is_some_and(|session| session != own);
        if token.only_session.is_some_and(|own| !is_shared || is_other(own)) {
            return Err(Error::new(Kind::Forbidden, SHARED));
        }
        match route.right {
            RouteRight::Scope(scope) => require(token, scope, "do this"),
            RouteRight::Browser if token.kind != AccessTokenKind::Browser => {
                Err(Error::new(Kind::Forbidden, "only a browser that has logged in may do this"))
            }
            RouteRight::Local => {
                Err(Error::new(Kind::Forbidden, "only a program on this machine may do this")
                    .hint("run `segue` on the machine of the daemon"))
            }
            _ => Ok(()),
        }
    }

    /// Returns an error if an agent accesses a session other than its own and its children. The
    /// scope of a token is checked by [`Self::allow_route`].
    pub fn allow_session(&self, id: SessionId, parent: Option<SessionId>) -> Result<()> {
        match self {
            Self::Agent(own) if own.id != id && parent != Some(own.id) => {
                Err(refusal(own, OTHER_SESSION))
            }
            Self::Token(token) if token.only_session.is_some_and(|own| own != id) => {
                Err(Error::new(Kind::Forbidden, SHARED))
            }
            Self::User | Self::Agent(_) | Self::Token(_) => Ok(()),
        }
    }

    /// Returns an error if an agent interrupts a turn that is not of its child.
    pub fn allow_interrupt(&self, id: SessionId, parent: Option<SessionId>) -> Result<()> {
        self.allow_session(id, parent)?;
        match self {
            Self::Agent(own) if own.id == id => Err(refusal(own, "interrupt its own turn")),
            Self::User | Self::Agent(_) | Self::Token(_) => Ok(()),
        }
    }

    /// Returns an error if the caller may not answer a question of a session. An agent may answer its
    /// children: plain questions, and questions for a permission if it needs no permission itself.
    /// Else it could allow a child what it may not do. `asked` is the question that the answer names;
    /// `None` if the session does not ask it now.
    pub fn allow_answer(
        &self,
        (id, parent): (SessionId, Option<SessionId>),
        asked: Option<WaitingFor>,
    ) -> Result<()> {
        let Self::Agent(own) = self else { return self.allow(RestrictedAction::Answer) };
        self.allow_session(id, parent)?;
        if own.id == id {
            return Err(refusal(own, "answer its own questions"));
        }
        match asked {
            Some(WaitingFor::Question) => Ok(()),
            Some(WaitingFor::Permission) if own.permission == Permission::Auto => Ok(()),
            Some(WaitingFor::Permission) => {
                Err(refusal(own, "give a permission that it does not have itself"))
            }
            Some(WaitingFor::Trust | WaitingFor::Environment | WaitingFor::Choice) => {
                Err(refusal(own, description_of(RestrictedAction::Answer)))
            }
            None => Err(Error::conflict("the session does not ask this question now")
                .hint("look at its status, and name the id of the question that it asks")),
        }
    }

    /// Returns the only session that a token reaches. `None` for all other callers.
    pub fn only_session(&self) -> Option<SessionId> {
        match self {
            Self::Token(token) => token.only_session,
            Self::User | Self::Agent(_) => None,
        }
    }

    /// Returns the error for an address that leads to no session. An agent does not learn whether
    /// another session has that name.
    pub fn unknown_session(&self, unknown: Error) -> Error {
        match self {
            Self::User | Self::Token(_) => unknown,
            Self::Agent(own) => refusal(own, OTHER_SESSION),
        }
    }

    /// Returns the permission for a new session: never looser than the calling agent's own.
    pub fn permission(&self, wanted: Option<Permission>) -> Result<Permission> {
        match self {
            Self::User => Ok(wanted.unwrap_or(Permission::Ask)),
            Self::Agent(own) if wanted.is_some_and(|wanted| wanted > own.permission) => {
                Err(refusal(own, "start an agent with a looser permission than its own")
                    .hint(format!("leave out --permission, or use `{}`", own.permission.word())))
            }
            Self::Agent(own) => Ok(wanted.unwrap_or(Permission::Ask).min(own.permission)),
            Self::Token(token) => {
                let wanted = wanted.unwrap_or(Permission::Ask);
                let is_loose = wanted > Permission::Ask;
                let scope = if is_loose { TokenScope::Admin } else { TokenScope::Work };
                require(token, scope, "start an agent that acts without asking").map(|()| wanted)
            }
        }
    }

    /// Returns an error if an agent passes arguments to a vendor's program. They could loosen its
    /// limits.
    pub fn allow_arguments(&self, arguments: &[String]) -> Result<()> {
        match self {
            Self::Agent(own) if !arguments.is_empty() => Err(refusal(own, ARGUMENTS)),
            Self::Token(token) if !arguments.is_empty() => {
                require(token, TokenScope::Admin, ARGUMENTS)
            }
            _ => Ok(()),
        }
    }

    /// Returns an error if an agent with limits starts an agent of the project file that has
    /// arguments of its own. A person trusted these arguments, but not for every caller.
    pub fn allow_project_arguments(&self, arguments: &[String]) -> Result<()> {
        match self {
            Self::Agent(own) if own.permission < Permission::Auto && !arguments.is_empty() => {
                Err(refusal(own, ARGUMENTS))
            }
            _ => Ok(()),
        }
    }

    /// Returns an error if an agent starts another agent outside its own folder, where it may have
    /// no rights itself. `folder` must not contain symlinks.
    pub fn allow_folder(&self, folder: &Path) -> Result<()> {
        match self {
            Self::Agent(own) if !folder.starts_with(&own.cwd) => {
                Err(refusal(own, "start an agent outside its own folder")
                    .hint(format!("or use `--cwd` with a folder in `{}`", own.cwd.display())))
            }
            _ => Ok(()),
        }
    }

    /// Returns an error if an agent with limits starts an agent of another vendor on which
    /// permissions have no effect.
    pub fn allow_vendor(
        &self,
        (vendor, description): (&VendorId, Option<&VendorDescription>),
        effect: PermissionEffect,
    ) -> Result<()> {
        match self {
            Self::Agent(own)
                if effect == PermissionEffect::Nothing
                    && own.permission < Permission::Auto
                    && (&own.vendor, own.description.as_ref()) != (vendor, description) =>
            {
                Err(refusal(own, "start an agent whose vendor has no permissions"))
            }
            _ => Ok(()),
        }
    }

    /// Returns the key of a request of this caller. Two callers that use the same id do not share a
    /// request.
    pub fn request_key(&self, id: RequestId) -> RequestKey {
        let id = match self {
            Self::User | Self::Agent(_) => id,
            Self::Token(token) => {
                let mixed = id.uuid().as_u128() ^ token.id.uuid().as_u128();
                RequestId::new(Uuid::from_u128(mixed))
            }
        };
        RequestKey { caller: self.parent(), id }
    }

    /// Returns the parent of a new session: the calling agent's session. `None` for a person.
    pub fn parent(&self) -> Option<SessionId> {
        match self {
            Self::User | Self::Token(_) => None,
            Self::Agent(own) => Some(own.id),
        }
    }
}

fn description_of(action: RestrictedAction) -> &'static str {
    match action {
        RestrictedAction::Attach => "attach to a terminal, where it could answer for a person",
        RestrictedAction::WatchTerminal => "watch a terminal",
        RestrictedAction::ControlTerminal => "type into a terminal",
        RestrictedAction::Answer => "answer a question that was put to a person",
        RestrictedAction::Remove => "remove a session",
        RestrictedAction::Rename => "rename a session",
        RestrictedAction::RunCommand => "run commands of a program",
        RestrictedAction::Configure => "change the settings of a session",
        RestrictedAction::Trust => "trust a project file",
        RestrictedAction::Repair => "repair the store",
        RestrictedAction::Adopt => "adopt a conversation",
        RestrictedAction::StopDaemon => "stop the daemon",
        RestrictedAction::ReadAll => "read the events of all sessions",
        RestrictedAction::MakeWorktree => "make or change a worktree",
        RestrictedAction::Everything => "act on sessions that are not its own",
        RestrictedAction::Tasks | RestrictedAction::ReadTasks => "use tasks",
        RestrictedAction::Network => "change where the daemon listens, or who has a token",
        RestrictedAction::Sweep => "remove old worktrees, clones and copies",
    }
}

/// Returns the scope that a token needs for an action.
fn scope_for(action: RestrictedAction) -> TokenScope {
    match action {
        RestrictedAction::ReadAll
        | RestrictedAction::ReadTasks
        | RestrictedAction::WatchTerminal => TokenScope::Read,
        RestrictedAction::Answer
        | RestrictedAction::ControlTerminal
        | RestrictedAction::RunCommand => TokenScope::Send,
        RestrictedAction::Everything
        | RestrictedAction::Rename
        | RestrictedAction::Configure
        | RestrictedAction::MakeWorktree
        | RestrictedAction::Tasks => TokenScope::Work,
        RestrictedAction::Attach
        | RestrictedAction::Remove
        | RestrictedAction::Trust
        | RestrictedAction::Repair
        | RestrictedAction::Adopt
        | RestrictedAction::StopDaemon
        | RestrictedAction::Network
        | RestrictedAction::Sweep => TokenScope::Admin,
    }
}

fn require(token: &AccessToken, scope: TokenScope, what: &str) -> Result<()> {
    if token.scopes.contains(&scope) || token.scopes.contains(&TokenScope::Admin) {
        return Ok(());
    }
    Err(Error::new(Kind::Forbidden, format!("the token `{}` may not {what}", token.name))
        .hint(format!("use a token with the scope `{}`", scope.word())))
}

fn refusal(session: &Session, what: &str) -> Error {
    Error::usage(format!("an agent may not {what}"))
        .caused_by(format!("this command was called from inside `{}`", session.address()))
        .hint("run it in a terminal of your own")
}

#[cfg(test)]
mod tests;
