//! Where the environment of a restart comes from if agent, holder and daemon were killed: from the
//! user's login shell and from files.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;

use segue_testkit::events::Events;
use segue_testkit::scene::{assert_knows, event_texts, pid, start_with_word, wait_event};
use segue_testkit::{World, files, processes};
use serde_json::{Value, json};

const SECRET: &str = "a-value-that-is-on-no-disk";

/// Creates a world with these settings, whose sessions have the variable `API_KEY`.
fn world(settings: &str) -> World {
    let mut world = crate::world();
    world.set("API_KEY", "given");
    fs::write(world.segue_home().join("config.toml"), settings).unwrap();
    world
}

/// Writes the files that login shells read first. They set all variables of the world, and have these
/// further lines.
fn write_profile(world: &World, lines: &str) {
    let variables = world.environment().into_iter().filter(|(name, _)| name != "API_KEY");
    let exports: String =
        variables.map(|(name, value)| format!("export {name}='{value}'\n")).collect();
    for file in [".profile", ".zprofile"] {
        fs::write(world.home().join(file), format!("echo Welcome\n{exports}{lines}")).unwrap();
    }
}

/// Waits until the session is idle in this launch. Returns the session.
fn wait_restarted(world: &World, name: &str, events: &mut Events, launch: &str) -> Value {
    wait_event(events, "launch_planned", launch);
    wait_event(events, "status_changed", "idle");
    world.session(name)
}

#[test]
fn session_killed_with_its_holder_comes_back_with_the_login_shells_variables() {
    let world = world("");
    write_profile(&world, &format!("export API_KEY={SECRET}\n"));
    let before = start_with_word(&world, "alpha", "heron");
    world.kill_everything();
    // The next command starts a daemon, as after a reboot.
    let mut events = Events::of(&world);
    let after = wait_restarted(&world, "alpha", &mut events, "launch 2 (resume)");
    assert_eq!(after["vendor_session_id"], before["vendor_session_id"]);
    let value = processes::variable(pid(&after, "pid"), "API_KEY");
    assert_eq!(value.as_deref(), Some(SECRET));
    let restarts = event_texts(&world, "alpha", "environment_found");
    assert_eq!(restarts, ["restarts with the environment of the login shell"]);
    assert_knows(&world, "alpha", "heron");
    assert_eq!(files::containing(&world.segue_home(), SECRET), Vec::<PathBuf>::new());
}

#[test]
fn session_waits_and_names_the_variable_that_the_login_shell_lacks() {
    let world = world("");
    write_profile(&world, "");
    start_with_word(&world, "alpha", "heron");
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
    let reasons = event_texts(&world, "alpha", "gave_up");
    assert!(reasons.last().unwrap().contains("`API_KEY` is missing"), "{reasons:?}");
    assert_eq!(waiting["launches"], 1);

    world.resume(["alpha"]).assert_back("alpha", "resumed");
    let after = world.session("alpha");
    assert_eq!(after["missing_variables"], json!([]));
    let value = processes::variable(pid(&after, "pid"), "API_KEY");
    assert_eq!(value.as_deref(), Some("given"));
    assert_knows(&world, "alpha", "heron");
}

#[test]
fn file_named_in_the_settings_is_a_source_unless_other_users_may_read_it() {
    let world = world("[environment]\nshell = false\nfiles = [\"~/agents.env\"]\n");
    let file = world.home().join("agents.env");
    let variables = ["TMPDIR", "TZ"].map(|name| {
        let (_, value) = world.environment().into_iter().find(|(it, _)| it == name).unwrap();
        format!("{name}='{value}'\n")
    });
    fs::write(&file, format!("# keys\n{}API_KEY=\"{SECRET}\"\n", variables.concat())).unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o644)).unwrap();
    start_with_word(&world, "alpha", "heron");
    let found = world.segue(["doctor"]);
    assert_eq!(found.status, 1, "{found:#?}");
    for part in ["agents.env", "others may read or write it (mode 0644)"] {
        assert!(found.stdout.contains(part), "{part}: {found:#?}");
    }
    assert!(!found.stdout.contains(SECRET), "{found:#?}");

    fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
    world.kill_everything();
    let mut events = Events::of(&world);
    let after = wait_restarted(&world, "alpha", &mut events, "launch 2 (resume)");
    let value = processes::variable(pid(&after, "pid"), "API_KEY");
    assert_eq!(value.as_deref(), Some(SECRET));
}

#[test]
fn session_stays_interrupted_if_no_source_has_its_environment() {
    let world = world("[environment]\nshell = false\n");
    start_with_word(&world, "alpha", "heron");
    world.kill_everything();
    assert_eq!(world.session("alpha")["status"], "interrupted");
    assert_eq!(event_texts(&world, "alpha", "restart_planned"), Vec::<String>::new());
    world.resume(["--all"]).assert_back("alpha", "resumed");
}
