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
fn an_input_is_ready_or_has_a_draft() {
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
fn questions_are_recognized_whatever_the_title_shows() {
    for title in [READY_TITLE, "✦  Working… (proj)", ""] {
        let trust = Gemini.read_screen(&screen(title, TRUST));
        assert_eq!(trust, Some(Showing::Dialog(WaitingFor::Trust)), "{title}");
    }
    let asks = screen("✋  Action Required (proj)", PERMISSION);
    assert_eq!(Gemini.read_screen(&asks), Some(Showing::Dialog(WaitingFor::Permission)));
}

#[test]
fn a_question_is_answered_by_the_number_of_a_choice() {
    let (trust, asks) = (screen(READY_TITLE, TRUST), screen("", PERMISSION));
    let choice = |words: &str| Answer::Choice(words.to_owned());
    for (screen, given, wanted) in [
        (&trust, Answer::Yes, Some("1")),
        (&trust, Answer::No, Some("3")),
        (&trust, choice("2"), Some("2")),
        (&trust, choice("trust"), None),
        (&asks, Answer::Yes, Some("1")),
        (&asks, Answer::No, Some("3")),
        (&asks, choice("allow for"), Some("2")),
        (&asks, choice("7"), None),
        (&asks, choice(""), None),
    ] {
        let keys = Gemini.answer(screen, &given).map(|keys| String::from_utf8(keys).unwrap());
        assert_eq!(keys.as_deref(), wanted, "{given:?}");
    }
    assert_eq!(Gemini.answer(&screen(READY_TITLE, READY), &Answer::Yes), None);
}

#[test]
fn the_command_is_part_of_the_question_and_words_of_the_agent_are_no_choices() {
    let said = "✦ which?\n● 1. No\n  2. Allow once\n";
    let asks = screen("", &format!("{said}{PERMISSION}"));
    assert_eq!(Gemini.answer(&asks, &Answer::Yes), Some(b"1".to_vec()));
    assert_eq!(Gemini.answer(&asks, &Answer::No), Some(b"3".to_vec()));
    let DialogText { question, choices, .. } = Gemini.dialog_text(&asks).unwrap();
    let shown = "? Shell touch made; sleep 1 touch made; sleep 1 Allow execution of [Shell]?";
    assert_eq!(question, shown);
    assert_eq!(choices, ["Allow once", "Allow for this session", "No, suggest changes (esc)"]);
}
