use segue_core::Kind;

use super::*;
use crate::testing::{CountingFiles, Home, plan, session};

const ID: &str = "01a1e1b4-9591-7600-96ed-7294b417ca9a";

fn line(session: &Session, mode: LaunchMode, message: Option<&str>) -> CommandLine {
    let id = VendorSessionId::new(ID);
    let disk = CountingFiles::default();
    Codex.command(&plan(session, &disk, (mode, Some(&id), message))).unwrap()
}

fn arguments(session: &Session, mode: LaunchMode, message: Option<&str>) -> String {
    line(session, mode, message).arguments.join(" ")
}

#[test]
fn a_new_conversation_is_resumed_from_its_prepared_rollout() {
    let found = arguments(&session(), LaunchMode::Fresh, Some("--help"));
    let wanted = format!(
        "-a on-request -s read-only -C /code -c features.unbounded_connection_retries=false \
         -c check_for_update_on_startup=false \
         -c tui.terminal_title=[\"activity\",\"project-name\"] --no-daemon resume {ID} -- --help"
    );
    assert_eq!(found, wanted);
}

#[test]
fn prepared_rollout_has_the_path_of_its_id_and_the_configured_provider() {
    let home = Home::new();
    home.write("config.toml", "model_provider = \"mine\"\n");
    let mut session = session();
    session.config_dir = home.folder.path().to_owned();
    let id = VendorSessionId::new(ID);
    let plan = plan(&session, &home.disk, (LaunchMode::Fresh, Some(&id), None));
    let [file] = Codex.command(&plan).unwrap().files.try_into().unwrap();
    assert_eq!(file.path, paths::prepared(home.folder.path(), ID));
    assert!(file.contents.ends_with("}\n"));
    let written: Value = serde_json::from_str(&file.contents).unwrap();
    assert_eq!(written["type"], "session_meta");
    assert_eq!(written["timestamp"], "2026-11-16T00:14:30.801Z");
    let header = &written["payload"];
    assert_eq!(header["id"], ID);
    assert_eq!(header["cwd"], "/code");
    assert_eq!(header["model_provider"], "mine");
    for needed in ["timestamp", "originator", "cli_version", "source"] {
        assert!(header[needed].is_string(), "{needed}");
    }
}

#[test]
fn headless_launch_streams_json_skips_the_git_check_and_requires_a_message() {
    let mut session = session();
    session.headless = true;
    session.permission = Permission::Auto;
    let found = arguments(&session, LaunchMode::Resume, Some("go on"));
    let wanted = format!(
        "exec -s workspace-write -C /code --skip-git-repo-check \
         -c features.unbounded_connection_retries=false --json resume {ID} -"
    );
    assert_eq!(found, wanted);
    let files = line(&session, LaunchMode::Resume, Some("go on")).files;
    let texts: Vec<&str> = files.iter().map(|file| file.contents.as_str()).collect();
    assert_eq!(texts, ["go on"]);
    session.headless = false;
    assert!(arguments(&session, LaunchMode::Resume, Some("-")).ends_with("-- - "));
    session.headless = true;
    let disk = CountingFiles::default();
    let id = VendorSessionId::new(ID);
    let plan = plan(&session, &disk, (LaunchMode::Resume, Some(&id), None));
    assert_eq!(Codex.command(&plan).unwrap_err().kind, Kind::Usage);
}

#[test]
fn permission_sets_approval_and_sandbox() {
    let mut session = session();
    for (permission, wanted) in [
        (Permission::Ask, "-a on-request -s read-only -C"),
        (Permission::AcceptEdits, "-a on-request -s workspace-write -C"),
        (Permission::Auto, "-a never -s workspace-write -C"),
    ] {
        session.permission = permission;
        let found = arguments(&session, LaunchMode::Resume, None);
        assert!(found.starts_with(wanted), "{found}");
    }
}

#[test]
fn own_arguments_come_last_and_replace_the_permission_flags() {
    let mut session = session();
    session.model = Some("m1".into());
    session.args = vec!["--sandbox=danger-full-access".into(), "-i".into(), "a.png".into()];
    let found = arguments(&session, LaunchMode::Resume, None);
    assert!(found.starts_with("-C /code --model=m1 -c "), "{found}");
    let wanted = format!(" --sandbox=danger-full-access -i a.png --no-daemon resume {ID}");
    assert!(found.ends_with(&wanted), "{found}");
}

#[test]
fn instructions_are_added_to_those_of_the_user() {
    let home = Home::new();
    let mut session = session();
    session.config_dir = home.folder.path().to_owned();
    session.instructions = Some("say \"yes\"\n".into());
    let id = VendorSessionId::new(ID);
    let instructions_argument = || {
        let plan = plan(&session, &home.disk, (LaunchMode::Fresh, Some(&id), None));
        let arguments = Codex.command(&plan).unwrap().arguments;
        let found =
            arguments.into_iter().find(|argument| argument.starts_with("developer_instructions="));
        found.unwrap()
    };
    assert_eq!(instructions_argument(), r#"developer_instructions="say \"yes\"\n""#);
    home.write("config.toml", "developer_instructions = \"be kind\"\n");
    assert_eq!(instructions_argument(), r#"developer_instructions="be kind\n\nsay \"yes\"\n""#);
}

#[test]
fn resume_by_name_or_without_an_id_is_refused() {
    let session = session();
    let disk = CountingFiles::default();
    let name = VendorSessionId::new("my-name");
    for id in [None, Some(&name)] {
        let plan = plan(&session, &disk, (LaunchMode::Resume, id, Some("x")));
        assert!(Codex.command(&plan).is_err(), "{id:?}");
    }
    let plan = plan(&session, &disk, (LaunchMode::Fresh, None, Some("x")));
    let found = Codex.command(&plan).unwrap();
    assert_eq!(found.arguments[found.arguments.len() - 3..], ["--no-daemon", "--", "x"]);
    assert!(found.files.is_empty());
}
