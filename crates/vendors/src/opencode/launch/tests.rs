use segue_core::Kind;

use super::*;
use crate::testing::{CountingFiles, plan, session};

const ID: &str = "ses_01980000000070008000000000000001";

fn command_line(session: &Session, mode: LaunchMode, message: Option<&str>) -> Result<CommandLine> {
    let id = VendorSessionId::new(ID);
    OpenCode.command(&plan(session, &CountingFiles::default(), (mode, Some(&id), message)))
}

fn arguments(session: &Session, mode: LaunchMode, message: Option<&str>) -> Vec<String> {
    command_line(session, mode, message).unwrap().arguments
}

#[test]
fn interactive_launch_names_its_folder_and_its_conversation() {
    let mut session = session();
    assert_eq!(
        arguments(&session, LaunchMode::Fresh, Some("hi")).join(" "),
        format!("/code -s {ID}")
    );
    session.model = Some("p/m".to_owned());
    session.permission = Permission::Auto;
    session.args = vec!["--agent".to_owned(), "plan".to_owned()];
    let wanted = format!("/code -s {ID} --model=p/m --auto --agent plan");
    assert_eq!(arguments(&session, LaunchMode::Resume, None).join(" "), wanted);
}

#[test]
fn headless_message_is_passed_unchanged_as_standard_input() {
    let session = Session { headless: true, ..session() };
    let found = command_line(&session, LaunchMode::Resume, Some("--help  a\n\"b c\" 1e3")).unwrap();
    assert_eq!(found.arguments, ["run", "--format", "json", "--dir", "/code", "-s", ID]);
    let disk = CountingFiles::default();
    let path =
        OpenCode.standard_input(&plan(&session, &disk, (LaunchMode::Resume, None, None))).unwrap();
    let file = found.files.iter().find(|file| file.path == path).unwrap();
    assert_eq!(file.contents, "--help  a\n\"b c\" 1e3");
    assert_eq!(command_line(&session, LaunchMode::Resume, None).unwrap_err().kind, Kind::Usage);
}

#[test]
fn fresh_launch_imports_an_empty_conversation_and_a_resume_imports_none() {
    let (session, id, disk) = (session(), VendorSessionId::new(ID), CountingFiles::default());
    let fresh = plan(&session, &disk, (LaunchMode::Fresh, Some(&id), None));
    let arguments = OpenCode.preparation(&fresh).unwrap();
    assert_eq!(arguments, ["import", "--pure", "/state/launches/one/conversation.json"]);
    let files = OpenCode.command(&fresh).unwrap().files;
    let import = files.iter().find(|file| file.path.ends_with(IMPORT_FILE)).unwrap();
    let written: Value = serde_json::from_str(&import.contents).unwrap();
    assert_eq!(written["messages"], json!([]));
    for (key, value) in [("id", ID), ("directory", "/code"), ("title", "shop/coder")] {
        assert_eq!(written["info"][key], value);
    }
    let resumed = plan(&session, &disk, (LaunchMode::Resume, Some(&id), None));
    assert_eq!(OpenCode.preparation(&resumed), None);
    assert!(
        OpenCode
            .command(&resumed)
            .unwrap()
            .files
            .iter()
            .all(|file| !file.path.ends_with(IMPORT_FILE))
    );
}

#[test]
fn plugin_file_contains_the_session_message_model_and_permission() {
    let plugin = |session: &Session, message| {
        let files = command_line(session, LaunchMode::Resume, message).unwrap().files;
        let file = files.into_iter().find(|file| file.path.ends_with(PLUGIN_FILE)).unwrap();
        let (first, rest) = file.contents.split_once('\n').unwrap();
        assert_eq!(rest, PLUGIN);
        let launch_settings = first.strip_prefix("const launch = ").unwrap().trim_end_matches(';');
        serde_json::from_str::<Value>(launch_settings).unwrap()
    };
    let mut session = session();
    session.model = Some("p/m/n".to_owned());
    let launch_settings = plugin(&session, Some("say \"it\"\u{2028}"));
    assert_eq!(launch_settings["message"], "say \"it\"\u{2028}");
    assert_eq!(launch_settings["model"], json!({"providerID": "p", "modelID": "m/n"}));
    assert_eq!(
        (&launch_settings["session"], &launch_settings["permission"]),
        (&json!(ID), &json!("ask"))
    );
    session.headless = true;
    session.permission = Permission::AcceptEdits;
    let launch_settings = plugin(&session, Some("said by the command line"));
    assert_eq!(
        (&launch_settings["message"], &launch_settings["headless"]),
        (&Value::Null, &json!(true))
    );
    assert_eq!(launch_settings["permission"], "accept-edits");
}

#[test]
fn add_settings_keeps_the_users_settings_and_replaces_files_of_another_launch() {
    let mut session = session();
    session.instructions = Some("be kind".to_owned());
    let settings_after = |launch_settings: Option<&str>| {
        let variables = launch_settings.map(|text| (SETTINGS_VARIABLE.to_owned(), text.to_owned()));
        let mut environment = Environment::new(variables);
        OpenCode.add_settings(&session, Path::new("/l"), &mut environment);
        serde_json::from_str::<Value>(environment.get(SETTINGS_VARIABLE).unwrap()).unwrap()
    };
    let launch_only =
        json!({"plugin": ["/l/segue-plugin.mjs"], "instructions": ["/l/instructions.md"]});
    assert_eq!(settings_after(None), launch_only);
    assert_eq!(settings_after(Some("no json")), launch_only);
    let limited_environment = settings_after(Some(
        r#"{"model":"m","plugin":["mine",["/x/segue-plugin",{}],"/o/segue-plugin.mjs"]}"#,
    ));
    assert_eq!(limited_environment["model"], "m");
    assert_eq!(
        limited_environment["plugin"],
        json!(["mine", ["/x/segue-plugin", {}], "/l/segue-plugin.mjs"])
    );
}

#[test]
fn arguments_that_choose_a_conversation_apply_to_the_first_launch_only() {
    let mut session = session();
    assert!(OpenCode.preset_id(&session, Uuid::nil()).is_some_and(|id| paths::is_id(id.as_str())));
    session.args = ["--agent", "x", "-s", "ses_other", "--fork"].map(str::to_owned).to_vec();
    assert_eq!(OpenCode.preset_id(&session, Uuid::nil()), None);
    let disk = CountingFiles::default();
    let first = OpenCode.command(&plan(&session, &disk, (LaunchMode::Fresh, None, None))).unwrap();
    assert_eq!(first.arguments, ["/code", "--agent", "x", "-s", "ses_other", "--fork"]);
    assert_eq!(arguments(&session, LaunchMode::Resume, None), ["/code", "-s", ID, "--agent", "x"]);
    assert!(OpenCode.command(&plan(&session, &disk, (LaunchMode::Resume, None, None))).is_err());
    let invalid = VendorSessionId::new("../x");
    assert!(
        OpenCode
            .command(&plan(&session, &disk, (LaunchMode::Resume, Some(&invalid), None)))
            .is_err()
    );
}

#[test]
fn conversation_of_the_plan_is_imported_before_any_launch() {
    let (session, id, disk) = (session(), VendorSessionId::new(ID), CountingFiles::default());
    for mode in [LaunchMode::Fresh, LaunchMode::Resume] {
        let plan = plan(&session, &disk, (mode, Some(&id), None));
        let plan = CommandPlan { import: Some(Path::new("/state/import.json")), ..plan };
        assert_eq!(
            OpenCode.preparation(&plan).unwrap(),
            ["import", "--pure", "/state/import.json"]
        );
        let command_line = OpenCode.command(&plan).unwrap();
        assert!(command_line.files.iter().all(|file| !file.path.ends_with(IMPORT_FILE)));
        assert_eq!(command_line.arguments, ["/code", "-s", ID]);
    }
}

#[test]
fn installation_is_limited_unless_the_user_has_set_limits() {
    let limited_environment = |variables: &[(&str, &str)]| {
        let owned = variables.iter().map(|(name, value)| ((*name).into(), (*value).into()));
        let mut environment = Environment::new(owned.collect::<Vec<(String, String)>>());
        limit_installation(&mut environment);
        environment
    };
    let limited = limited_environment(&[("PATH", "/bin")]);
    assert_eq!(limited.get("npm_config_fetch_retries"), Some("0"));
    let names = limited.get(LIMITS_VARIABLE).unwrap().to_owned();
    assert_eq!(names, "npm_config_fetch_retries npm_config_fetch_timeout");
    // A restart gets the environment of the previous launch.
    let mut again = limited.clone();
    limit_installation(&mut again);
    assert_eq!(again, limited);
    let set_by_user = limited_environment(&[
        ("NPM_CONFIG_FETCH_RETRIES", "5"),
        ("npm_config_fetch_timeout", "1"),
    ]);
    assert_eq!(set_by_user.get("npm_config_fetch_retries"), None);
    assert_eq!(set_by_user.get("npm_config_fetch_timeout"), Some("1"));
    assert_eq!(set_by_user.get(LIMITS_VARIABLE), None);
}
