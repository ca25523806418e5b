use super::*;
use crate::testing::recorded_screen;

macro_rules! screen {
    ($name:literal) => {
        recorded_screen(include_str!(concat!("../fixtures/screens/", $name, ".txt")))
    };
}

#[test]
fn empty_input_is_ready_in_every_style_and_size() {
    for screen in [screen!("ready-120"), screen!("ready-80"), screen!("boxready-120")] {
        assert_eq!(Copilot.read_screen(&screen), Some(Showing::Ready), "{:#?}", screen.rows);
        assert_eq!(Copilot.answer(&screen, &Answer::Yes), None);
    }
}

#[test]
fn text_in_the_input_is_a_draft_whether_or_not_the_agent_works() {
    for screen in [
        screen!("draft-120"),
        screen!("busydraft-120"),
        screen!("busydraft-80"),
        screen!("boxmulti-120"),
        screen!("shell-80"),
    ] {
        assert_eq!(Copilot.read_screen(&screen), Some(Showing::Draft), "{:#?}", screen.rows);
    }
}

#[test]
fn a_working_agent_is_busy() {
    for screen in [
        screen!("busy-120"),
        screen!("busy-80"),
        screen!("boxbusy-120"),
        screen!("boxcancelling-120"),
    ] {
        assert_eq!(Copilot.read_screen(&screen), Some(Showing::Busy), "{:#?}", screen.rows);
    }
}

#[test]
fn a_question_for_permission_is_answered_by_a_number_or_by_escape() {
    for screen in [screen!("permission-120"), screen!("permission-80")] {
        assert_eq!(Copilot.read_screen(&screen), Some(Showing::Dialog(WaitingFor::Permission)));
        let keys = |wanted: &Answer| Copilot.answer(&screen, wanted);
        assert_eq!(keys(&Answer::Yes), Some(b"1".to_vec()), "yes allows it only once");
        assert_eq!(keys(&Answer::No), Some(ESCAPE.to_vec()));
        assert_eq!(keys(&Answer::Choice("2".into())), Some(b"2".to_vec()));
        assert_eq!(keys(&Answer::Choice("yes, and".into())), Some(b"2".to_vec()));
        assert_eq!(keys(&Answer::Choice("3".into())), Some(ESCAPE.to_vec()));
        assert_eq!(keys(&Answer::Choice("perhaps".into())), None);
    }
}

#[test]
fn question_about_the_folder_is_a_trust_dialog() {
    let screen = screen!("trust-120");
    assert_eq!(Copilot.read_screen(&screen), Some(Showing::Dialog(WaitingFor::Trust)));
    assert_eq!(Copilot.answer(&screen, &Answer::Yes), Some(b"1".to_vec()));
    assert_eq!(Copilot.answer(&screen, &Answer::No), Some(ESCAPE.to_vec()));
}

#[test]
fn signed_out_screen_waits_for_a_person() {
    let screen = screen!("signedout-120");
    assert_eq!(Copilot.read_screen(&screen), Some(Showing::Dialog(WaitingFor::Question)));
    assert_eq!(Copilot.answer(&screen, &Answer::Yes), None);
}

#[test]
fn screen_without_input_or_dialog_is_none() {
    assert_eq!(Copilot.read_screen(&recorded_screen("$ copilot\n")), None);
    assert_eq!(Copilot.read_screen(&recorded_screen("╭───╮\n│ 1. one │\n╰───╯\n")), None);
}

#[test]
fn command_rows_are_part_of_the_question_and_not_choices() {
    let rows = include_str!("../fixtures/screens/permission-80.txt");
    let command = rows.lines().find(|row| row.starts_with("│ │ touch made.txt")).unwrap();
    for text in ["2. No         ", "❯ 1. No       ", "──────────────"]
    {
        let more = command.replace("touch made.txt", text);
        let screen = recorded_screen(&rows.replace(command, &format!("{command}\n{more}")));
        assert_eq!(Copilot.answer(&screen, &Answer::Yes), Some(b"1".to_vec()), "{text}");
        assert_eq!(Copilot.answer(&screen, &Answer::No), Some(ESCAPE.to_vec()), "{text}");
        let DialogText { question, choices, .. } = Copilot.dialog_text(&screen).unwrap();
        assert!(question.starts_with("d touch made.txt"), "{question}");
        assert!(question.ends_with("Do you want to run this command?"), "{question}");
        assert_eq!(choices.len(), 3, "{choices:?}");
    }
}
