use super::*;
use crate::testing::plain_screen;

/// Returns a screen that was recorded with version 1.18.33, in a terminal of 40 rows and 120
/// columns.
fn screen(text: &str, cursor: Option<(u16, u16)>) -> Screen {
    plain_screen("OC | x", cursor, text)
}

const EMPTY: &str = include_str!("../fixtures/screen-empty.txt");
const DRAFT: &str = include_str!("../fixtures/screen-draft.txt");
const BUSY: &str = include_str!("../fixtures/screen-busy.txt");
const RETRY: &str = include_str!("../fixtures/screen-retry.txt");
const SLASH: &str = include_str!("../fixtures/screen-slash.txt");
const NEW: &str = include_str!("../fixtures/screen-new.txt");
const PERMISSION: &str = include_str!("../fixtures/screen-permission.txt");

#[test]
fn recorded_screens_are_recognized() {
    let permission = Showing::Dialog(WaitingFor::Permission);
    for (name, text, cursor, wanted) in [
        ("empty", EMPTY, Some((34, 5)), Showing::Ready),
        ("draft", DRAFT, Some((34, 15)), Showing::Draft),
        ("draft, gone back", DRAFT, Some((34, 5)), Showing::Draft),
        ("busy", BUSY, Some((34, 5)), Showing::Busy),
        ("retry", RETRY, Some((34, 5)), Showing::Busy),
        ("slash", SLASH, Some((34, 9)), Showing::Draft),
        ("new", NEW, Some((20, 26)), Showing::Ready),
        ("permission", PERMISSION, None, permission),
        ("a list over it", EMPTY, Some((10, 40)), Showing::Busy),
        ("nothing yet", "", None, Showing::Busy),
        ("nothing yet, with a cursor", "", Some((0, 0)), Showing::Busy),
    ] {
        assert_eq!(OpenCode.read_screen(&screen(text, cursor)), Some(wanted), "{name}");
    }
}

#[test]
fn text_beside_or_above_the_input_is_ignored() {
    let beside: String = EMPTY.lines().map(|row| format!("{row:<124}Context 3%\n")).collect();
    assert_eq!(OpenCode.read_screen(&screen(&beside, Some((34, 5)))), Some(Showing::Ready));
    let text =
        EMPTY.replacen('\n', "\n  ┃  △ Permission required\n  ┃   Allow once   Reject\n\n", 1);
    assert_eq!(OpenCode.read_screen(&screen(&text, Some((37, 5)))), Some(Showing::Ready));
    assert_eq!(OpenCode.answer(&screen(&text, Some((37, 5))), &Answer::Yes), None);
}

#[test]
fn permission_question_is_answered_with_arrow_keys_and_enter() {
    let keys = |answer: Answer| OpenCode.answer(&screen(PERMISSION, None), &answer);
    assert_eq!(keys(Answer::Yes).as_deref(), Some(&b"\r"[..]));
    assert_eq!(keys(Answer::No).as_deref(), Some(&b"\x1b[C\x1b[C\r"[..]));
    let choice = |text: &str| keys(Answer::Choice(text.to_owned()));
    assert_eq!(choice("allow a").as_deref(), Some(&b"\x1b[C\r"[..]));
    assert_eq!(choice("3"), keys(Answer::No));
    for unknown in ["", "0", "4", "maybe"] {
        assert_eq!(choice(unknown), None, "{unknown}");
    }
}

#[test]
fn permission_question_without_its_command_is_busy() {
    let incomplete = PERMISSION.replace("$ echo hi", "");
    assert_ne!(incomplete, PERMISSION);
    assert_eq!(OpenCode.read_screen(&screen(&incomplete, None)), Some(Showing::Busy));
    assert_eq!(OpenCode.answer(&screen(&incomplete, None), &Answer::Yes), None);
}

#[test]
fn permission_question_does_not_include_text_of_the_agent() {
    let rows = include_str!("../fixtures/screen-permission.txt");
    let text =
        rows.replace("     $ echo hi\n", "     1. Reject it and stop\n     2. Run it once\n");
    let permission = screen(&text, None);
    let DialogText { question, choices, .. } = OpenCode.dialog_text(&permission).unwrap();
    assert_eq!(question, "△ Permission required # Shell command $ echo hi");
    assert_eq!(choices, CHOICES);
    assert_eq!(OpenCode.answer(&permission, &Answer::Choice("1".to_owned())), Some(ENTER.to_vec()));
}
