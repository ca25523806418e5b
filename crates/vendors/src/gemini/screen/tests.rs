use super::*;
use crate::testing::plain_screen;

fn screen(title: &str, text: &str) -> Screen {
    plain_screen(title, None, text)
}

const READY_TITLE: &str = "◇  Ready (proj)                                          ";

const READY: &str = "
1. Create GEMINI.md files to customize your interactions
2. /help for more information
 > first words
✦ ANSWER to first words
                                                                                    ? for shortcuts
────────────────────────────────────────────────────────────────────────────────────────────────────
 Shift+Tab to accept edits

 >   Type your message or @path/to/file

 workspace (/directory)                          sandbox                                     /model
 /code/proj                                      no sandbox                        gemini-2.5-flash";

const TRUST: &str = "
1. Create GEMINI.md files to customize your interactions
 > first words
✦ ANSWER to first words
 ╭────────────────────────────────────────────────────────────────────────────────────────────────╮
 │                                                                                                │
 │ Do you trust the files in this folder?                                                         │
 │                                                                                                │
 │ Trusting a folder allows Gemini CLI to load its local configurations, including custom         │
 │ commands, hooks, MCP servers, agent skills, and settings. These configurations could execute   │
 │ code on your behalf or change the behavior of the CLI.                                         │
 │                                                                                                │
 │ ● 1. Trust folder (proj)                                                                       │
 │   2. Trust parent folder (lab)                                                                 │
 │   3. Don't trust                                                                               │
 │                                                                                                │
 ╰────────────────────────────────────────────────────────────────────────────────────────────────╯";

const PERMISSION: &str = "
 > TOOL now
╭──────────────────────────────────────────────────────────────────────────────────────────────────╮
│ ? Shell  touch made; sleep 1                                                                     │
│ ╭──────────────────────────────────────────────────────────────────────────────────────────────╮ │
│ │ touch made; sleep 1                                                                          │ │
│ ╰──────────────────────────────────────────────────────────────────────────────────────────────╯ │
│ Allow execution of [Shell]?                                                                      │
│                                                                                                  │
│ ● 1. Allow once                                                                                  │
│   2. Allow for this session                                                                      │
│   3. No, suggest changes (esc)                                                                   │
╰──────────────────────────────────────────────────────────────────────────────────────────────────╯";

#[test]
fn input_is_ready_or_has_a_draft() {
    assert_eq!(Gemini.read_screen(&screen(READY_TITLE, READY)), Some(Showing::Ready));
    let draft = READY.replace("  Type your message or @path/to/file", "half a thou");
    assert_eq!(Gemini.read_screen(&screen(READY_TITLE, &draft)), Some(Showing::Draft));
    let without_questions = READY.replace(" >   Type", " *   Type");
    assert_eq!(Gemini.read_screen(&screen(READY_TITLE, &without_questions)), Some(Showing::Ready));
    assert_eq!(Gemini.read_screen(&screen("another title", READY)), Some(Showing::Ready));
    assert_eq!(Gemini.read_screen(&screen("✦  Working… (proj)", READY)), Some(Showing::Busy));
    assert_eq!(Gemini.read_screen(&screen(READY_TITLE, "")), None);
}

#[test]
fn questions_are_recognized_with_any_title() {
    for title in [READY_TITLE, "✦  Working… (proj)", ""] {
        let trust = Gemini.read_screen(&screen(title, TRUST));
        assert_eq!(trust, Some(Showing::Dialog(WaitingFor::Trust)), "{title}");
    }
    let permission = screen("✋  Action Required (proj)", PERMISSION);
    assert_eq!(Gemini.read_screen(&permission), Some(Showing::Dialog(WaitingFor::Permission)));
}

#[test]
fn a_question_is_answered_by_the_number_of_a_choice() {
    let (trust, permission) = (screen(READY_TITLE, TRUST), screen("", PERMISSION));
    let choice = |text: &str| Answer::Choice(text.to_owned());
    for (screen, answer, wanted) in [
        (&trust, Answer::Yes, Some("1")),
        (&trust, Answer::No, Some("3")),
        (&trust, choice("2"), Some("2")),
        (&trust, choice("trust"), None),
        (&permission, Answer::Yes, Some("1")),
        (&permission, Answer::No, Some("3")),
        (&permission, choice("allow for"), Some("2")),
        (&permission, choice("7"), None),
        (&permission, choice(""), None),
    ] {
        let keys = Gemini.answer(screen, &answer).map(|keys| String::from_utf8(keys).unwrap());
        assert_eq!(keys.as_deref(), wanted, "{answer:?}");
    }
    assert_eq!(Gemini.answer(&screen(READY_TITLE, READY), &Answer::Yes), None);
}

#[test]
fn dialog_text_contains_the_command_and_no_text_of_the_agent() {
    let text = "✦ which?\n● 1. No\n  2. Allow once\n";
    let permission = screen("", &format!("{text}{PERMISSION}"));
    assert_eq!(Gemini.answer(&permission, &Answer::Yes), Some(b"1".to_vec()));
    assert_eq!(Gemini.answer(&permission, &Answer::No), Some(b"3".to_vec()));
    let DialogText { question, choices, .. } = Gemini.dialog_text(&permission).unwrap();
    let shown = "? Shell touch made; sleep 1 touch made; sleep 1 Allow execution of [Shell]?";
    assert_eq!(question, shown);
    assert_eq!(choices, ["Allow once", "Allow for this session", "No, suggest changes (esc)"]);
}
