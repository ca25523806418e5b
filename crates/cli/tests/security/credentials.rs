//! Credentials for private repositories: git gets them, and nothing else does.

mod scene;
mod strangers;

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use segue_testkit::repositories::git;
use segue_testkit::scene::{kill_daemon, text};
use segue_testkit::{GitServer, processes};

use scene::{CredentialScene, USERNAME};

/// The identity of the agent `coder`.
const IDENTITY: &str = "Coder <coder@example.org>";

#[test]
fn repository_is_cloned_with_the_token_of_a_file_and_of_a_command() {
    for source in ["file", "command"] {
        let scene = CredentialScene::new();
        scene.set_credentials(&scene.server.host(), &scene.source(source));
        let folder = scene.run("fox", "fix");
        assert_eq!(fs::read_to_string(folder.join("code.txt")).unwrap(), "one\n");
        assert_eq!(git(&folder, &["branch", "--show-current"]), "fix");
        let requests = scene.server.requests();
        assert!(requests.iter().any(|it| it.is_authorized), "{requests:#?}");
        scene.assert_no_trace();
    }
}

#[test]
fn token_of_a_variable_reaches_neither_git_nor_the_agent() {
    let mut scene = CredentialScene::new();
    let variables = scene.root().join("agents.env");
    fs::write(&variables, format!("FORGE_TOKEN={}\n", scene.token)).unwrap();
    fs::set_permissions(&variables, fs::Permissions::from_mode(0o600)).unwrap();
    let files = format!("files = [\"{}\"]", variables.display());
    scene.replace_settings(&format!("[environment]\nshell = false\n{files}\n"));
    scene.set_credentials(&scene.server.host(), "env = \"FORGE_TOKEN\"");
    scene.world.set("FORGE_TOKEN", scene.token.clone());
    let agent = scene.start_shell_agent();
    let pushed = agent.push("two");
    assert_eq!(pushed.status, 0, "{pushed:#?}");
    let shown = agent.run("env");
    assert!(!shown.stdout.contains(&scene.token), "{shown:#?}");
    assert!(shown.stdout.contains("GIT_ASKPASS="), "{shown:#?}");
    // The command of the test has the variable itself.
    let own = format!("{} up", scene.world.program().display());
    let mut exposed = scene.exposed();
    assert!(exposed.contains(&own), "{exposed:#?}");
    exposed.retain(|command| *command != own);
    exposed.extend(processes::exposing(&scene.token));
    assert_eq!(exposed, Vec::<String>::new());
}

#[test]
fn agent_pushes_as_itself_and_the_token_is_nowhere() {
    let scene = CredentialScene::new();
    scene.set_credentials(&scene.server.host(), &scene.source("file"));
    let agent = scene.start_shell_agent();
    let pushed = agent.push("two");
    assert_eq!(pushed.status, 0, "{pushed:#?}");
    let log = ["log", "-1", "--format=%an <%ae>%n%cn <%ce>%n%s", "feature/coder"];
    assert_eq!(git(&scene.origin(), &log), format!("{IDENTITY}\n{IDENTITY}\ntwo"));
    let settings = agent.run("git config --local --list");
    assert!(settings.status == 0 && !settings.stdout.contains("user."), "{settings:#?}");
    scene.assert_no_trace();
    // A new daemon answers the questions of an agent that it did not start.
    kill_daemon(&scene.world);
    let unanswered = agent.push("three");
    assert_ne!(unanswered.status, 0, "{unanswered:#?}");
    assert!(unanswered.stderr.contains("the daemon does not run"), "{unanswered:#?}");
    scene.world.ok(["ls"]);
    let pushed = agent.push("four");
    assert_eq!(pushed.status, 0, "{pushed:#?}");
    assert_eq!(git(&scene.origin(), &["log", "-1", "--format=%s", "feature/coder"]), "four");
    scene.world.ok(["stop", "coder"]);
    scene.assert_no_trace();
}

#[test]
fn helper_of_the_user_does_not_get_the_token() {
    let scene = CredentialScene::new();
    fs::write(scene.world.home().join(".gitconfig"), "[credential]\n\thelper = store\n").unwrap();
    scene.set_credentials(&scene.server.host(), &scene.source("file"));
    let agent = scene.start_shell_agent();
    let pushed = agent.push("two");
    assert_eq!(pushed.status, 0, "{pushed:#?}");
    assert!(!scene.world.home().join(".git-credentials").exists());
    scene.assert_no_trace();
}

#[test]
fn repository_without_credentials_is_refused_with_the_words_of_git_and_a_hint() {
    let scene = CredentialScene::new();
    let refused = scene.try_run("fox", "fix");
    assert_eq!(refused.status, 7, "{refused:#?}");
    assert!(refused.stderr.contains("could not read Username for"), "{refused:#?}");
    let hint = format!("[credentials.\"{}\"]", scene.server.host());
    assert!(refused.stderr.contains(&hint), "{refused:#?}");
    assert!(scene.world.sessions().is_empty());
    assert!(scene.server.requests().iter().all(|it| it.authorization.is_none()));
}

#[test]
fn token_that_the_server_refuses_is_reported_and_not_shown() {
    let scene = CredentialScene::new();
    fs::write(scene.token_file(), "wrong-token\n").unwrap();
    scene.set_credentials(&scene.server.host(), &scene.source("file"));
    let refused = scene.try_run("fox", "fix");
    assert_eq!(refused.status, 7, "{refused:#?}");
    assert!(refused.stderr.contains("Authentication failed for"), "{refused:#?}");
    assert!(!refused.stderr.contains("wrong-token"), "{refused:#?}");
}

#[test]
fn file_that_others_may_read_is_not_used() {
    let scene = CredentialScene::new();
    fs::set_permissions(scene.token_file(), fs::Permissions::from_mode(0o644)).unwrap();
    scene.set_credentials(&scene.server.host(), &scene.source("file"));
    let refused = scene.try_run("fox", "fix");
    assert_eq!(refused.status, 7, "{refused:#?}");
    assert!(refused.stderr.contains("others may read or write it (mode 0644)"), "{refused:#?}");
    assert!(scene.server.requests().iter().all(|it| it.authorization.is_none()));
    let doctor = scene.world.segue(["doctor"]);
    assert!(doctor.stdout.contains("others may read or write it (mode 0644)"), "{doctor:#?}");
}

#[test]
fn redirect_to_another_host_gets_no_token() {
    let scene = CredentialScene::new();
    let redirecting = GitServer::redirecting(&scene.server);
    for host in [redirecting.host(), scene.server.host()] {
        scene.set_credentials(&host, &scene.source("file"));
    }
    let refused = scene.try_run_of(&redirecting.url("app.git"), "fox", "fix");
    assert_eq!(refused.status, 7, "{refused:#?}");
    let reason = format!("no credentials for `{}` here", scene.server.host());
    assert!(refused.stderr.contains(&reason), "{refused:#?}");
    let requests = [scene.server.requests(), redirecting.requests()].concat();
    assert!(requests.iter().all(|it| it.authorization.is_none()), "{requests:#?}");
    assert!(!requests.is_empty());
}

#[test]
fn remote_that_an_agent_changes_gets_no_token() {
    let scene = CredentialScene::new();
    let other = GitServer::start(&scene.root(), USERNAME, &scene.token);
    for host in [scene.server.host(), other.host()] {
        scene.set_credentials(&host, &scene.source("file"));
    }
    let agent = scene.start_shell_agent();
    let url = other.url("app.git");
    let script = format!("git remote set-url origin {url} && git push origin HEAD");
    let refused = agent.run(&script);
    assert_ne!(refused.status, 0, "{refused:#?}");
    let reason = format!("no credentials for `{}` here", other.host());
    assert!(refused.stderr.contains(&reason), "{refused:#?}");
    // A submodule on another host is a remote of the agent's choice, too.
    let fetched = agent.run(&format!("git submodule add {url} sub"));
    assert_ne!(fetched.status, 0, "{fetched:#?}");
    assert!(other.requests().iter().all(|it| it.authorization.is_none()));
    assert!(!other.requests().is_empty());
    let session = scene.world.session("coder");
    assert_eq!(text(&session, "branch"), "feature/coder");
}
