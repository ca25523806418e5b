//! Which session a request to run means.

use segue_core::Kind;
use segue_core::api::{Caller, RunRequest, TrustRequest};
use segue_core::flows::launch::{self, LaunchRequest};
use segue_core::flows::{SessionState, run, trust};
use segue_core::model::{
    Permission, Principal, RequestId, RequestKey, RequestRecord, RequestStep, Session, Status,
    VendorDescription, VendorId,
};
use segue_core::ports::{Change, Commit};
use segue_fakes::{FakeVendor, FakeWorld, samples};

fn request() -> RunRequest {
    RunRequest {
        caller: Caller { cwd: samples::CWD.into(), environment: samples::environment() },
        ..RunRequest::default()
    }
}

async fn session(world: &FakeWorld, request: &RunRequest) -> segue_core::Result<Session> {
    session_of(world, &Principal::User, request).await
}

async fn session_of(
    world: &FakeWorld,
    principal: &Principal,
    request: &RunRequest,
) -> segue_core::Result<Session> {
    run::check(principal, request)?;
    let ports = world.ports();
    run::plan(&ports, principal, request).await?.session(&ports).await
}

/// Trusts the project file of the sample folder.
async fn trust_project(world: &FakeWorld) {
    let ports = world.ports();
    let ask = |digest| TrustRequest { folder: samples::CWD.into(), digest };
    let shown = trust::trust(&ports, &ask(None)).await.unwrap();
    assert!(!shown.trusted);
    assert!(trust::trust(&ports, &ask(Some(shown.digest))).await.unwrap().trusted);
}

#[tokio::test]
async fn request_without_words_runs_the_only_installed_vendor_in_the_default_fleet() {
    let world = FakeWorld::new();
    let session = session(&world, &request()).await.unwrap();
    assert_eq!(session.vendor.as_str(), "tool");
    assert_eq!(session.fleet.as_str(), "default");
    assert_eq!(session.permission, Permission::Ask);
    assert_eq!(session.cwd.to_str(), Some(samples::CWD));
    assert!(world.ports().store.fleet(&session.fleet).await.unwrap().is_some());
}

#[tokio::test]
async fn default_vendor_of_the_settings_wins_over_the_only_installed_one() {
    let world = FakeWorld::new();
    world.projects.set_default_vendor("other");
    let error = session(&world, &request()).await.unwrap_err();
    assert!(error.to_string().contains("`other`"), "{error}");
    let named = RunRequest { vendor: Some("tool".into()), ..request() };
    session(&world, &named).await.unwrap();
}

#[tokio::test]
async fn bad_requests_are_refused_before_anything_is_recorded() {
    let with = |change: fn(&mut RunRequest)| {
        let mut request = request();
        change(&mut request);
        request
    };
    let table = [
        (with(|it| it.vendor = Some("tol".into())), Kind::NotFound),
        (with(|it| it.agent = Some("coder".into())), Kind::Config),
        (with(|it| it.cwd = Some("/nowhere".into())), Kind::NotFound),
        (with(|it| it.model = Some("--yolo".into())), Kind::Usage),
        (with(|it| it.name = Some("a b".into())), Kind::Usage),
        (with(|it| it.headless = true), Kind::Usage),
        (with(|it| it.args = vec!["--api-key=sk-ant-api03-abcdefghijklmnop".into()]), Kind::Usage),
    ];
    for (request, kind) in table {
        let world = FakeWorld::new();
        let error = session(&world, &request).await.unwrap_err();
        assert_eq!(error.kind, kind, "{request:?}: {error}");
        assert_eq!(world.calls.count("store.commit"), 0, "{request:?}");
    }
}

#[tokio::test]
async fn vendor_without_headless_turns_cannot_run_headless() {
    let vendor = FakeVendor { is_headless: false, ..FakeVendor::default() };
    let world = FakeWorld::with_vendor(vendor);
    let request = RunRequest { headless: true, prompt: Some("hi".into()), ..request() };
    let error = session(&world, &request).await.unwrap_err();
    assert!(error.to_string().contains("cannot run headless"), "{error}");
}

#[tokio::test]
async fn headless_run_that_cannot_ask_a_person_is_planned_with_a_notice() {
    let notices = async |asks_headless, permission| {
        let vendor = FakeVendor { asks_headless, ..FakeVendor::default() };
        let world = FakeWorld::with_vendor(vendor);
        let request = RunRequest {
            headless: true,
            prompt: Some("hi".into()),
            permission: Some(permission),
            ..request()
        };
        run::plan(&world.ports(), &Principal::User, &request).await.unwrap().notices
    };
    let told = notices(false, Permission::Ask).await;
    assert!(told[0].contains("`tool` cannot ask a person"), "{told:?}");
    for (asks_headless, permission) in [(true, Permission::Ask), (false, Permission::Auto)] {
        assert_eq!(notices(asks_headless, permission).await, Vec::<String>::new());
    }
}

#[tokio::test]
async fn agent_of_a_project_runs_only_after_its_file_is_trusted() {
    let world = FakeWorld::new();
    world.projects.write(samples::project(&["coder"]));
    let request = RunRequest { agent: Some("coder".into()), ..request() };
    let error = session(&world, &request).await.unwrap_err();
    assert_eq!(error.kind, Kind::Config);
    trust_project(&world).await;
    let own = session(&world, &request).await.unwrap();
    assert_eq!((own.fleet.as_str(), own.name.as_str()), ("shop", "coder"));
    assert_eq!(own.agent.as_ref().map(|it| it.as_str()), Some("coder"));
    // A changed file must be trusted again.
    let mut changed = samples::project(&["coder"]);
    changed.claims[0].value = "runs tool, acts without asking".to_owned();
    world.projects.write(changed);
    assert_eq!(session(&world, &request).await.unwrap_err().kind, Kind::Config);
}

#[tokio::test]
async fn trust_is_refused_if_the_file_changed_after_it_was_shown() {
    let world = FakeWorld::new();
    world.projects.write(samples::project(&["coder"]));
    let digest = Some("of another file".to_owned());
    let request = TrustRequest { folder: samples::CWD.into(), digest };
    let error = trust::trust(&world.ports(), &request).await.unwrap_err();
    assert_eq!(error.kind, Kind::Conflict);
}

#[tokio::test]
async fn taken_name_is_a_conflict_if_wanted_and_avoided_if_suggested() {
    let world = FakeWorld::new();
    let ports = world.ports();
    let named = RunRequest { name: Some("fox".into()), ..request() };
    let plan = run::plan(&ports, &Principal::User, &named).await.unwrap();
    let mut errors = Vec::new();
    for _ in 0..2 {
        let mut state = SessionState::new(plan.session(&ports).await.unwrap());
        let request = LaunchRequest {
            creates_session: true,
            ..LaunchRequest::fresh(None, samples::environment())
        };
        errors.push(launch::start(&ports, &mut state, request).await.err());
    }
    let error = errors.pop().flatten().unwrap();
    assert!(errors[0].is_none() && run::is_name_taken(&error), "{error}");
    assert!(!plan.may_try_another_name(&error), "the user wanted this name");
    let suggested = run::plan(&ports, &Principal::User, &request()).await.unwrap();
    assert!(suggested.may_try_another_name(&error));
    assert_ne!(suggested.session(&ports).await.unwrap().name.as_str(), "fox");
}

#[tokio::test]
async fn agent_starts_children_in_its_own_fleet_with_at_most_its_own_permission() {
    let world = FakeWorld::new();
    let parent = samples::session(1, "fox");
    let principal = Principal::Agent(Box::new(parent.clone()));
    let child = session_of(&world, &principal, &request()).await.unwrap();
    assert_eq!((child.parent, child.fleet), (Some(parent.id), parent.fleet));
    let looser = RunRequest { permission: Some(Permission::Auto), ..request() };
    session_of(&world, &principal, &looser).await.unwrap_err();
    assert!(world.ports().store.fleet_names().await.unwrap().is_empty(), "it made a fleet");
}

#[tokio::test]
async fn repeated_request_finds_the_session_that_it_created() {
    let world = FakeWorld::new();
    let ports = world.ports();
    let key = RequestKey { caller: None, id: RequestId::new(uuid::Uuid::from_u128(5)) };
    assert!(run::earlier(&ports, Some(key)).await.unwrap().is_none());
    let created = Session { status: Status::Interrupted, ..samples::session(1, "fox") };
    let step = RequestStep::Created { session: created.id };
    let record = RequestRecord { key, step, at: samples::start() };
    let changes = vec![
        Change::CreateSession(Box::new(created.clone())),
        Change::RecordRequest(Box::new(record)),
    ];
    ports.store.commit(Commit { changes, events: Vec::new() }).await.unwrap();
    let earlier = run::earlier(&ports, Some(key)).await.unwrap().unwrap();
    assert_eq!((earlier.session, earlier.is_cut_short), (created.id, true));
    let remove = vec![Change::RemoveSession(created.id)];
    ports.store.commit(Commit { changes: remove, events: Vec::new() }).await.unwrap();
    assert_eq!(run::earlier(&ports, Some(key)).await.unwrap_err().kind, Kind::NotFound);
}

#[tokio::test]
async fn agent_or_trust_without_a_project_file_is_an_error_that_says_how_to_write_one() {
    let world = FakeWorld::new();
    let request = RunRequest { agent: Some("coder".to_owned()), ..request() };
    let error = session(&world, &request).await.unwrap_err();
    assert!(error.hints[0].contains("segue init"), "{error:?}");
    let ask = TrustRequest { folder: samples::CWD.into(), digest: None };
    let error = trust::trust(&world.ports(), &ask).await.unwrap_err();
    assert_eq!(error.kind, Kind::NotFound);
    assert!(error.hints[0].contains("segue init"), "{error:?}");
}

#[tokio::test]
async fn vendor_that_the_project_file_describes_runs_only_after_the_file_is_trusted() {
    let world = FakeWorld::new();
    let mut project = samples::project(&[]);
    let description = VendorDescription {
        command: vec!["mine".to_owned()],
        new: None,
        resume: None,
        transcript: None,
    };
    project.vendors.insert(VendorId::new("mine"), description.clone());
    world.projects.write(project);
    let request = RunRequest { vendor: Some("mine".to_owned()), ..request() };
    let error = session(&world, &request).await.unwrap_err();
    assert!(error.hints.iter().any(|it| it.contains("segue trust")), "{error:?}");
    trust_project(&world).await;
    let session = session(&world, &request).await.unwrap();
    assert_eq!((session.vendor.as_str(), session.description), ("mine", Some(description)));
}

#[tokio::test]
async fn child_of_an_agent_cannot_have_the_name_of_an_agent_of_the_project() {
    let world = FakeWorld::new();
    world.projects.write(samples::project(&["coder"]));
    let agent = Principal::Agent(Box::new(samples::session(1, "fox")));
    let request = RunRequest { name: Some("coder".to_owned()), ..request() };
    session_of(&world, &agent, &request).await.unwrap_err();
}
