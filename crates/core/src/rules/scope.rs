//! What a principal may do. The user may do everything. An agent may act only on its own session and
//! its child sessions. A token allows what its scopes contain.

use std::path::Path;

use uuid::Uuid;

use crate::error::{Error, Kind, Result};
use crate::model::{
    AccessToken, Permission, PermissionEffect, Principal, RequestId, RequestKey, Session,
    SessionId, TokenKind, TokenScope, VendorDescription, VendorId,
};

/// An action that an agent may not take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RestrictedAction {
    Attach,
    /// Watching a terminal through the daemon.
    WatchTerminal,
    /// Typing into a terminal through the daemon.
    ControlTerminal,
    /// Answering a dialog in place of a person.
    Answer,
    Remove,
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
            RouteRight::Browser if token.kind != TokenKind::Browser => {
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
        RestrictedAction::Answer | RestrictedAction::ControlTerminal => TokenScope::Send,
        RestrictedAction::Everything | RestrictedAction::MakeWorktree | RestrictedAction::Tasks => {
            TokenScope::Work
        }
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
mod tests {
    use super::PermissionEffect::{Limits, Nothing};
    use super::*;
    use crate::flows::samples;
    use crate::model::TokenId;

    fn program(scopes: std::collections::BTreeSet<TokenScope>) -> AccessToken {
        let id = TokenId::new(Uuid::from_u128(7));
        let (name, kind) = ("ci".to_owned(), TokenKind::Program);
        AccessToken { id, name, kind, scopes, only_session: None }
    }

    fn agent(permission: Permission) -> Principal {
        let mut session = samples::session(1, "coder");
        session.permission = permission;
        Principal::Agent(Box::new(session))
    }

    #[test]
    fn agent_cannot_start_an_agent_with_a_looser_permission() {
        use Permission::{AcceptEdits, Ask, Auto};
        let table = [
            (Ask, None, Some(Ask)),
            (Ask, Some(Ask), Some(Ask)),
            (Ask, Some(AcceptEdits), None),
            (Ask, Some(Auto), None),
            (AcceptEdits, None, Some(Ask)),
            (AcceptEdits, Some(Auto), None),
            (Auto, Some(Auto), Some(Auto)),
            (Auto, None, Some(Ask)),
        ];
        for (own, wanted, expected) in table {
            assert_eq!(agent(own).permission(wanted).ok(), expected, "{own:?} {wanted:?}");
        }
        assert_eq!(Principal::User.permission(Some(Auto)).ok(), Some(Auto));
    }

    #[test]
    fn arguments_of_the_vendor_cannot_bypass_the_permission() {
        let flag = ["--permission=auto".to_owned()];
        assert!(agent(Permission::Ask).allow_arguments(&flag).is_err());
        assert!(agent(Permission::AcceptEdits).allow_arguments(&flag).is_err());
        assert!(agent(Permission::Ask).allow_arguments(&[]).is_ok());
        assert!(agent(Permission::Auto).allow_arguments(&flag).is_err());
        assert!(Principal::User.allow_arguments(&flag).is_ok());
        assert!(agent(Permission::Ask).allow_project_arguments(&flag).is_err());
        assert!(agent(Permission::Auto).allow_project_arguments(&flag).is_ok());
    }

    #[test]
    fn agent_starts_other_agents_only_in_its_own_folder_or_below() {
        let Principal::Agent(mut own) = agent(Permission::Auto) else { panic!("an agent") };
        own.cwd = "/src/shop".into();
        let principal = Principal::Agent(own);
        let table = [
            ("/src/shop", true),
            ("/src/shop/below", true),
            ("/src/shop-2", false),
            ("/src", false),
            ("/", false),
        ];
        for (folder, allowed) in table {
            assert_eq!(principal.allow_folder(Path::new(folder)).is_ok(), allowed, "{folder}");
            assert!(Principal::User.allow_folder(Path::new(folder)).is_ok());
        }
    }

    #[test]
    fn vendor_without_permissions_cannot_bypass_the_permission() {
        let (same, other) = (VendorId::new("tool"), VendorId::new("other"));
        let description = VendorDescription {
            command: vec!["sh".to_owned()],
            new: None,
            resume: None,
            transcript: None,
        };
        let ask = agent(Permission::Ask);
        assert!(ask.allow_vendor((&other, None), Limits).is_ok());
        assert!(ask.allow_vendor((&other, None), Nothing).is_err());
        assert!(ask.allow_vendor((&same, None), Nothing).is_ok(), "it is the caller's own vendor");
        assert!(ask.allow_vendor((&same, Some(&description)), Nothing).is_err());
        assert!(agent(Permission::Auto).allow_vendor((&other, None), Nothing).is_ok());
        assert!(Principal::User.allow_vendor((&other, None), Nothing).is_ok());
    }

    #[test]
    fn agent_reaches_only_itself_and_its_children() {
        let principal = agent(Permission::Ask);
        let own = SessionId::new(Uuid::from_u128(1));
        let other = SessionId::new(Uuid::from_u128(2));
        assert!(principal.allow_session(own, None).is_ok());
        assert!(principal.allow_session(other, Some(own)).is_ok());
        assert!(principal.allow_session(other, None).is_err());
        assert!(Principal::User.allow_session(other, None).is_ok());
        for action in [
            RestrictedAction::Remove,
            RestrictedAction::Trust,
            RestrictedAction::Repair,
            RestrictedAction::Adopt,
            RestrictedAction::StopDaemon,
            RestrictedAction::Tasks,
            RestrictedAction::ReadTasks,
            RestrictedAction::Network,
        ] {
            assert!(principal.allow(action).is_err(), "{action:?}");
            assert!(Principal::User.allow(action).is_ok(), "{action:?}");
        }
    }

    #[test]
    fn callers_that_use_the_same_request_id_do_not_share_a_request() {
        let id = RequestId::new(Uuid::from_u128(9));
        let token = |number| {
            let id = TokenId::new(Uuid::from_u128(number));
            let scopes = std::collections::BTreeSet::from([TokenScope::Work]);
            Principal::Token(AccessToken { id, ..program(scopes) })
        };
        let callers = [Principal::User, agent(Permission::Ask), token(7), token(8)];
        let keys = callers.each_ref().map(|caller| caller.request_key(id));
        for (place, key) in keys.iter().enumerate() {
            assert_eq!(*key, callers[place].request_key(id));
            assert!(!keys[..place].contains(key), "{place}");
        }
    }

    #[test]
    fn token_allows_only_the_actions_of_its_scopes() {
        use RestrictedAction::{Answer, Everything, Network, ReadTasks, Remove, Tasks, Trust};
        use TokenScope::{Admin, Read, Send, Work};
        let token =
            |scopes: &[TokenScope]| Principal::Token(program(scopes.iter().copied().collect()));
        let table = [
            (vec![Read], Answer, false),
            (vec![Send], Answer, true),
            (vec![Send], Everything, false),
            (vec![Read], ReadTasks, true),
            (vec![Read], Tasks, false),
            (vec![Work], Everything, true),
            (vec![Read, Send, Work], Remove, false),
            (vec![Read, Send, Work], Trust, false),
            (vec![Read, Send, Work], Network, false),
            (vec![Admin], Trust, true),
            (vec![Admin], Answer, true),
        ];
        for (scopes, action, allowed) in table {
            assert_eq!(token(&scopes).allow(action).is_ok(), allowed, "{scopes:?} {action:?}");
        }
        let routes = [
            (vec![Read], RouteRight::Scope(Read), true),
            (vec![Read], RouteRight::Scope(Send), false),
            (vec![Send], RouteRight::Scope(Read), false),
            (vec![Admin], RouteRight::Scope(Work), true),
            (vec![Admin], RouteRight::Local, false),
            (vec![], RouteRight::Signed, true),
            (vec![], RouteRight::Public, true),
            (vec![Admin], RouteRight::Browser, false),
        ];
        for (scopes, right, allowed) in routes {
            let route = RouteUse { right, is_shareable: false, session: None };
            assert_eq!(token(&scopes).allow_route(route).is_ok(), allowed, "{scopes:?} {right:?}");
            assert!(Principal::User.allow_route(route).is_ok());
        }
        let other = SessionId::new(Uuid::from_u128(2));
        assert!(token(&[Read]).allow_session(other, None).is_ok());
        assert!(token(&[Send]).allow_session(other, None).is_ok());
        let flag = ["--permission=auto".to_owned()];
        assert!(token(&[Work]).allow_arguments(&flag).is_err());
        assert_eq!(token(&[Work]).permission(None).ok(), Some(Permission::Ask));
        assert!(token(&[Work]).permission(Some(Permission::Auto)).is_err());
        assert_eq!(token(&[Admin]).permission(Some(Permission::Auto)).ok(), Some(Permission::Auto));
    }

    #[test]
    fn link_to_a_session_reaches_only_that_session() {
        use RouteRight::{Browser, Local, Public, Scope, Signed};
        use TokenScope::{Admin, Read, Send, Work};
        let session = |number| SessionId::new(Uuid::from_u128(number));
        let (own, other) = (session(1), session(2));
        let scopes = std::collections::BTreeSet::from([Read]);
        let (kind, only_session) = (TokenKind::Browser, Some(own));
        let guest = Principal::Token(AccessToken { kind, only_session, ..program(scopes) });
        let table = [
            (Scope(Read), true, Some(own), true),
            (Scope(Read), true, None, true),
            (Scope(Read), true, Some(other), false),
            (Scope(Read), false, Some(own), false),
            (Scope(Read), false, None, false),
            (Scope(Send), true, Some(own), false),
            (Scope(Work), true, Some(own), false),
            (Scope(Admin), true, Some(own), false),
            (Local, false, None, false),
            (Browser, false, None, true),
            (Public, false, None, false),
            (Signed, false, None, false),
        ];
        for (right, is_shareable, session, is_allowed) in table {
            let route = RouteUse { right, is_shareable, session };
            assert_eq!(guest.allow_route(route).is_ok(), is_allowed, "{route:?}");
        }
        assert!(guest.allow_session(own, None).is_ok());
        assert!(guest.allow_session(other, Some(own)).is_err());
        assert!(guest.allow(RestrictedAction::WatchTerminal).is_ok());
        for action in [
            RestrictedAction::ControlTerminal,
            RestrictedAction::ReadAll,
            RestrictedAction::ReadTasks,
            RestrictedAction::Answer,
            RestrictedAction::Everything,
        ] {
            assert!(guest.allow(action).is_err(), "{action:?}");
        }
        assert!(agent(Permission::Auto).allow(RestrictedAction::WatchTerminal).is_err());
    }
}
