//! Where the environment of a restart comes from if agent, holder and daemon were killed: from the
//! user's login shell and from files.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use segue_testkit::events::Events;
use segue_testkit::scene::{assert_knows, process, told, told_events, wait_event};
use segue_testkit::{World, processes};
use serde_json::{Value, json};

const SECRET: &str = "a-value-that-is-on-no-disk";

/// Returns a world whose sessions have the variable `API_KEY`, with these settings.
fn world(settings: &str) -> World {
    let mut world = crate::world();
    world.set("API_KEY", "given");
    fs::write(world.segue_home().join("config.toml"), settings).unwrap();
    world
}

/// Writes the files that login shells read first. They set all variables of the world, and these.
fn write_profile(world: &World, more: &str) {
    let own = world.environment().into_iter().filter(|(name, _)| name != "API_KEY");
    let own: String = own.map(|(name, value)| format!("export {name}='{value}'\n")).collect();
    for file in [".profile", ".zprofile"] {
        fs::write(world.home().join(file), format!("echo Welcome\n{own}{more}")).unwrap();
    }
}

/// Waits until the session is in this launch and idle.
fn wait_back(world: &World, name: &str, events: &mut Events, launch: &str) -> Value {
    wait_event(events, "launch_planned", launch);
    wait_event(events, "status_changed", "idle");
    world.session(name)
}

/// Returns the files below a folder that contain the text.
fn files_with(folder: &Path, text: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap()) {
        let kind = entry.file_type().unwrap();
        if kind.is_dir() {
            found.extend(files_with(&entry.path(), text));
        } else if kind.is_file() {
            let bytes = fs::read(entry.path()).unwrap();
            let has_it = bytes.windows(text.len()).any(|part| part == text.as_bytes());
            found.extend(has_it.then(|| entry.path()));
        }
    }
    found
}

#[test]
fn session_killed_with_its_holder_comes_back_with_the_login_shells_variables() {
    let world = world("");
    write_profile(&world, &format!("export API_KEY={SECRET}\n"));
    let before = told(&world, "alpha", "heron");
    world.kill_everything();
    // The next command starts a daemon, as after a reboot.
    let mut events = Events::of(&world);
    let after = wait_back(&world, "alpha", &mut events, "launch 2 (resume)");
    assert_eq!(after["vendor_session_id"], before["vendor_session_id"]);
    let value = processes::variable(process(&after, "pid"), "API_KEY");
    assert_eq!(value.as_deref(), Some(SECRET));
    let restarts = told_events(&world, "alpha", "environment_found");
    assert_eq!(restarts, ["restarts with the environment of the login shell"]);
    assert_knows(&world, "alpha", "heron");
    assert_eq!(files_with(&world.segue_home(), SECRET), Vec::<PathBuf>::new());
}

#[test]
fn session_waits_and_names_the_variable_that_the_login_shell_lacks() {
    let world = world("");
    write_profile(&world, "");
    told(&world, "alpha", "heron");
    world.kill_everything();
    let mut events = Events::of(&world);
    wait_event(&mut events, "status_changed", "waiting (environment)");
    let waiting = world.session("alpha");
    assert_eq!(
        (&waiting["status"], &waiting["waiting_for"]),
        (&json!("waiting"), &json!("environment"))
    );
    assert_eq!(waiting["status_detail"], "environment: API_KEY");
    assert_eq!(waiting["missing_variables"], json!(["API_KEY"]));
    let listed = world.ok(["ls"]);
    assert!(listed.contains("waiting (environment: API_KEY)"), "{listed}");
    let why = told_events(&world, "alpha", "gave_up");
    assert!(why.last().unwrap().contains("`API_KEY` is missing"), "{why:?}");
    assert_eq!(waiting["launches"], 1);

    world.resume(["alpha"]).assert_back("alpha", "resumed");
    let after = world.session("alpha");
    assert_eq!(after["missing_variables"], json!([]));
    let value = processes::variable(process(&after, "pid"), "API_KEY");
    assert_eq!(value.as_deref(), Some("given"));
    assert_knows(&world, "alpha", "heron");
}

#[test]
fn file_of_the_settings_is_a_source_unless_others_may_read_it() {
    let world = world("[environment]\nshell = false\nfiles = [\"~/agents.env\"]\n");
    let file = world.home().join("agents.env");
    let names = ["TMPDIR", "TZ"].map(|name| {
        let (_, value) = world.environment().into_iter().find(|(it, _)| it == name).unwrap();
        format!("{name}='{value}'\n")
    });
    fs::write(&file, format!("# keys\n{}API_KEY=\"{SECRET}\"\n", names.concat())).unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o644)).unwrap();
    told(&world, "alpha", "heron");
    let found = world.segue(["doctor"]);
    assert_eq!(found.status, 1, "{found:#?}");
    for part in ["agents.env", "others may read or write it (mode 0644)"] {
        assert!(found.stdout.contains(part), "{part}: {found:#?}");
    }
    assert!(!found.stdout.contains(SECRET), "{found:#?}");

    fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
    world.kill_everything();
    let mut events = Events::of(&world);
    let after = wait_back(&world, "alpha", &mut events, "launch 2 (resume)");
    let value = processes::variable(process(&after, "pid"), "API_KEY");
    assert_eq!(value.as_deref(), Some(SECRET));
}

#[test]
fn session_stays_interrupted_without_a_source() {
    let world = world("[environment]\nshell = false\n");
    told(&world, "alpha", "heron");
    world.kill_everything();
    assert_eq!(world.session("alpha")["status"], "interrupted");
    assert_eq!(told_events(&world, "alpha", "restart_planned"), Vec::<String>::new());
    world.resume(["--all"]).assert_back("alpha", "resumed");
}
