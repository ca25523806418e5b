//! A private repository is cloned with a token.

use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::path::PathBuf;

use segue_testkit::repositories::make_origin;
use segue_testkit::world::CommandOutcome;
use segue_testkit::{GitServer, World, files};

use super::worktrees::{repeat_unless_there, run_and_repository_are_right};
use super::{NAME, Scenario, prompt, wait_at_rest};

/// The user name that Segue uses if the settings have none.
const USERNAME: &str = "x-access-token";

const TOKEN: &str = "t0ken-of-the-scenario";

pub(super) const SCENARIOS: &[Scenario] = &[Scenario {
    name: "worktree-token",
    serve: |world| Some(serve(world)),
    act: run,
    settle: wait_at_rest,
    check: |world, outcome| {
        run_and_repository_are_right(world, outcome);
        assert_no_trace(world);
    },
    repeat: |world| {
        repeat_unless_there(world, run);
        assert_no_trace(world);
    },
    ..Scenario::PLAIN
}];

/// Starts a server with the repository `app.git`, and adds its token to the settings.
fn serve(world: &World) -> GitServer {
    make_origin(world.root());
    let server = GitServer::start(world.root(), USERNAME, TOKEN);
    let token = world.root().join("token");
    fs::write(&token, TOKEN).unwrap();
    let settings = world.segue_home().join("config.toml");
    let mut settings = OpenOptions::new().append(true).open(settings).unwrap();
    let (host, token) = (server.host(), token.display());
    writeln!(settings, "[credentials.\"{host}\"]\ncommand = [\"cat\", \"{token}\"]").unwrap();
    fs::write(url_file(world), server.url("app.git")).unwrap();
    server
}

fn url_file(world: &World) -> PathBuf {
    world.root().join("url")
}

fn run(world: &World) -> CommandOutcome {
    let url = fs::read_to_string(url_file(world)).unwrap();
    let run = ["run", "-d", "--name", NAME, "--worktree", "fix", "--repo", &url];
    CommandOutcome::of(world.command(run).arg(prompt(NAME)))
}

fn assert_no_trace(world: &World) {
    assert_eq!(files::containing(&world.segue_home(), TOKEN), Vec::<PathBuf>::new());
}
