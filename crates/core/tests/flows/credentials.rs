//! Credentials for git: who gets them, and how git commands and agents ask.

use segue_core::Kind;
use segue_core::api::{Caller, RunRequest, WorktreeRequest};
use segue_core::flows::launch::{self, LaunchRequest};
use segue_core::flows::{SessionState, credentials, run, worktrees};
use segue_core::model::{Environment, Exit, GitHost, LaunchEnd, Principal, SecretText};
use segue_core::ports::{Change, Commit, Credentials as _, StartOrder};
use segue_core::rules::askpass::CredentialAsker;
use segue_fakes::{FakeWorld, samples};

const USERNAME: &str = "Username for 'https://git.example.org': ";
const PASSWORD: &str = "Password for 'https://ann@git.example.org': ";

/// Creates a world whose repository is on `git.example.org`, with credentials for it.
fn world() -> FakeWorld {
    let world = FakeWorld::new();
    world.checkouts.set_remote("https://git.example.org/team/app.git");
    world.credentials.put("git.example.org", "ann", "hush");
    world.credentials.put("other.example.org", "ann", "other-hush");
    world
}

/// Starts a session in a new worktree of the repository of the folder, or of a URL.
async fn start(world: &FakeWorld, repo: Option<&str>, environment: &Environment) -> SessionState {
    let ports = world.ports();
    let (branch, repo) = ("fix".to_owned(), repo.map(str::to_owned));
    let request = RunRequest {
        caller: Caller { cwd: samples::CWD.into(), environment: environment.clone() },
        worktree: Some(WorktreeRequest { branch, repo, ..WorktreeRequest::default() }),
        ..RunRequest::default()
    };
    let plan = run::plan(&ports, &Principal::User, &request).await.unwrap();
    let made = plan.worktree.as_ref().unwrap();
    worktrees::make(&ports, made, environment).await.unwrap();
    let mut state = SessionState::new(plan.session(&ports).await.unwrap());
    let first = LaunchRequest::fresh(None, environment.clone());
    let first = LaunchRequest { creates_session: true, ..first };
    launch::start(&ports, &mut state, first).await.unwrap();
    state
}

fn started(world: &FakeWorld) -> StartOrder {
    world.holders.started().pop().unwrap()
}

/// Records the end of the session's newest launch.
async fn end(world: &FakeWorld, state: &mut SessionState) {
    let launch = state.launches.last().unwrap().id;
    let end = LaunchEnd { exit: Exit::Code(0), is_requested: true, at: samples::start() };
    let changes = vec![Change::EndLaunch { launch, end }];
    state.commit(&world.ports(), Commit { changes, events: Vec::new() }).await.unwrap();
}

async fn asker(world: &FakeWorld, principal: &Principal, ticket: Option<&str>) -> CredentialAsker {
    let ticket = ticket.map(SecretText::new);
    credentials::asker(&world.ports(), principal, ticket.as_ref()).await.unwrap()
}

async fn answered(world: &FakeWorld, asker: &CredentialAsker, prompt: &str) -> Option<String> {
    let answer = credentials::answer(&world.ports(), asker, prompt).await;
    answer.ok().map(|answer| answer.expose().to_owned())
}

#[tokio::test]
async fn agent_gets_the_credentials_for_the_host_of_its_repository_only() {
    for repo in [None, Some("https://git.example.org/team/app.git")] {
        let world = world();
        let state = start(&world, repo, &samples::environment()).await;
        let agent = Principal::Agent(Box::new(state.session.clone()));
        let agent = asker(&world, &agent, None).await;
        assert_eq!(answered(&world, &agent, USERNAME).await.as_deref(), Some("ann"));
        assert_eq!(answered(&world, &agent, PASSWORD).await.as_deref(), Some("hush"));
        let other = "Password for 'https://ann@other.example.org': ";
        assert_eq!(answered(&world, &agent, other).await, None);
        let user = asker(&world, &Principal::User, None).await;
        assert_eq!(answered(&world, &user, PASSWORD).await, None);
    }
}

#[tokio::test]
async fn changed_remote_gives_an_agent_no_credentials_for_the_new_host() {
    let world = world();
    let state = start(&world, None, &samples::environment()).await;
    world.checkouts.set_remote("https://other.example.org/team/app.git");
    let agent = asker(&world, &Principal::Agent(Box::new(state.session)), None).await;
    let other = "Password for 'https://ann@other.example.org': ";
    assert_eq!(answered(&world, &agent, other).await, None);
    assert_eq!(answered(&world, &agent, PASSWORD).await.as_deref(), Some("hush"));
}

#[tokio::test]
async fn session_without_a_worktree_gets_no_credentials() {
    let world = world();
    let session = samples::session(7, "fox");
    let agent = asker(&world, &Principal::Agent(Box::new(session)), None).await;
    let error = credentials::answer(&world.ports(), &agent, PASSWORD).await.unwrap_err();
    assert!(error.causes[0].contains("no worktree"), "{error:?}");
}

#[tokio::test]
async fn git_of_the_daemon_has_a_ticket_for_its_host_until_the_command_ends() {
    let world = world();
    start(&world, None, &samples::environment()).await;
    let caller = world.checkouts.take_caller().unwrap();
    let askpass = caller.askpass.as_ref().unwrap();
    assert_eq!(askpass.host.as_str(), "git.example.org");
    let ticket = askpass.ticket.secret().expose().to_owned();
    let own = asker(&world, &Principal::User, Some(&ticket)).await;
    assert_eq!(answered(&world, &own, PASSWORD).await.as_deref(), Some("hush"));
    let other = "Password for 'https://ann@other.example.org': ";
    assert_eq!(answered(&world, &own, other).await, None);
    // An agent of another session has read the ticket in `/proc`.
    let thief = Principal::Agent(Box::new(samples::session(7, "fox")));
    let thief = asker(&world, &thief, Some(&ticket)).await;
    assert_eq!(answered(&world, &thief, PASSWORD).await, None);
    drop(caller);
    assert_eq!(asker(&world, &Principal::User, Some(&ticket)).await, CredentialAsker::Other);
}

#[tokio::test]
async fn variables_for_git_are_added_only_if_the_settings_have_credentials() {
    let world = world();
    world.credentials.set_variable("FORGE_TOKEN");
    let mut environment = samples::environment();
    environment.set("FORGE_TOKEN", "hush");
    let mut state = start(&world, None, &environment).await;
    let order = started(&world);
    let program = Some("/state/bin/segue-git-askpass");
    assert_eq!(order.environment.get("GIT_ASKPASS"), program);
    assert_eq!(order.environment.get("FORGE_TOKEN"), None);
    let names = &state.launches[0].environment;
    assert!(!names.iter().any(|name| name.starts_with("GIT_")), "{names:?}");
    let caller = world.checkouts.take_caller().unwrap();
    assert_eq!(caller.environment.get("FORGE_TOKEN"), None);
    // The environment of a restart is that of the last launch.
    let again = LaunchRequest::fresh(None, order.environment.clone());
    end(&world, &mut state).await;
    launch::start(&world.ports(), &mut state, again.clone()).await.unwrap();
    assert_eq!(started(&world).environment.names(), order.environment.names());
    world.credentials.clear();
    end(&world, &mut state).await;
    launch::start(&world.ports(), &mut state, again).await.unwrap();
    assert_eq!(started(&world).environment.get("GIT_ASKPASS"), None);
}

#[tokio::test]
async fn repository_that_is_not_reached_by_http_needs_no_credentials() {
    for repo in ["ssh://git@git.example.org/app", "git@git.example.org:app", "file:///srv/app"] {
        let world = world();
        start(&world, Some(repo), &samples::environment()).await;
        assert!(world.checkouts.take_caller().unwrap().askpass.is_none(), "{repo}");
        assert_eq!(started(&world).environment.get("GIT_ASKPASS"), None, "{repo}");
    }
}

#[tokio::test]
async fn token_that_cannot_be_read_is_an_error_and_a_host_without_credentials_is_named() {
    let world = world();
    let host = GitHost::parse("git.example.org").unwrap();
    let ticket = world.credentials.open_ticket(&host).unwrap();
    let own = asker(&world, &Principal::User, Some(ticket.secret().expose())).await;
    world.calls.fail("credentials.token", 1);
    assert_eq!(answered(&world, &own, PASSWORD).await, None);
    world.credentials.clear();
    let error = credentials::answer(&world.ports(), &own, USERNAME).await.unwrap_err();
    assert_eq!(error.kind, Kind::Config);
    assert!(error.hints[0].contains("[credentials.\"git.example.org\"]"), "{error:?}");
}
