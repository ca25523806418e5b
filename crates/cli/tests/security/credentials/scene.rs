//! A world with a private repository on a git server, and a token for it.

use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use segue_testkit::git_server::base64;
use segue_testkit::repositories::{git, make_origin};
use segue_testkit::scene::{text, write_project};
use segue_testkit::stand_in::StandIn;
use segue_testkit::{CommandOutcome, GitServer, World, conversation, files, processes};

/// The user name that Segue uses if the settings have none.
pub(super) const USERNAME: &str = "x-access-token";

/// The beginning of every token. The rest is different in each test, because tests look at all
/// processes of the machine.
pub(super) const TOKEN_BEGIN: &str = "t0ken-of-";

/// The key of the credentials in `config.toml` does not begin before this text.
const SETTINGS: &str = "[environment]\nshell = false\n";

pub(super) struct CredentialScene {
    pub(super) world: World,
    pub(super) server: GitServer,
    pub(super) token: String,
    /// The command lines of all processes that exposed the token during a request of git.
    exposed: Arc<Mutex<Vec<String>>>,
}

impl CredentialScene {
    /// Creates a world with the repository `app.git`. It has one commit and a file `code.txt`.
    pub(super) fn new() -> Self {
        let world = crate::world();
        make_origin(world.root());
        let name = world.root().file_name().unwrap().to_str().unwrap();
        let token = format!("{TOKEN_BEGIN}{name}");
        let file = world.root().join("token");
        fs::write(&file, format!("{token}\nsecond line\n")).unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
        let exposed = Arc::new(Mutex::new(Vec::new()));
        let (seen, secret) = (Arc::clone(&exposed), token.clone());
        let server = GitServer::watched(world.root(), USERNAME, &token, move |_| {
            seen.lock().unwrap().extend(processes::exposing(&secret));
        });
        Self { world, server, token, exposed }
    }

    pub(super) fn root(&self) -> PathBuf {
        self.world.root().to_owned()
    }

    pub(super) fn origin(&self) -> PathBuf {
        self.root().join("app.git")
    }

    pub(super) fn token_file(&self) -> PathBuf {
        self.root().join("token")
    }

    pub(super) fn exposed(&self) -> Vec<String> {
        self.exposed.lock().unwrap().clone()
    }

    /// Returns the line of the settings that names the token's file, or a command that prints it.
    pub(super) fn source(&self, kind: &str) -> String {
        let file = self.token_file();
        match kind {
            "file" => format!("file = \"{}\"", file.display()),
            _ => format!("command = [\"cat\", \"{}\"]", file.display()),
        }
    }

    /// Adds credentials for a host to the settings.
    pub(super) fn set_credentials(&self, host: &str, lines: &str) {
        let path = self.world.segue_home().join("config.toml");
        let mut file = OpenOptions::new().append(true).open(path).unwrap();
        writeln!(file, "[credentials.\"{host}\"]\n{lines}").unwrap();
    }

    pub(super) fn replace_settings(&self, text: &str) {
        let path = self.world.segue_home().join("config.toml");
        assert_eq!(fs::read_to_string(&path).unwrap(), SETTINGS);
        fs::write(path, text).unwrap();
    }

    /// Starts a demo agent in a worktree of the private repository. Returns its folder.
    pub(super) fn run(&self, name: &str, branch: &str) -> PathBuf {
        let outcome = self.try_run(name, branch);
        assert_eq!(outcome.status, 0, "{outcome:#?}");
        let session = self.world.session(name);
        conversation::wait_turns(&self.world, &session, 1);
        PathBuf::from(text(&session, "cwd"))
    }

    pub(super) fn try_run(&self, name: &str, branch: &str) -> CommandOutcome {
        self.try_run_of(&self.server.url("app.git"), name, branch)
    }

    pub(super) fn try_run_of(&self, url: &str, name: &str, branch: &str) -> CommandOutcome {
        let run = ["run", "-d", "--vendor", "demo", "--name", name];
        let of = ["--repo", url, "--worktree", branch, "hello"];
        CommandOutcome::of(&mut self.world.command(run.iter().chain(&of)))
    }

    /// Starts the agent `coder`, whose program is a shell, in a worktree of the private repository.
    pub(super) fn start_shell_agent(&self) -> ShellAgent<'_> {
        let url = self.server.url("app.git");
        let agent = format!(
            "[[agents]]\nname = \"coder\"\nvendor = \"shell\"\nrepo = \"{url}\"\n\
             worktree = \"feature/{{{{agent}}}}\"\n\
             git = {{ name = \"Coder\", email = \"coder@example.org\" }}\n"
        );
        let vendor = "[vendors.shell]\ncommand = [\"/bin/sh\"]\n";
        write_project(&self.world, &format!("{agent}{vendor}"));
        self.world.ok(["up"]);
        let session = self.world.session("coder");
        let shell = StandIn::launched(&self.world, &session);
        ShellAgent { shell, folder: text(&session, "cwd").to_owned() }
    }

    /// Asserts that the token is in no file, and was in no environment and in no argument.
    pub(super) fn assert_no_trace(&self) {
        let own = ["token", "agents.env"].map(|name| self.root().join(name));
        let token = self.token.as_str();
        let on_wire = base64(format!("{USERNAME}:{token}").as_bytes());
        for text in [token, &on_wire] {
            let found = files::containing(self.world.root(), text);
            let found: Vec<_> = found.iter().filter(|path| !own.contains(path)).collect();
            assert!(found.is_empty(), "{found:#?}");
        }
        for clone in fs::read_dir(self.world.segue_home().join("data/clones")).unwrap() {
            // Git compresses its objects.
            let all = ["cat-file", "--batch-all-objects", "--batch", "--unordered"];
            assert!(!git(&clone.unwrap().path(), &all).contains(token));
        }
        assert_eq!(self.exposed(), Vec::<String>::new());
        assert_eq!(processes::exposing(token), Vec::<String>::new());
        for arguments in [["log", "--json"], ["ls", "--json"]] {
            assert!(!self.world.ok(arguments).contains(token));
        }
    }
}

/// An agent whose program is a shell.
pub(super) struct ShellAgent<'a> {
    shell: StandIn<'a>,
    folder: String,
}

impl ShellAgent<'_> {
    /// Runs a script in the worktree of the agent.
    pub(super) fn run(&self, script: &str) -> CommandOutcome {
        self.shell.run(&format!("cd {} && {script}", self.folder))
    }

    /// Commits a change with this subject, and pushes it.
    pub(super) fn push(&self, subject: &str) -> CommandOutcome {
        self.run(&format!(
            "echo {subject} >code.txt && git commit -q -a -m {subject} && git push -q origin HEAD"
        ))
    }
}
