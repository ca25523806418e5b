//! The vendor that continues a conversation, and the session in which it does.

use std::collections::BTreeMap;

use segue_core::flows::handoff::{
    HandoffOptions, HandoffPlan, HandoffTarget, TargetAgent, TargetSession,
};
use segue_core::model::{
    AgentName, Environment, How, Permission, Restart, Session, SessionSettings, Status, VendorId,
};
use segue_core::ports::{Change, Commit};
use segue_core::{Kind, Result};
use segue_fakes::{FakeVendor, samples};

use super::{source, talked, talked_beside, target};
use crate::scene::FlowScene;

async fn store(scene: &FlowScene, number: u128, name: &str) {
    let created = Change::CreateSession(Box::new(samples::session(number, name)));
    let commit = Commit { changes: vec![created], events: Vec::new() };
    scene.ports.store.commit(commit).await.unwrap();
}

fn named(name: Option<&str>) -> HandoffOptions {
    HandoffOptions { name: name.map(str::to_owned), ..HandoffOptions::default() }
}

async fn session_for(
    scene: &FlowScene,
    target: HandoffTarget,
    name: Option<&str>,
) -> Result<TargetSession> {
    let plan = HandoffPlan::new(&scene.ports, source(scene).await, target, named(name)).await?;
    plan.target_session(&scene.ports).await
}

fn agent(name: &str) -> TargetAgent {
    let settings = SessionSettings {
        model: Some("small".to_owned()),
        permission: Permission::Auto,
        restart: Restart::Never,
        ..samples::session(9, "any").settings()
    };
    let home = ("OTHER_HOME".to_owned(), "/home/agent".to_owned());
    let environment = Environment::new([home]);
    TargetAgent { name: AgentName::parse(name).unwrap(), settings, environment }
}

fn target_for(scene: &FlowScene, agent: TargetAgent) -> HandoffTarget {
    let vendor = (VendorId::new("other"), None);
    HandoffTarget::new(&scene.ports, vendor, Some(agent), samples::environment()).unwrap()
}

#[tokio::test]
async fn vendor_that_is_unknown_or_not_installed_is_no_target() {
    let scene = talked().await;
    let to = |vendor: &str| {
        let vendor = (VendorId::new(vendor), None);
        HandoffTarget::new(&scene.ports, vendor, None, samples::environment()).unwrap_err()
    };
    assert_eq!(to("nobody").kind, Kind::NotFound);
    scene.world.machine.uninstall();
    let error = to("other");
    assert_eq!(error.kind, Kind::Vendor);
    assert_eq!(error.message, "the program of `other` is not installed");
    assert!(error.hints[0].contains("segue vendors"), "{error:?}");
}

#[tokio::test]
async fn new_session_has_the_wanted_name_or_else_the_first_free_one() {
    let table: [(Option<&str>, &[&str], &str); 4] = [
        (None, &[], "fox-other"),
        (None, &["fox-other"], "fox-other-2"),
        (None, &["fox-other", "fox-other-2"], "fox-other-3"),
        (Some("owl"), &["fox-other"], "owl"),
    ];
    for (wanted, taken, expected) in table {
        let scene = talked().await;
        for (number, name) in (10..).zip(taken) {
            store(&scene, number, name).await;
        }
        let found = session_for(&scene, target(&scene, "other"), wanted).await.unwrap();
        assert_eq!(found.session.name.as_str(), expected, "{wanted:?} {taken:?}");
        assert!(found.is_new && !found.is_recorded);
    }
}

#[tokio::test]
async fn wanted_name_that_is_taken_or_no_name_is_an_error() {
    let scene = talked().await;
    let taken = session_for(&scene, target(&scene, "other"), Some("fox")).await.unwrap_err();
    assert_eq!((taken.kind, taken.hints.len()), (Kind::Conflict, 2));
    assert!(taken.hints[1].contains("segue resume default/fox"), "{taken:?}");
    let invalid = session_for(&scene, target(&scene, "other"), Some("a/b")).await.unwrap_err();
    assert_ne!(invalid.kind, Kind::Conflict);
}

#[tokio::test]
async fn agent_of_the_project_gives_its_name_settings_and_environment() {
    let scene = talked().await;
    let found = session_for(&scene, target_for(&scene, agent("coder")), None).await.unwrap();
    let Session { name, agent: of, model, permission, config_dir, .. } = found.session;
    assert_eq!((name.as_str(), of.unwrap().as_str()), ("coder", "coder"));
    assert_eq!((model.as_deref(), permission), (Some("small"), Permission::Auto));
    assert_eq!(config_dir.to_str(), Some("/home/agent"));
    store(&scene, 10, "coder").await;
    let found = session_for(&scene, target_for(&scene, agent("coder")), None).await.unwrap();
    assert_eq!(found.session.name.as_str(), "fox-other");
}

#[tokio::test]
async fn model_and_arguments_go_along_only_to_the_same_vendor() {
    for (vendor, model, args) in [("other", None, 0), ("tool", Some("big"), 1)] {
        let mut scene = talked().await;
        scene.state.session.model = Some("big".to_owned());
        scene.state.session.args = vec!["--fast".to_owned()];
        scene.state.session.env = BTreeMap::from([("A".to_owned(), "b".to_owned())]);
        let to = session_for(&scene, target(&scene, vendor), None).await.unwrap().session;
        assert_eq!((to.model.as_deref(), to.args.len()), (model, args), "{vendor}");
        assert_eq!(to.env, scene.state.session.env);
        assert_eq!(to.cwd, scene.state.session.cwd);
        assert_eq!(to.status, Status::Ended(How::NeverStarted));
    }
}

#[tokio::test]
async fn headless_session_needs_a_vendor_that_runs_headless() {
    for (is_headless, expected) in [(true, None), (false, Some(Kind::Usage))] {
        let other = FakeVendor { is_headless, ..FakeVendor::taking_over("other") };
        let mut scene = talked_beside(other).await;
        scene.state.session.headless = true;
        let found = session_for(&scene, target(&scene, "other"), None).await;
        assert_eq!(found.as_ref().err().map(|error| error.kind), expected);
        assert!(found.is_err() || found.unwrap().session.headless);
    }
}

#[tokio::test]
async fn session_that_is_decided_already_is_taken_as_it_is() {
    let scene = talked().await;
    let draft = Session { vendor: VendorId::new("other"), ..samples::session(7, "owl") };
    let id = draft.id;
    let target = HandoffTarget::of_draft(&scene.ports, draft, samples::environment()).unwrap();
    let found = session_for(&scene, target, None).await.unwrap();
    assert_eq!((found.session.id, found.session.name.as_str()), (id, "owl"));
    assert_eq!(found.session.status, Status::Ended(How::NeverStarted));
    assert!(found.is_new && !found.is_recorded);
}

#[tokio::test]
async fn vendor_without_a_config_dir_is_an_error() {
    let scene = talked().await;
    let vendor = (VendorId::new("other"), None);
    let environment = Environment::new([("OTHER_HOME".to_owned(), String::new())]);
    let target = HandoffTarget::new(&scene.ports, vendor, None, environment).unwrap();
    let error = session_for(&scene, target, None).await.unwrap_err();
    assert_eq!(error.kind, Kind::Config);
}
