mod reference;

use segue_core::model::{AgentName, Counts, Environment};
use segue_git::{CheckoutFolders, GitCheckouts};
use segue_host::clock::SystemClock;
use tempfile::TempDir;

use super::*;

/// Worktrees in folders that do not exist.
pub(super) fn checkouts() -> Arc<dyn Checkouts> {
    let worktrees = PathBuf::from("/nowhere/worktrees");
    let folders = CheckoutFolders { worktrees, ..CheckoutFolders::default() };
    Arc::new(GitCheckouts::new(folders, Environment::default(), Arc::new(SystemClock)))
}

fn projects() -> ProjectFolders {
    let vendors = Arc::new(segue_vendors::all());
    ProjectFolders::new(vendors, checkouts(), PathBuf::from("/nowhere/config.toml"))
}

fn project_in(folder: &Path) -> Result<Project> {
    projects().read(folder)?.project(&FleetScale::default())
}

fn folder(files: &[(&str, &str)]) -> (TempDir, PathBuf) {
    let temporary = tempfile::tempdir().unwrap();
    let folder = temporary.path().join("my shop");
    for (name, text) in files {
        let path = folder.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    (temporary, folder)
}

fn read(text: &str) -> Result<Project> {
    let (_temporary, folder) = folder(&[("segue.toml", text)]);
    project_in(&folder)
}

const CODER: &str = "[[agents]]\nname = \"coder\"\nvendor = \"demo\"\n";

#[test]
fn fleet_without_a_name_is_named_after_its_folder() {
    assert_eq!(read(CODER).unwrap().fleet.as_str(), "my-shop");
    let named = read(&format!("[fleet]\nname = \"blog\"\n{CODER}")).unwrap();
    assert_eq!(named.fleet.as_str(), "blog");
}

#[test]
fn value_of_another_type_is_reported_without_the_types_of_the_program() {
    let table = [
        (
            "[agents.coder]\nvendor = \"demo\"\n",
            "line 1: expected a list of tables, each of them below `[[…]]`, got one table",
        ),
        (
            "fleet = \"blog\"\n",
            "line 1: invalid type: string \"blog\", expected a table, whose keys are below `[…]`",
        ),
        (
            "[[agents]]\nname = \"coder\"\nvendor = \"demo\"\nargs = \"-v\"\n",
            "line 4: invalid type: string \"-v\", expected a list",
        ),
    ];
    for (text, expected) in table {
        let error = read(text).unwrap_err();
        assert!(error.message.ends_with(expected), "{error}");
    }
}

#[test]
fn agents_of_one_kind_are_numbered_if_count_is_set() {
    let names = |text: &str| -> Vec<String> {
        read(text).unwrap().agents.iter().map(|agent| agent.name.to_string()).collect()
    };
    assert_eq!(names(CODER), ["coder"]);
    assert_eq!(names(&format!("{CODER}count = 3\n")), ["coder-1", "coder-2", "coder-3"]);
    for count in ["0", "101", "4294967295"] {
        assert!(read(&format!("{CODER}count = {count}\n")).is_err(), "{count}");
    }
}

#[test]
fn prompt_file_is_read_and_its_variables_are_replaced() {
    let file =
        format!("{CODER}prompt = \"p.md\"\n[[agents]]\nname = \"tester\"\nvendor = \"demo\"\n");
    let prompt = "{{agent}} of {{fleet}} works with {{peers}}";
    let (_temporary, folder) = folder(&[("segue.toml", &file), ("p.md", prompt)]);
    let project = project_in(&folder).unwrap();
    assert_eq!(project.agents[0].prompt.as_deref(), Some("coder of my-shop works with tester"));
}

#[test]
fn templates_of_tasks_are_read_if_they_exist_and_must_be_trusted() {
    let (_temporary, plain) = folder(&[("segue.toml", CODER)]);
    let plain = project_in(&plain).unwrap();
    assert_eq!(plain.templates, segue_core::model::TaskTemplates::default());
    let files = [("segue.toml", CODER), ("prompts/task.md", "do {{ prompt }}")];
    let (_temporary, folder) = folder(&files);
    let project = project_in(&folder).unwrap();
    let task = project.templates.task.unwrap();
    assert_eq!(
        (task.path, task.text.as_str()),
        (folder.join("prompts/task.md"), "do {{ prompt }}")
    );
    assert_eq!(project.templates.delta, None);
    let claims: Vec<&str> = project.claims.iter().map(|claim| claim.what.as_str()).collect();
    assert_eq!(claims.len(), plain.claims.len() + 1);
    assert_eq!(claims.last(), Some(&"tasks: template `prompts/task.md`"));
}

#[test]
fn parse_error_names_the_line_and_the_wrong_value() {
    let table = [
        (format!("{CODER}colour = \"red\"\n"), "line 4", "colour"),
        (format!("{CODER}permission = \"yes\"\n"), "line 4", "yes"),
        ("[[agents]]\nname = \"coder\"\n".to_owned(), "line 1", "vendor"),
        ("[[agents]\n".to_owned(), "line 1", ""),
    ];
    for (text, line, word) in table {
        let error = read(&text).unwrap_err();
        assert_eq!(error.kind, segue_core::Kind::Config, "{text}");
        assert!(error.message.contains(line), "{text}: {error}");
        assert!(error.message.contains(word), "{text}: {error}");
        assert!(!error.hints.is_empty(), "{text}");
    }
}

#[test]
fn bad_names_duplicates_missing_files_and_devices_are_config_errors() {
    let table = [
        "[[agents]]\nname = \"a b\"\nvendor = \"demo\"\n".to_owned(),
        format!("{CODER}{CODER}"),
        format!("{CODER}prompt = \"nowhere.md\"\n"),
        format!("{CODER}prompt = \"/dev/zero\"\n"),
        format!("{CODER}args = [\"--api-key\", \"abc\"]\n"),
    ];
    for text in table {
        let error = read(&text).unwrap_err();
        assert_eq!(error.kind, segue_core::Kind::Config, "{text}: {error}");
    }
}

#[test]
fn reserved_keys_are_reported_as_not_built_yet() {
    let keys = ["fallback = [\"demo\"]", "effort = \"high\""];
    for key in keys {
        let error = read(&format!("{CODER}{key}\n")).unwrap_err();
        assert!(error.message.contains("not built yet"), "{key}: {error}");
    }
}

#[test]
fn error_about_an_unknown_key_lists_only_supported_keys() {
    let error = read(&format!("{CODER}permision = \"ask\"\n")).unwrap_err();
    assert!(error.message.contains("unknown key `permision`, expected one of `name`"), "{error}");
    assert!(error.message.contains("`permission`") && error.message.contains("`timers`"));
    for key in ["effort", "fallback"] {
        assert!(!error.message.contains(key), "{error}");
    }
    assert_eq!(error.hints[0], "did you mean `permission`?");
    // The error names a key in the wrong place, even if the key is reserved.
    let error = read("[fleet]\nworktree = \"x\"\n").unwrap_err();
    assert!(error.message.ends_with("unknown key `worktree`, expected `name`"), "{error}");
}

#[test]
fn agent_is_archived_unless_archive_is_false() {
    for (line, archive) in [("", true), ("archive = true\n", true), ("archive = false\n", false)] {
        let project = read(&format!("{CODER}{line}")).unwrap();
        assert_eq!(project.agents[0].archive, archive, "{line}");
    }
}

#[test]
fn claims_contain_every_key_and_text_that_reaches_an_agent() {
    let read_with = |key: &str, text: &str| {
        let file = format!("{CODER}{key}\n");
        let (_temporary, folder) = folder(&[("segue.toml", &file), ("a.md", text)]);
        project_in(&folder).unwrap().claims
    };
    let plain = read_with("", "one");
    assert_eq!(read_with("archive = false", "one"), plain);
    assert_eq!(read_with("# a comment", "two"), plain);
    let keys = [
        "model = \"m\"",
        "args = [\"-x\"]",
        "env = { A = \"1\" }",
        "permission = \"auto\"",
        "prompt = \"a.md\"",
        "instructions = \"a.md\"",
        "[[agents.timers]]\nevery = \"1m\"\nprompt = \"a.md\"",
        "[[agents.timers]]\nevery = \"1m\"\nprompt = \"do it\"",
        "[vendors.mytool]\ncommand = [\"mytool\"]",
    ];
    for key in keys {
        assert_ne!(read_with(key, "one"), plain, "{key}");
        // A change of the file's content changes the claims, too.
        let names_file = key.contains("a.md");
        assert_eq!(read_with(key, "one") != read_with(key, "two"), names_file, "{key}");
    }
}

#[test]
fn changed_value_of_a_variable_does_not_change_the_claims() {
    let file = format!("{CODER}prompt = \"p.md\"\n");
    let files = [
        ("segue.toml", file.as_str()),
        ("p.md", "on {{branch}}"),
        (".git/HEAD", "ref: refs/heads/one\n"),
    ];
    let (_temporary, folder) = folder(&files);
    let read = || project_in(&folder).unwrap();
    let before = read();
    fs::write(folder.join(".git/HEAD"), "ref: refs/heads/two\n").unwrap();
    let after = read();
    assert_eq!(before.claims, after.claims);
    assert_eq!(after.agents[0].prompt.as_deref(), Some("on two"));
}

#[test]
fn scaled_project_keeps_the_texts_that_were_read_first() {
    let file = format!("{CODER}prompt = \"p.md\"\n");
    let (_temporary, folder) = folder(&[("segue.toml", &file), ("p.md", "trusted")]);
    let file = projects().read(&folder).unwrap();
    let project = file.project(&FleetScale::default()).unwrap();
    fs::write(folder.join("p.md"), "swapped").unwrap();
    fs::write(folder.join("segue.toml"), "nonsense").unwrap();
    let counts = Counts::from([(AgentName::parse("coder").unwrap(), 3)]);
    let scaled = file.project(&FleetScale { counts, ..FleetScale::default() }).unwrap();
    assert_eq!(scaled.agents.len(), 3);
    assert!(scaled.agents.iter().all(|it| it.prompt.as_deref() == Some("trusted")));
    assert_eq!(scaled.claims, project.claims);
}

#[test]
fn text_file_outside_the_project_is_an_error_that_names_its_line() {
    let paths = [
        "../secret",
        "/etc/passwd",
        "/proc/self/environ",
        "link",
        "folder/secret",
        "pipe",
        "/dev/zero",
    ];
    for path in paths {
        for key in ["prompt", "instructions", "[[agents.timers]]\nevery = \"1m\"\nprompt"] {
            let file = format!("{CODER}{key} = \"{path}\"\n");
            let (temporary, folder) = folder(&[("segue.toml", &file)]);
            fs::write(temporary.path().join("secret"), "secret").unwrap();
            std::os::unix::fs::symlink("../secret", folder.join("link")).unwrap();
            std::os::unix::fs::symlink("..", folder.join("folder")).unwrap();
            let mode = rustix::fs::Mode::from_raw_mode(0o600);
            let pipe = folder.join("pipe");
            rustix::fs::mknodat(rustix::fs::CWD, pipe, rustix::fs::FileType::Fifo, mode, 0)
                .unwrap();
            // A word without a dot or a slash is the message itself.
            if key.contains("timers") && !path.contains('/') {
                continue;
            }
            let error = project_in(&folder).unwrap_err();
            assert!(error.message.contains("segue.toml` line "), "{path}: {error}");
            assert!(error.message.contains(path), "{path}: {error}");
            assert!(!error.causes.is_empty() && !error.hints.is_empty(), "{path}: {error:?}");
        }
    }
}

const VENDOR: &str = "[vendors.mytool]\ncommand = [\"mytool\", \"chat\"]\n";
const BY_ID: &str = "new = [\"--session\", \"{id}\"]\nresume = [\"--resume\", \"{id}\"]\n";

#[test]
fn vendor_of_a_project_file_is_usable_by_agents_and_is_a_claim_to_trust() {
    let agent = "[[agents]]\nname = \"coder\"\nvendor = \"mytool\"\n";
    let project = read(&format!("{agent}{VENDOR}{BY_ID}")).unwrap();
    let description = &project.vendors[&VendorId::new("mytool")];
    assert_eq!(description.command, ["mytool", "chat"]);
    assert_eq!(project.claims[0].what, "vendor mytool");
    assert!(read(agent).is_err(), "a vendor without a description is accepted");
}

#[test]
fn model_or_instructions_for_a_vendor_of_the_file_are_refused() {
    let vendor = "[vendors.tool]\ncommand = [\"tool\"]\n";
    for key in ["model", "instructions"] {
        let agent = format!("[[agents]]\nname = \"a\"\nvendor = \"tool\"\n{key} = \"x\"\n");
        let error = read(&format!("{agent}{vendor}")).unwrap_err();
        assert!(error.message.contains(&format!("does not support `{key}`")), "{error}");
    }
}

#[test]
fn mcp_is_trusted_and_refused_for_a_vendor_that_cannot_use_it() {
    let agent = |vendor: &str, mcp: &str| {
        let vendors = "[vendors.tool]\ncommand = [\"tool\"]\n";
        read(&format!("[[agents]]\nname = \"a\"\nvendor = \"{vendor}\"\n{mcp}{vendors}"))
    };
    let plain = agent("claude", "").unwrap();
    let with_tools = agent("claude", "mcp = true\n").unwrap();
    assert!(with_tools.agents[0].mcp && !plain.agents[0].mcp);
    assert_ne!(with_tools.claims, plain.claims);
    assert_eq!(agent("claude", "mcp = false\n").unwrap().claims, plain.claims);
    for (vendor, words) in [("demo", "cannot use MCP servers"), ("tool", "does not support `mcp`")]
    {
        let error = agent(vendor, "mcp = true\n").unwrap_err();
        assert!(error.message.contains("line 4"), "{error}");
        assert!(error.to_string().contains(words), "{error}");
        assert!(agent(vendor, "mcp = false\n").is_ok());
    }
}

#[test]
fn invalid_description_of_a_vendor_is_an_error_that_names_its_line() {
    let table = [
        ("[vendors.mytool]\ncommand = []\n".to_owned(), "is empty"),
        (format!("{VENDOR}resume = [\"--continue\"]\n"), "`resume` of vendor"),
        (format!("{VENDOR}resume = [\"--resume\", \"{{id}}\"]\n"), "`new` of vendor"),
        (format!("{VENDOR}transcript = \"~/log\"\n"), "`transcript` of vendor"),
        (format!("{VENDOR}format = \"yaml\"\n"), "must be `auto`, got `yaml`"),
        (format!("{VENDOR}colour = 1\n"), "colour"),
        (VENDOR.replace("mytool]", "demo]"), "built-in vendor"),
        (VENDOR.replace("mytool]", "\"my tool\"]"), "cannot be the name"),
    ];
    for (text, words) in table {
        let error = read(&text).unwrap_err();
        assert!(error.message.contains(words), "{text}: {error}");
        assert!(error.message.contains("line "), "{error}");
        assert!(!error.hints.is_empty(), "{error:?}");
    }
}

#[test]
fn timers_are_parsed_and_checked_and_belong_to_the_claims_to_trust() {
    let timer = |every: &str, prompt: &str| {
        format!("{CODER}[[agents.timers]]\nevery = \"{every}\"\nprompt = \"{prompt}\"\n")
    };
    let text = timer("20m", "{{agent}}: go on") + "interrupt = true\n";
    let (_temporary, place) = folder(&[("segue.toml", &text)]);
    let project = project_in(&place).unwrap();
    let timers = &project.agents[0].timers;
    assert_eq!(timers[0].prompt, "coder: go on");
    assert_eq!(timers[0].every.as_secs(), 1200);
    assert!(project.claims.iter().any(|claim| claim.value == "{{agent}}: go on"));
    let (_temporary, place) =
        folder(&[("segue.toml", &timer("1s", "tick.md")), ("tick.md", "from a file")]);
    let project = project_in(&place).unwrap();
    assert_eq!(project.agents[0].timers[0].prompt, "from a file");
    let table = [
        (timer("0s", "go on"), "line 5", "every"),
        (timer("500ms", "go on"), "line 5", "every"),
        (timer("-20m", "go on"), "line 5", "every"),
        (timer("often", "go on"), "line 5", "every"),
        (timer("9999h", "go on"), "line 5", "every"),
        (timer("20m", ""), "line 6", "is empty"),
        (timer("20m", "gone.md"), "line 6", "gone.md"),
        (timer("20m", "go {{an}}"), "line 1", "{{an}}"),
    ];
    for (text, line, word) in table {
        let error = read(&text).unwrap_err();
        assert!(error.message.contains(line), "{text}: {error}");
        assert!(error.message.contains(word), "{text}: {error}");
    }
}

#[test]
fn claim_describes_what_an_agent_may_do() {
    let table = [
        ("", "runs demo, asks before acting"),
        ("permission = \"accept-edits\"", "runs demo, may edit files without asking"),
        (
            "permission = \"auto\"\nmodel = \"m\"\nargs = [\"-x\", \"a b\"]",
            "runs demo, may act without asking, model \"m\", with arguments \"-x\" \"a b\"",
        ),
    ];
    for (keys, expected) in table {
        let project = read(&format!("{CODER}{keys}\n")).unwrap();
        assert_eq!(project.claims[0].words.as_deref(), Some(expected));
    }
    let unlimited = CODER.replace("demo", "pi");
    let project = read(&unlimited).unwrap();
    assert_eq!(
        project.claims[0].words.as_deref(),
        Some("runs pi, Segue cannot limit what it does")
    );
}

#[test]
fn worktree_of_an_agent_is_its_branch_with_variables_replaced() {
    let text = "[[agents]]\nname = \"coder\"\nvendor = \"demo\"\ncount = 2\n\
        worktree = \"feature/{{agent}}\"\nrepo = \"https://git.example.org/team/app.git\"\n\
        git = { name = \"Coder\", email = \"coder@example.org\" }\n\
        env = { GIT_COMMITTER_NAME = \"Mine\" }\n";
    let project = read(text).unwrap();
    let orders: Vec<_> = project.agents.iter().map(|it| it.worktree.clone().unwrap()).collect();
    assert_eq!(orders[1].branch.as_str(), "feature/coder-2");
    assert_eq!(orders[1].url.as_ref().unwrap().as_str(), "https://git.example.org/team/app.git");
    let env = &project.agents[0].env;
    assert_eq!(env["GIT_AUTHOR_NAME"], "Coder");
    assert_eq!(env["GIT_AUTHOR_EMAIL"], "coder@example.org");
    assert_eq!(env["GIT_COMMITTER_NAME"], "Mine");
    let claims = format!("{:?}", project.claims);
    for shown in ["feature/{{agent}}", "team/app.git", "GIT_AUTHOR_EMAIL", "coder@example.org"] {
        assert!(claims.contains(shown), "{shown}: {claims}");
    }
}

#[test]
fn prompt_gets_the_branch_and_the_path_of_the_worktree() {
    let file = format!("{CODER}worktree = \"fix\"\nprompt = \"a.md\"\n");
    let (_temporary, folder) =
        folder(&[("segue.toml", &file), ("a.md", "{{branch}}: {{worktree}}")]);
    for part in ["HEAD", "objects", "refs"] {
        let path = folder.join(".git").join(part);
        match part {
            "HEAD" => {
                std::fs::create_dir(folder.join(".git")).and_then(|()| std::fs::write(path, "x"))
            }
            _ => std::fs::create_dir(path),
        }
        .unwrap();
    }
    let project = projects().around(&folder).unwrap().unwrap();
    let prompt = project.agents[0].prompt.clone().unwrap();
    assert!(prompt.starts_with("fix: /nowhere/worktrees/"), "{prompt}");
    assert!(prompt.ends_with("/coder/fix"), "{prompt}");
}

#[test]
fn keys_of_worktrees_that_lead_out_of_the_project_or_make_no_sense_are_refused() {
    let table = [
        (format!("{CODER}worktree = \"a b\"\n"), "line 4"),
        (format!("{CODER}worktree = \"{{{{agnet}}}}\"\n"), "unknown variable"),
        (format!("{CODER}repo = \"https://h/a\"\n"), "`repo` needs a branch"),
        (format!("{CODER}worktree = \"a\"\nrepo = \"ext::sh\"\n"), "line 5"),
        (format!("{CODER}git = {{ name = \"\", email = \"a@b\" }}\n"), "name and an email"),
        ("[worktrees]\nlink = [\"../x\"]\n".to_owned(), "leads out of the project"),
        ("[worktrees]\nlink = [\"/etc\"]\n".to_owned(), "leads out of the project"),
        ("[worktrees]\ninclude = [\"\"]\n".to_owned(), "is empty"),
        ("[worktrees]\nsetup = [\" \"]\n".to_owned(), "a command is empty"),
        ("[worktrees]\nteardown = [\"a\\nb\"]\n".to_owned(), "has a line break"),
        ("[worktrees]\nsetup = [\"a \u{202e}b\"]\n".to_owned(), "an invisible character"),
        (format!("[worktrees]\nsetup = [\"{}\"]\n", "x".repeat(251)), "at most 250 bytes, got 251"),
        ("[worktrees]\nsetup = [\"x --token abc\"]\n".to_owned(), "would put a secret"),
        ("[worktrees]\nsetup_timeout = \"25h\"\n".to_owned(), "`setup_timeout` must be between"),
        ("[worktrees]\nteardown_timeout = \"0s\"\n".to_owned(), "`teardown_timeout` must be"),
    ];
    for (text, expected) in table {
        let error = read(&text).unwrap_err();
        assert!(error.in_one_line().contains(expected), "{text}: {error}");
    }
}
