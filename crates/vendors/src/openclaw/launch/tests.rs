use rusqlite::Connection;
use segue_core::Kind;

use super::*;
use crate::testing::{Home, plan, session};

const ID: &str = "019a0000-0000-7000-8000-000000000001";

fn headless(home: &Home) -> Session {
    Session { headless: true, config_dir: home.folder.path().to_owned(), ..session() }
}

#[test]
fn arguments_name_the_conversation_and_the_file_with_the_message() {
    let home = Home::new();
    let session = Session {
        model: Some("scripted/scripted-2".to_owned()),
        args: vec!["--agent".to_owned(), "ops".to_owned()],
        ..headless(&home)
    };
    let id = VendorSessionId::new(ID);
    let launch = (LaunchMode::Fresh, Some(&id), Some("--help\n/new"));
    let command = OpenClaw.command(&plan(&session, &home.disk, launch)).unwrap();
    let wanted = format!(
        "agent --local --model scripted/scripted-2 --agent ops --session-id {ID} \
         --message-file /state/launches/one/message.txt --json"
    );
    assert_eq!(command.arguments.join(" "), wanted);
    assert_eq!(command.files[0].contents, "--help\n/new");
}

#[test]
fn resume_of_an_unknown_conversation_is_refused() {
    let home = Home::new();
    let session = headless(&home);
    let id = VendorSessionId::new(ID);
    let resume = || {
        OpenClaw.command(&plan(
            &session,
            &home.disk,
            (LaunchMode::Resume, Some(&id), Some("go on")),
        ))
    };
    let error = resume().unwrap_err();
    assert!(error.to_string().contains("has no conversation"), "{error}");
    let path = home.write("agents/main/agent/openclaw-agent.sqlite", "");
    let writer = Connection::open(path).unwrap();
    writer.execute_batch(include_str!("../fixtures/recorded.sql")).unwrap();
    assert!(resume().unwrap().arguments.contains(&ID.to_owned()));
}

#[test]
fn unsupported_sessions_are_usage_errors() {
    let home = Home::new();
    let id = VendorSessionId::new(ID);
    let error_kind = |session: &Session, message| {
        let launch = (LaunchMode::Fresh, Some(&id), message);
        OpenClaw.command(&plan(session, &home.disk, launch)).unwrap_err().kind
    };
    let interactive = Session { headless: false, ..headless(&home) };
    let instructed = Session { instructions: Some("Be brief.".to_owned()), ..headless(&home) };
    let with_session_key = Session { args: vec!["--session-key=x".to_owned()], ..headless(&home) };
    for session in [interactive, instructed, with_session_key] {
        assert_eq!(error_kind(&session, Some("hi")), Kind::Usage);
    }
    assert_eq!(error_kind(&headless(&home), None), Kind::Usage);
}
