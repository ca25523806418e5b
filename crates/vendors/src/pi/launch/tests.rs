use segue_core::Kind;

use super::*;
use crate::testing::{CountingFiles, Home, json_lines, plan, session};

const ID: &str = "01a1e1b4-9591-7600-96ed-7294b417ca9a";

fn at_home(home: &Home) -> Session {
    let mut session = session();
    session.config_dir = home.folder.path().to_owned();
    session
}

fn prepare(home: &Home, session: &Session, message: Option<&str>) -> CommandLine {
    let id = VendorSessionId::new(ID);
    Pi.command(&plan(session, &home.disk, (LaunchMode::Fresh, Some(&id), message))).unwrap()
}

fn resume(home: &Home, session: &Session, message: Option<&str>) -> Result<CommandLine> {
    let id = VendorSessionId::new(ID);
    Pi.command(&plan(session, &home.disk, (LaunchMode::Resume, Some(&id), message)))
}

/// Writes the prepared transcript of a launch.
fn write_prepared(home: &Home, line: &CommandLine) {
    let file = &line.files[0];
    home.write(file.path.to_str().unwrap(), &file.contents);
}

#[test]
fn fresh_launch_continues_the_prepared_transcript() {
    let (home, mut session) = (Home::new(), session());
    session.config_dir = "/home/u/.pi/agent".into();
    let line = prepare(&home, &session, Some("--help"));
    let folder = "/home/u/.pi/agent/sessions/--code--";
    let wanted = format!(
        "--extension /state/launches/one/segue.mjs --session-dir {folder} \
         --session {folder}/2026-11-16T00-14-30-801Z_{ID}.jsonl  --help"
    );
    assert_eq!(line.arguments.join(" "), wanted);
}

#[test]
fn prepared_transcript_has_the_id_and_an_abandoned_branch() {
    let home = Home::new();
    let line = prepare(&home, &at_home(&home), None);
    let lines = json_lines(&line.files[0].contents);
    let [header, answer, tip] = lines.as_slice() else { panic!("{lines:#?}") };
    assert_eq!((&header["type"], &header["id"]), (&json!("session"), &json!(ID)));
    assert_eq!((&header["cwd"], &header["version"]), (&json!("/code"), &json!(3)));
    assert_eq!(answer["message"]["role"], "assistant");
    assert_eq!(answer["message"]["usage"]["totalTokens"], 0);
    // Pi continues from the last line: the ancestors of that line are the conversation.
    assert!(tip["parentId"].is_null() && tip["id"] != answer["id"]);
    assert!(line.files[0].contents.ends_with("}\n"));
}

#[test]
fn extension_defines_the_hook_and_whether_there_is_a_prompt() {
    let home = Home::new();
    let mut session = at_home(&home);
    let first = |line: &CommandLine| line.files[1].contents.lines().next().unwrap().to_owned();
    let first_line_of_extension = first(&prepare(&home, &session, Some("hello")));
    assert_eq!(
        first_line_of_extension,
        r#"const launch = {"hook":"'/bin/segue' hook","prompted":true};"#
    );
    session.headless = true;
    let first_line_of_extension = first(&prepare(&home, &session, Some("hello")));
    assert_eq!(first_line_of_extension, r#"const launch = {"hook":null,"prompted":true};"#);
}

#[test]
fn headless_turn_prints_json_and_requires_a_prompt() {
    let home = Home::new();
    let mut session = at_home(&home);
    session.headless = true;
    session.args = vec!["--thinking".into(), "high".into()];
    let line = prepare(&home, &session, Some("go"));
    assert_eq!(line.arguments[..4], ["--thinking", "high", "--mode", "json"]);
    write_prepared(&home, &line);
    assert_eq!(resume(&home, &session, None).unwrap_err().kind, Kind::Usage);
}

#[test]
fn model_and_instructions_are_passed_and_the_users_instructions_are_kept() {
    let home = Home::new();
    let mut session = at_home(&home);
    session.model = Some("scripted/one".into());
    session.instructions = Some("be kind".into());
    let line = prepare(&home, &session, None);
    let instructions = "/state/launches/one/instructions.md";
    assert_eq!(line.files.last().unwrap().contents, "be kind");
    let wanted = ["--model", "scripted/one", APPEND_FLAG, instructions];
    assert_eq!(line.arguments[..4], wanted);
    let user_file = home.write("APPEND_SYSTEM.md", "be brief");
    let line = prepare(&home, &session, None);
    assert_eq!(
        line.arguments[2..6],
        [APPEND_FLAG, user_file.to_str().unwrap(), APPEND_FLAG, instructions]
    );
    session.args = vec![APPEND_FLAG.into(), "mine".into()];
    let line = prepare(&home, &session, None);
    assert!(!line.arguments.contains(&user_file.display().to_string()));
}

#[test]
fn arguments_that_choose_a_conversation_apply_to_the_first_launch_only() {
    let home = Home::new();
    let mut session = at_home(&home);
    write_prepared(&home, &prepare(&home, &session, None));
    let unique = Uuid::nil();
    assert!(Pi.preset_id(&session, unique).is_some());
    session.args = ["--fork", "abc", "-c", "--tools", "read"].map(String::from).to_vec();
    assert_eq!(Pi.preset_id(&session, unique), None);
    let disk = CountingFiles::default();
    let first = Pi.command(&plan(&session, &disk, (LaunchMode::Fresh, None, None))).unwrap();
    assert_eq!(first.arguments[..3], ["--fork", "abc", "-c"]);
    assert!(!first.arguments.contains(&"--session".to_owned()));
    let later = resume(&home, &session, None).unwrap();
    assert_eq!(later.arguments[..3], ["--tools", "read", "--extension"]);
    let error = Pi.command(&plan(&session, &disk, (LaunchMode::Resume, None, None))).unwrap_err();
    assert_eq!(error.kind, Kind::Internal);
}

#[test]
fn resume_of_a_transcript_that_pi_would_empty_is_refused() {
    let home = Home::new();
    let session = at_home(&home);
    assert!(resume(&home, &session, None).is_err(), "the file is missing");
    let line = prepare(&home, &session, None);
    write_prepared(&home, &line);
    assert_eq!(resume(&home, &session, None).unwrap().files.len(), 1, "only the extension");
    let complete = &line.files[0].contents;
    let without_header = complete.split_once('\n').unwrap().1;
    let another = complete.replace(ID, "01a1e1fd-1e0a-7538-9b35-d40b3e394bc5");
    for damaged in ["", "\n", &complete[1..], without_header, &another] {
        home.write(line.files[0].path.to_str().unwrap(), damaged);
        let error = resume(&home, &session, None).unwrap_err();
        assert!(error.message.contains("is damaged"), "{damaged}: {error:?}");
        assert!(error.hints[0].contains(ID), "{error:?}");
    }
}
