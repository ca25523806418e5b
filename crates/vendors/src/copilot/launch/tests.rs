use super::*;
use crate::testing::{CountingFiles, environment, plan, session, words};

const ID: &str = "01a1e20b-829b-717d-b5e4-3764d7f1eb9a";

fn line(session: &Session, mode: LaunchMode, message: Option<&str>) -> CommandLine {
    let id = VendorSessionId::new(ID);
    let disk = CountingFiles::default();
    Copilot.command(&plan(session, &disk, (mode, Some(&id), message))).unwrap()
}

#[test]
fn fresh_launch_sets_the_id_and_keeps_a_message_that_looks_like_a_flag_or_command() {
    let found = line(&session(), LaunchMode::Fresh, Some("--help"));
    let wanted =
        format!("--session-id={ID} --no-auto-update --log-level=info --interactive=--help");
    assert_eq!(found.arguments, words(&wanted));
    assert_eq!(found.files, []);
    let found = line(&session(), LaunchMode::Fresh, Some("/clear"));
    assert_eq!(found.arguments.last().unwrap(), "--interactive=\u{200b}/clear");
}

#[test]
fn resume_drops_only_the_arguments_that_choose_a_conversation() {
    let mut session = session();
    session.model = Some("m1".into());
    session.instructions = Some("be kind".into());
    session.permission = Permission::AcceptEdits;
    session.args = words("--resume old --continue --session-id=x --add-dir /srv");
    let found = line(&session, LaunchMode::Resume, None);
    let wanted = format!(
        "--resume={ID} --no-auto-update --log-level=info --allow-tool=write --model=m1 --add-dir /srv"
    );
    assert_eq!(found.arguments, words(&wanted));
    let [file] = found.files.as_slice() else { panic!("{:?}", found.files) };
    assert_eq!(file.path, Path::new("/state/launches/one/segue.instructions.md"));
    assert_eq!(file.contents, "---\napplyTo: \"**\"\n---\nbe kind\n");
}

#[test]
fn headless_launch_prints_json_and_requires_a_message() {
    let mut session = session();
    session.headless = true;
    session.permission = Permission::Auto;
    let found = line(&session, LaunchMode::Resume, Some("/x"));
    let wanted = format!(
        "--resume={ID} --no-auto-update --log-level=info --allow-all --output-format=json --prompt=/x"
    );
    assert_eq!(found.arguments, words(&wanted));
    let disk = CountingFiles::default();
    let plan = plan(&session, &disk, (LaunchMode::Fresh, None, None));
    assert_eq!(Copilot.command(&plan).unwrap_err().kind, segue_core::Kind::Usage);
}

#[test]
fn permission_argument_of_the_session_replaces_the_permission_flag() {
    let mut session = session();
    session.permission = Permission::Auto;
    session.args = words("--allow-tool=shell(git:*)");
    assert!(!line(&session, LaunchMode::Fresh, None).arguments.contains(&"--allow-all".to_owned()));
    session.args = words("--allow-all-paths");
    assert!(line(&session, LaunchMode::Fresh, None).arguments.contains(&"--allow-all".to_owned()));
}

#[test]
fn a_resume_without_an_id_or_with_a_name_is_refused() {
    let (session, disk) = (session(), CountingFiles::default());
    assert!(
        Copilot.command(&plan(&session, &disk, (LaunchMode::Resume, None, Some("x")))).is_err()
    );
    let name = VendorSessionId::new("my feature");
    assert!(
        Copilot.command(&plan(&session, &disk, (LaunchMode::Resume, Some(&name), None))).is_err()
    );
}

#[test]
fn session_whose_arguments_choose_a_conversation_gets_no_preset_id() {
    for (args, accepts_id) in [("--add-dir /srv", true), ("-r", false), ("--resume=x", false)] {
        let session = Session { args: words(args), ..session() };
        assert_eq!(Copilot.preset_id(&session, Uuid::nil()).is_some(), accepts_id, "{args}");
    }
}

#[test]
fn environment_names_the_config_dir_and_drops_variables_of_an_outer_copilot() {
    let place = Place { config_dir: "/srv/copilot".into(), cwd: "/code".into() };
    let caller = [("HOME", "/home/u"), ("COPILOT_CLI", "1"), ("COPILOT_ALLOW_ALL", "true")];
    let mut found = environment(&caller);
    Copilot.prepare_environment(&place, &mut found);
    assert_eq!(found.names(), ["COPILOT_HOME", "HOME"]);
    assert_eq!(found.get(CONFIG_DIR_VARIABLE), Some("/srv/copilot"));
    let default = Place { config_dir: "/home/u/.copilot".into(), ..place };
    Copilot.prepare_environment(&default, &mut found);
    assert_eq!(found.names(), ["HOME"]);
}

#[test]
fn instructions_add_the_launch_folder_to_the_users_instruction_folders() {
    let (folder, mut session) = (Path::new("/state/one"), session());
    let mut found = environment(&[(INSTRUCTIONS_VARIABLE, "/mine")]);
    Copilot.add_settings(&session, folder, &mut found);
    assert_eq!(found.get(INSTRUCTIONS_VARIABLE), Some("/mine"));
    session.instructions = Some("be kind".into());
    Copilot.add_settings(&session, folder, &mut found);
    assert_eq!(found.get(INSTRUCTIONS_VARIABLE), Some("/mine,/state/one"));
}
