//! Processes that ask for a token that is not theirs.

use std::process::Command;
use std::sync::{Arc, Mutex};

use segue_testkit::stand_in::StandIn;
use segue_testkit::{CommandOutcome, GitServer, processes};

use super::scene::{CredentialScene, TOKEN_BEGIN, USERNAME};

fn password_for(place: &str) -> String {
    format!("Password for '{place}': ")
}

#[track_caller]
fn assert_refused(outcome: &CommandOutcome, reason: &str) {
    assert_eq!((outcome.status, outcome.stdout.as_str()), (1, ""), "{outcome:#?}");
    assert!(outcome.stderr.contains(reason), "{outcome:#?}");
    assert!(!outcome.stderr.contains(TOKEN_BEGIN), "{outcome:#?}");
}

#[test]
fn process_that_belongs_to_no_launch_gets_no_token() {
    let scene = CredentialScene::new();
    scene.set_credentials(&scene.server.host(), &scene.source("file"));
    let prompt = password_for(&format!("http://{}", scene.server.host()));
    assert_refused(&scene.world.segue(["git-askpass", &prompt]), "the daemon does not run");
    let agent = scene.start_shell_agent();
    let only_agents = "only to agents, and to its own git";
    assert_refused(&scene.world.segue(["git-askpass", &prompt]), only_agents);
    // By its name for git, with every mark that an agent has.
    let link = scene.world.state().join("bin/segue-git-askpass");
    let mut command = Command::new(link);
    command.arg(&prompt).env_clear().envs(scene.world.environment());
    assert_refused(&CommandOutcome::of(&mut command), only_agents);
    command.env("SEGUE_GIT_TICKET", "0".repeat(64));
    assert_refused(&CommandOutcome::of(&mut command), only_agents);
    let session = scene.world.session("coder");
    let launch = segue_testkit::launches::newest_id(&scene.world, &session).to_string();
    command.env("SEGUE_LAUNCH", launch);
    assert_refused(&CommandOutcome::of(&mut command), "an agent whose launch is over");
    let answered = agent.run(&format!("$SEGUE git-askpass \"{prompt}\""));
    assert_eq!(
        (answered.status, answered.stdout.trim()),
        (0, scene.token.as_str()),
        "{answered:#?}"
    );
}

#[test]
fn agent_gets_no_token_for_other_hosts_and_forged_questions() {
    let scene = CredentialScene::new();
    let own = scene.server.host();
    for host in [own.as_str(), "git.example.org", "evil.test"] {
        scene.set_credentials(host, &scene.source("file"));
    }
    let agent = scene.start_shell_agent();
    let port = own.split(':').nth(1).unwrap();
    let elsewhere = "here";
    let unclear = "does not answer this question";
    let table = [
        ("https://git.example.org".to_owned(), elsewhere),
        ("http://git.example.org".to_owned(), elsewhere),
        (format!("http://{own}@evil.test"), elsewhere),
        (format!("https://{own}@evil.test"), elsewhere),
        ("http://127.0.0.1".to_owned(), elsewhere),
        (format!("http://localhost:{port}"), elsewhere),
        (format!("http://{own}/x@evil.test"), unclear),
        (format!("http://{own}\n"), unclear),
        (format!("ftp://{own}"), unclear),
        (own.clone(), unclear),
    ];
    for (place, reason) in table {
        let outcome = agent.run(&format!("$SEGUE git-askpass \"{}\"", password_for(&place)));
        assert_refused(&outcome, reason);
    }
    let outcome = agent.run("$SEGUE git-askpass");
    assert_refused(&outcome, "needs one argument");
    let user = agent.run(&format!("$SEGUE git-askpass \"Username for 'http://{own}': \""));
    assert_eq!((user.status, user.stdout.trim()), (0, USERNAME), "{user:#?}");
}

#[test]
fn plain_http_to_another_machine_gets_no_token() {
    let scene = CredentialScene::new();
    scene.set_credentials("git.example.org", &scene.source("file"));
    // The name leads to the server of this test, through a proxy.
    let mut run = scene.world.command(["run", "-d", "--vendor", "demo", "--worktree", "fix"]);
    run.args(["--repo", "http://git.example.org/app.git", "hello"]);
    run.env("http_proxy", format!("http://{}", scene.server.host()));
    let refused = CommandOutcome::of(&mut run);
    assert_eq!(refused.status, 7, "{refused:#?}");
    let reason = "sends no credentials to `git.example.org` over plain HTTP";
    assert!(refused.stderr.contains(reason), "{refused:#?}");
    let requests = scene.server.requests();
    assert!(!requests.is_empty());
    assert!(requests.iter().all(|it| it.authorization.is_none()), "{requests:#?}");
}

#[test]
fn agent_of_another_session_gets_no_token() {
    let scene = CredentialScene::new();
    scene.set_credentials(&scene.server.host(), &scene.source("file"));
    scene.start_shell_agent();
    let run = ["run", "-d", "--vendor", "shell", "--name", "owl"];
    assert_eq!(CommandOutcome::of(&mut scene.world.command(run)).status, 0);
    let owl = StandIn::launched(&scene.world, &scene.world.session("owl"));
    let prompt = password_for(&format!("http://{}", scene.server.host()));
    let coder = scene.world.session("coder");
    for marks in ["", "SEGUE_SESSION={id}", "SEGUE_SESSION={id} SEGUE_LAUNCH={launch}"] {
        let launch = segue_testkit::launches::newest_id(&scene.world, &coder).to_string();
        let marks = marks.replace("{id}", coder["id"].as_str().unwrap());
        let marks = marks.replace("{launch}", &launch);
        let outcome = owl.run(&format!("env {marks} $SEGUE git-askpass \"{prompt}\""));
        assert_refused(&outcome, "`project/owl` gets no git credentials");
    }
    let shown = owl.run("env");
    assert!(!shown.stdout.contains("segue-git-askpass"), "{shown:#?}");
}

#[test]
fn ticket_of_a_git_command_is_worth_nothing_to_other_processes() {
    let scene = CredentialScene::new();
    let world = &scene.world;
    let (program, environment) = (world.program().to_owned(), world.environment());
    let root = world.root().to_owned();
    let stolen = Arc::new(Mutex::new(Vec::new()));
    let tried = Arc::clone(&stolen);
    let server = GitServer::watched(world.root(), USERNAME, &scene.token, move |request| {
        // The git of the daemon waits for the answer to this request.
        let tickets = processes::mentioning(&root);
        let tickets =
            tickets.iter().filter_map(|pid| processes::variable(*pid, "SEGUE_GIT_TICKET"));
        for ticket in tickets.take(1) {
            let mut command = Command::new(&program);
            let place = format!("http://{}", request.host);
            command.args(["git-askpass", &password_for(&place)]).env_clear();
            command.envs(environment.clone()).env("SEGUE_GIT_TICKET", ticket);
            tried.lock().unwrap().push(CommandOutcome::of(&mut command));
        }
    });
    scene.set_credentials(&server.host(), &scene.source("file"));
    let cloned = scene.try_run_of(&server.url("app.git"), "fox", "fix");
    assert_eq!(cloned.status, 0, "{cloned:#?}");
    let stolen = stolen.lock().unwrap();
    assert!(!stolen.is_empty());
    for outcome in stolen.iter() {
        assert_refused(outcome, "only to agents, and to its own git");
    }
}
