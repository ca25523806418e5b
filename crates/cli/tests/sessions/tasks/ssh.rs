//! Tasks in repositories that are reached by ssh, with Debian's ssh server.

use std::path::{Path, PathBuf};

use segue_testkit::repositories::{git, make_origin};
use segue_testkit::scene::{self, text};
use segue_testkit::{SshClient, SshServer, World, isolated};
use serde_json::{Value, json};

use super::{show, wait};
use crate::world;

/// A verify command that does what an agent would do: it commits a change and pushes it.
const PUSH: &str = "echo two >> code.txt && git -c user.name=Ann -c user.email=ann@example.org \
    commit -q -a -m 'add two' && git push -q origin HEAD";

/// A world with the agent `coder`, and a server with the repository `app.git`.
struct SshScene {
    world: World,
    server: SshServer,
    origin: PathBuf,
}

impl SshScene {
    fn new(client: SshClient) -> Self {
        let mut world = world();
        scene::write_shop(&world, "");
        let origins = world.root().join("origins");
        make_origin(&origins);
        let server = SshServer::start(&origins);
        world.set("GIT_SSH_COMMAND", server.command(client));
        scene::share_environment(&world);
        Self { world, server, origin: origins.join("app.git") }
    }

    /// Adds a task that commits and pushes, and waits for its end.
    fn push(&self, url: &str, branch: &str) -> Value {
        let id = self.world.ok([
            "task", "add", "--agent", "coder", "--repo", url, "--branch", branch, "--verify", PUSH,
            "hello",
        ]);
        wait(&self.world, id.trim())
    }
}

fn folder(task: &Value) -> &Path {
    Path::new(text(task, "worktree"))
}

#[test]
fn task_clones_fetches_and_pushes_over_ssh() {
    isolated(|| {
        let scene = SshScene::new(SshClient::Known);
        let first = scene.push(&scene.server.url("app.git"), "first");
        assert_eq!(first["state"], "done", "{first:#}\n{}", scene.server.log());
        let commit = git(&scene.origin, &["rev-parse", "first"]);
        assert_eq!(first["result"]["commits"], json!([{ "id": commit, "subject": "add two" }]));
        // The main branch moves, so the clone has to fetch.
        git(&scene.origin, &["branch", "-f", "main", "first"]);
        let second = scene.push(&scene.server.url("app.git"), "second");
        assert_eq!(second["state"], "done", "{second:#}");
        assert_eq!(git(&scene.origin, &["rev-parse", "second^"]), commit);
        assert_eq!(git(folder(&second), &["branch", "--show-current"]), "second");
        assert!(scene.server.log().contains("Accepted publickey for git"));
    });
}

#[test]
fn task_takes_the_short_form_of_an_ssh_url() {
    isolated(|| {
        let scene = SshScene::new(SshClient::Known);
        let url = scene.server.short_url("app.git");
        let done = scene.push(&url, "first");
        assert_eq!(done["state"], "done", "{done:#}\n{}", scene.server.log());
        assert_eq!(git(&scene.origin, &["log", "-1", "--format=%s", "first"]), "add two");
        assert_eq!(git(folder(&done), &["remote", "get-url", "origin"]), url);
    });
}

/// Checks that a task of a client fails at once, with the words of ssh and a hint.
fn check_refused(client: SshClient, words: &str) {
    let scene = SshScene::new(client);
    let url = scene.server.url("app.git");
    let failed = scene.push(&url, "first");
    assert_eq!((&failed["state"], &failed["attempts"]), (&json!("failed"), &json!(0)));
    let reason = text(&failed, "reason");
    assert!(reason.contains(words) && reason.contains("git ls-remote"), "{reason}");
    let run = scene.world.segue(["run", "-d", "--worktree", "x", "--repo", &url, "hello"]);
    assert_ne!(run.status, 0, "{run:#?}");
    assert!(run.stderr.contains(words), "{run:#?}");
    assert!(run.stderr.contains("hint: run `git ls-remote"), "{run:#?}");
    assert_eq!(show(&scene.world, text(&failed, "id"))["session"], Value::Null);
    assert_eq!(scene.world.sessions().len(), 0);
    assert_eq!(git(&scene.origin, &["branch", "--list", "first"]), "");
}

#[test]
fn task_fails_at_once_with_the_words_of_ssh_if_the_server_is_unknown() {
    isolated(|| check_refused(SshClient::NewToServer, "Host key verification failed"));
}

#[test]
fn task_fails_at_once_with_the_words_of_ssh_if_the_server_refuses_the_key() {
    isolated(|| check_refused(SshClient::WithOtherKey, "Permission denied (publickey)"));
}
