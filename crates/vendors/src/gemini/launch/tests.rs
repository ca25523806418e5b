use segue_core::Kind;

use super::*;
use crate::testing::{CountingFiles, json_lines, plan, session};

const ID: &str = "01a1e1b4-9591-7600-96ed-7294b417ca9a";

fn command_for(
    session: &Session,
    (mode, id, message): (LaunchMode, Option<&str>, Option<&str>),
) -> Result<CommandLine> {
    let id = id.map(VendorSessionId::new);
    Gemini.command(&plan(session, &CountingFiles::default(), (mode, id.as_ref(), message)))
}

#[test]
fn new_conversation_is_resumed_from_a_prepared_transcript() {
    let found = command_for(&session(), (LaunchMode::Fresh, Some(ID), Some("--help me"))).unwrap();
    let wanted = ["--approval-mode", "default", "--resume", ID, "--prompt-interactive=--help me"];
    assert_eq!(found.arguments, wanted);
    let [marker, transcript] = &found.files[..] else { panic!("{:?}", found.files) };
    assert_eq!(marker.contents, "/code");
    assert!(marker.path.ends_with(".project_root"));
    assert_eq!(
        transcript.path.parent(),
        marker.path.parent().map(|folder| folder.join("chats")).as_deref()
    );
    let lines = json_lines(&transcript.contents);
    assert_eq!(lines[0]["sessionId"], ID);
    assert_eq!(lines[0]["startTime"], "2026-11-16T00:14:30.801Z");
    assert_eq!(lines[1]["type"], "gemini");
    assert_eq!(lines.len(), 2);
}

#[test]
fn instructions_are_written_into_a_new_conversation() {
    let instructed = Session { instructions: Some("be kind".to_owned()), ..session() };
    let found = command_for(&instructed, (LaunchMode::Fresh, Some(ID), None)).unwrap();
    let text = "<standing_instructions>\\nbe kind\\n</standing_instructions>";
    assert!(found.files[1].contents.contains(text), "{:?}", found.files);
    let again = command_for(&instructed, (LaunchMode::Resume, Some(ID), None)).unwrap();
    assert_eq!(again.files, []);
}

#[test]
fn headless_launch_streams_json_and_requires_a_message() {
    let headless = Session {
        headless: true,
        model: Some("m".to_owned()),
        permission: Permission::Auto,
        ..session()
    };
    let found = command_for(&headless, (LaunchMode::Resume, Some(ID), Some("?x"))).unwrap();
    let wanted = ["--approval-mode", "yolo", "--model=m", "--output-format", "stream-json"];
    assert_eq!(found.arguments[..5], wanted);
    assert_eq!(found.arguments[5..], ["--resume", ID]);
    assert_eq!(found.files.last().unwrap().contents, "\u{200b}?x");
    let error = command_for(&headless, (LaunchMode::Resume, Some(ID), None)).unwrap_err();
    assert_eq!(error.kind, Kind::Usage);
}

#[test]
fn quoted_message_gets_a_space_so_that_gemini_keeps_its_quotes() {
    let found =
        command_for(&session(), (LaunchMode::Resume, Some(ID), Some("\"a\" and \"b\""))).unwrap();
    assert_eq!(found.arguments.last().unwrap(), "--prompt-interactive=\"a\" and \"b\" ");
}

#[test]
fn resume_keeps_additional_arguments_except_flags_that_choose_a_conversation() {
    let args = |arguments: &[&str]| Session {
        args: arguments.iter().map(|word| (*word).to_owned()).collect(),
        ..session()
    };
    let with_arguments = args(&["-y", "--session-id", "mine", "--resume=latest", "--debug"]);
    assert_eq!(Gemini.preset_id(&with_arguments, Uuid::nil()), None);
    let first = command_for(&with_arguments, (LaunchMode::Fresh, None, None)).unwrap();
    assert_eq!(first.arguments, with_arguments.args);
    assert_eq!(first.files, []);
    let later = command_for(&with_arguments, (LaunchMode::Resume, Some(ID), None)).unwrap();
    assert_eq!(later.arguments, ["-y", "--debug", "--resume", ID]);
    assert!(Gemini.preset_id(&args(&["--debug"]), Uuid::nil()).is_some());
}

#[test]
fn resume_with_an_invalid_id_is_refused() {
    for id in ["3", "latest", "../x"] {
        let error = command_for(&session(), (LaunchMode::Resume, Some(id), None)).unwrap_err();
        assert_eq!(error.kind, Kind::Vendor, "{id}");
    }
    let error = command_for(&session(), (LaunchMode::Resume, None, None)).unwrap_err();
    assert_eq!(error.kind, Kind::Internal);
}
