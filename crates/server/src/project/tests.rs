use tempfile::TempDir;

use super::*;

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
    Project::read(&folder, &segue_vendors::all())
}

const CODER: &str = "[[agents]]\nname = \"coder\"\nvendor = \"demo\"\n";

#[test]
fn a_fleet_is_called_like_its_folder_unless_it_says_otherwise() {
    assert_eq!(read(CODER).unwrap().fleet.as_str(), "my-shop");
    let named = read(&format!("[fleet]\nname = \"blog\"\n{CODER}")).unwrap();
    assert_eq!(named.fleet.as_str(), "blog");
}

#[test]
fn several_of_one_kind_are_numbered() {
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
fn prompts_are_read_and_filled_in() {
    let file =
        format!("{CODER}prompt = \"p.md\"\n[[agents]]\nname = \"tester\"\nvendor = \"demo\"\n");
    let prompt = "{{agent}} of {{fleet}} works with {{peers}}";
    let (_temporary, folder) = folder(&[("segue.toml", &file), ("p.md", prompt)]);
    let project = Project::read(&folder, &segue_vendors::all()).unwrap();
    assert_eq!(project.agents[0].prompt.as_deref(), Some("coder of my-shop works with tester"));
}

#[test]
fn what_is_wrong_is_told_with_its_line() {
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
fn bad_names_doubles_missing_files_and_endless_ones_are_refused() {
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
fn keys_that_are_not_built_yet_say_so() {
    let keys = ["worktree = \"x\"", "fallback = [\"demo\"]", "effort = \"high\""];
    for key in keys {
        let error = read(&format!("{CODER}{key}\n")).unwrap_err();
        assert!(error.message.contains("not built yet"), "{key}: {error}");
    }
}

#[test]
fn an_agent_is_archived_unless_its_file_says_otherwise() {
    for (line, archive) in [("", true), ("archive = true\n", true), ("archive = false\n", false)] {
        let project = read(&format!("{CODER}{line}")).unwrap();
        assert_eq!(project.agents[0].archive, archive, "{line}");
    }
}

#[test]
fn trust_is_in_what_runs_not_in_what_is_said() {
    let plain = read(CODER).unwrap().contents();
    let with = |key: &str| read(&format!("{CODER}{key}\n")).unwrap().contents();
    assert_eq!(with("model = \"m\""), plain);
    for key in ["args = [\"-x\"]", "env = { A = \"1\" }", "permission = \"auto\""] {
        assert_ne!(with(key), plain, "{key}");
    }
}

const VENDOR: &str = "[vendors.mytool]\ncommand = [\"mytool\", \"chat\"]\n";
const BY_ID: &str = "new = [\"--session\", \"{id}\"]\nresume = [\"--resume\", \"{id}\"]\n";

#[test]
fn a_vendor_of_its_own_is_known_to_its_agents_and_shown_before_it_is_trusted() {
    let agent = "[[agents]]\nname = \"coder\"\nvendor = \"mytool\"\n";
    let project = read(&format!("{agent}{VENDOR}{BY_ID}")).unwrap();
    let description = &project.vendors[&VendorId::new("mytool")];
    assert_eq!(description.command, ["mytool", "chat"]);
    assert!(project.contents()[0].contains("mytool"), "{:?}", project.contents());
    assert!(read(agent).is_err(), "it is not described");
}

#[test]
fn a_vendor_that_could_resume_a_wrong_conversation_is_refused() {
    let table = [
        ("[vendors.mytool]\ncommand = []\n".to_owned(), "is empty"),
        (format!("{VENDOR}resume = [\"--continue\"]\n"), "does not say which"),
        (format!("{VENDOR}resume = [\"--resume\", \"{{id}}\"]\n"), "known id"),
        (format!("{VENDOR}transcript = \"~/log\"\n"), "the same for all"),
        (format!("{VENDOR}format = \"yaml\"\n"), "not known"),
        (format!("{VENDOR}colour = 1\n"), "colour"),
        (VENDOR.replace("mytool]", "demo]"), "knows itself"),
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
fn timers_have_a_time_and_a_text_and_are_part_of_what_is_trusted() {
    let timer = |every: &str, prompt: &str| {
        format!("{CODER}[[agents.timers]]\nevery = \"{every}\"\nprompt = \"{prompt}\"\n")
    };
    let text = timer("20m", "{{agent}}: go on") + "interrupt = true\n";
    let (_temporary, place) = folder(&[("segue.toml", &text)]);
    let project = Project::read(&place, &segue_vendors::all()).unwrap();
    let timers = &project.agents[0].timers;
    assert_eq!(timers[0].prompt, "coder: go on");
    assert_eq!(timers[0].every.as_secs(), 1200);
    assert!(project.contents().iter().any(|line| line.contains("coder: go on")));
    let (_temporary, place) =
        folder(&[("segue.toml", &timer("1s", "tick.md")), ("tick.md", "from a file")]);
    let project = Project::read(&place, &segue_vendors::all()).unwrap();
    assert_eq!(project.agents[0].timers[0].prompt, "from a file");
    let table = [
        (timer("0s", "go on"), "line 5", "every"),
        (timer("500ms", "go on"), "line 5", "every"),
        (timer("-20m", "go on"), "line 5", "every"),
        (timer("often", "go on"), "line 5", "every"),
        (timer("9999h", "go on"), "line 5", "every"),
        (timer("20m", ""), "line 6", "says nothing"),
        (timer("20m", "gone.md"), "line 6", "gone.md"),
        (timer("20m", "go {{an}}"), "line 1", "{{an}}"),
    ];
    for (text, line, word) in table {
        let error = read(&text).unwrap_err();
        assert!(error.message.contains(line), "{text}: {error}");
        assert!(error.message.contains(word), "{text}: {error}");
    }
}
