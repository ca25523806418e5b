use super::*;
use crate::testing::{CountingFiles, plan, session, words};

fn line(session: &Session, mode: LaunchMode, message: Option<&str>) -> CommandLine {
    let id = VendorSessionId::new("an-id");
    let disk = CountingFiles::default();
    Claude.command(&plan(session, &disk, (mode, Some(&id), message))).unwrap()
}

#[test]
fn fresh_launch_passes_id_name_and_a_message_that_looks_like_a_flag() {
    let found = line(&session(), LaunchMode::Fresh, Some("--help"));
    let wanted = "--session-id an-id --name shop/coder --permission-mode=default \
                  --settings /state/launches/one/settings.json -- --help";
    assert_eq!(found.arguments, words(wanted));
    assert_eq!(found.files.len(), 1);
}

#[test]
fn a_resume_keeps_model_permission_instructions_and_own_arguments() {
    let mut session = session();
    session.model = Some("m1".into());
    session.instructions = Some("be kind".into());
    session.permission = Permission::AcceptEdits;
    session.args = words("--allowedTools Bash");
    let found = line(&session, LaunchMode::Resume, None).arguments;
    let mut wanted = words("--resume an-id --model=m1 --permission-mode=acceptEdits");
    wanted.extend(words("--append-system-prompt-file=/state/launches/one/instructions.md"));
    wanted.extend(words("--allowedTools Bash --settings /state/launches/one/settings.json"));
    assert_eq!(found, wanted);
}

#[test]
fn headless_launch_that_need_not_ask_streams_json_without_hooks_and_requires_a_message() {
    let mut session = session();
    session.headless = true;
    session.permission = Permission::Auto;
    session.args = words("--settings mine.json");
    let found = line(&session, LaunchMode::Resume, Some("hi"));
    let wanted = "--resume an-id -p --output-format stream-json --verbose \
                  --permission-mode=bypassPermissions --settings mine.json";
    assert_eq!(found.arguments, words(wanted));
    let file = &found.files[0];
    assert_eq!(
        (file.path.to_str(), file.contents.as_str()),
        (Some("/state/launches/one/prompt.txt"), "hi")
    );
    assert_eq!(found.files.len(), 1);
    let disk = CountingFiles::default();
    let plan = plan(&session, &disk, (LaunchMode::Fresh, None, None));
    assert_eq!(Claude.command(&plan).unwrap_err().kind, segue_core::Kind::Usage);
}

#[test]
fn a_resume_without_an_id_is_refused_rather_than_started_blank() {
    let session = session();
    let disk = CountingFiles::default();
    let plan = plan(&session, &disk, (LaunchMode::Resume, None, Some("x")));
    assert!(Claude.command(&plan).is_err());
}

#[test]
fn an_id_is_preset_unless_the_arguments_choose_a_conversation() {
    let unique = Uuid::from_u128(7);
    let table = [
        ("--verbose", true),
        ("--resume other", false),
        ("--resume=other", false),
        ("-c", false),
        ("--session-id other", false),
        ("--resume other --fork-session", true),
        ("--resume other --fork-session --session-id=mine", false),
    ];
    for (args, preset) in table {
        let session = Session { args: words(args), ..session() };
        assert_eq!(Claude.preset_id(&session, unique).is_some(), preset, "{args}");
    }
}

#[test]
fn resume_drops_arguments_that_chose_the_first_conversation() {
    let args = words("--resume other --fork-session -c --resume=other -x");
    let session = Session { args, headless: true, ..session() };
    let found = line(&session, LaunchMode::Resume, Some("hi")).arguments.join(" ");
    let settings = "--settings /state/launches/one/settings.json";
    assert!(found.ends_with(&format!("--permission-mode=default -x {settings}")), "{found}");
}

#[test]
fn environment_names_the_recorded_folder_and_no_outer_session() {
    let prepare = |config_dir: &str, set: Option<&str>| {
        let mut environment = Environment::new([
            ("CLAUDECODE".to_owned(), "1".to_owned()),
            ("CLAUDE_CODE_SESSION_ID".to_owned(), "outer".to_owned()),
            ("HOME".to_owned(), "/home/u".to_owned()),
        ]);
        set.into_iter().for_each(|value| environment.set(CONFIG_DIR_VARIABLE, value));
        let place = Place { config_dir: config_dir.into(), cwd: "/code".into() };
        Claude.prepare_environment(&place, &mut environment);
        assert!(environment.names().iter().all(|name| !name.starts_with("CLAUDECODE")));
        environment.get(CONFIG_DIR_VARIABLE).map(str::to_owned)
    };
    let default = "/home/u/.claude";
    assert_eq!(prepare(default, None), None);
    assert_eq!(prepare(default, Some("/elsewhere")), None);
    assert_eq!(prepare(default, Some(default)).as_deref(), Some(default), "the variable stays set");
    assert_eq!(prepare("/srv/c", None).as_deref(), Some("/srv/c"));
    assert_eq!(prepare("/srv/c", Some("/elsewhere")).as_deref(), Some("/srv/c"));
}
