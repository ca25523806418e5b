use super::PermissionEffect::{Limits, Nothing};
use super::*;
use crate::flows::samples;
use crate::model::TokenId;

fn program(scopes: std::collections::BTreeSet<TokenScope>) -> AccessToken {
    let id = TokenId::new(Uuid::from_u128(7));
    let (name, kind) = ("ci".to_owned(), AccessTokenKind::Program);
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
    assert!(principal.allow_interrupt(own, None).is_err(), "its own turn");
    assert!(principal.allow_interrupt(other, Some(own)).is_ok());
    assert!(principal.allow_interrupt(other, None).is_err());
    assert!(Principal::User.allow_interrupt(own, None).is_ok());
    for action in [
        RestrictedAction::Remove,
        RestrictedAction::Rename,
        RestrictedAction::Configure,
        RestrictedAction::RunCommand,
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
fn agent_answers_only_questions_of_its_children_that_give_no_permission_it_lacks() {
    use Permission::{AcceptEdits, Ask, Auto};
    use WaitingFor::{Choice, Environment, Permission as Tool, Question, Trust};
    let id = |number| SessionId::new(Uuid::from_u128(number));
    let (own, child, other) = ((id(1), None), (id(2), Some(id(1))), (id(3), None));
    let grandchild = (id(4), Some(id(2)));
    let table = [
        (Ask, child, Some(Question), true),
        (Ask, child, Some(Tool), false),
        (AcceptEdits, child, Some(Tool), false),
        (Auto, child, Some(Tool), true),
        (Auto, child, Some(Question), true),
        (Auto, child, Some(Trust), false),
        (Auto, child, Some(Environment), false),
        (Auto, child, Some(Choice), false),
        (Auto, child, None, false),
        (Auto, own, Some(Question), false),
        (Auto, own, Some(Tool), false),
        (Auto, (id(1), Some(id(1))), Some(Question), false),
        (Auto, other, Some(Question), false),
        (Auto, grandchild, Some(Question), false),
    ];
    for (permission, session, asked, expected) in table {
        let allowed = agent(permission).allow_answer(session, asked).is_ok();
        assert_eq!(allowed, expected, "{permission:?} {session:?} {asked:?}");
        assert!(Principal::User.allow_answer(session, asked).is_ok());
    }
    let token = |scope| Principal::Token(program([scope].into()));
    assert!(token(TokenScope::Send).allow_answer(other, Some(Trust)).is_ok());
    assert!(token(TokenScope::Read).allow_answer(other, Some(Question)).is_err());
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
    let token = |scopes: &[TokenScope]| Principal::Token(program(scopes.iter().copied().collect()));
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
    let (kind, only_session) = (AccessTokenKind::Browser, Some(own));
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
