//! Tasks whose agents commit and push, as themselves, from their worktrees.

use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use segue_testkit::repositories::{git, make_origin};
use segue_testkit::scene::{text, write_project};
use segue_testkit::{GitServer, SshClient, SshServer, World, files};
use serde_json::Value;

use super::facts::PushesCommits;
use crate::claude::questions::prepare_tasks;
use crate::with_vendor;

/// The identity of the agent.
const IDENTITY: &str = "Coder <coder@example.org>";
const USERNAME: &str = "x-access-token";
const TOKEN: &str = "t0ken-of-the-agents-repository";

fn task_pushes_a_commit_as_its_agent<V: PushesCommits>() {
    let (mut world, _model) = with_vendor::<V>();
    let origins = world.root().join("origins");
    make_origin(&origins);
    let ssh = SshServer::start(&origins);
    world.set("GIT_SSH_COMMAND", ssh.command(SshClient::Known));
    prepare_tasks(&world, V::NAME);
    let identity = "git = { name = \"Coder\", email = \"coder@example.org\" }\n";
    let agent = format!("[[agents]]\nname = \"coder\"\nvendor = \"{}\"\n", V::NAME);
    let agent = format!("{agent}permission = \"auto\"\n{}{identity}", V::AGENT_LINES);
    write_project(&world, &format!("[fleet]\nname = \"shop\"\n{agent}"));
    let server = GitServer::start(&origins, USERNAME, TOKEN);
    set_credentials(&world, &server.host());
    let local = format!("file://{}/app.git", origins.display());
    let urls = [
        ("http", server.url("app.git")),
        ("file", local),
        ("ssh", ssh.url("app.git")),
        ("scp", ssh.short_url("app.git")),
    ];
    for (place, url) in urls {
        let done = push(&world, place, &url);
        assert_eq!(done["state"], "done", "{done:#}");
        assert_eq!(done["result"]["commits"][0]["subject"], format!("by {place}"), "{done:#}");
        let log = ["log", "-1", "--format=%an <%ae> %cn <%ce> %s", place];
        let pushed = git(&origins.join("app.git"), &log);
        assert_eq!(pushed, format!("{IDENTITY} {IDENTITY} by {place}"));
    }
    let own = world.root().join("token");
    let traces = files::containing(world.root(), TOKEN);
    assert_eq!(traces.iter().filter(|path| **path != own).count(), 0, "{traces:#?}");
}

test_each!(task_pushes_a_commit_as_its_agent: claude, codex);

/// Adds a task whose agent commits a change and pushes it, and waits for the end of the task.
fn push(world: &World, branch: &str, url: &str) -> Value {
    let work = format!("echo {branch} >> code.txt; git commit -q -a -m 'by {branch}'");
    let prompt = format!("[[tool: {work}; git push -q origin HEAD]] [[say: pushed]]");
    let flags = ["task", "add", "--agent", "coder", "--repo", url, "--branch", branch, &prompt];
    let id = world.ok(flags).trim().to_owned();
    let waited = world.segue(["task", "wait", &id, "--json"]);
    let report: Value = serde_json::from_str(&waited.stdout).unwrap();
    let task = report["task"].clone();
    assert!(Path::new(text(&task, "worktree")).is_dir(), "{task:#}");
    task
}

fn set_credentials(world: &World, host: &str) {
    let file = world.root().join("token");
    fs::write(&file, format!("{TOKEN}\n")).unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
    let path = world.segue_home().join("config.toml");
    let mut settings = OpenOptions::new().append(true).open(path).unwrap();
    writeln!(settings, "[credentials.\"{host}\"]\nfile = \"{}\"", file.display()).unwrap();
}
