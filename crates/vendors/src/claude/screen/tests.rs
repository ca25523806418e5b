use super::*;
use crate::testing::recorded_screen;

macro_rules! screen {
    ($name:literal) => {
        recorded_screen(include_str!(concat!("../fixtures/screens/", $name, ".txt")))
    };
}

#[test]
fn an_empty_input_is_ready_in_every_mode_and_size() {
    let all = [
        screen!("ready-120"),
        screen!("ready-80"),
        screen!("afterbypass-120"),
        screen!("2.1.325/ready-120"),
        screen!("2.1.325/ready-80"),
        screen!("2.1.325/refused-120"),
        screen!("2.1.325/refused-80"),
    ];
    for screen in all {
        assert_eq!(Claude.read_screen(&screen), Some(Showing::Ready), "{:#?}", screen.rows);
    }
}

#[test]
fn text_in_the_input_is_a_draft_whether_or_not_the_agent_works() {
    let all = [
        screen!("draft-80"),
        screen!("busydraft-80"),
        screen!("multidraft-80"),
        screen!("2.1.325/draft-120"),
        screen!("2.1.325/draft-80"),
        screen!("2.1.325/busydraft-120"),
        screen!("2.1.325/busydraft-80"),
    ];
    for screen in all {
        assert_eq!(Claude.read_screen(&screen), Some(Showing::Draft), "{:#?}", screen.rows);
    }
}

#[test]
fn a_working_agent_is_busy_and_a_placeholder_is_no_draft() {
    let all = [
        screen!("busy-120"),
        screen!("busy-80"),
        screen!("queued-120"),
        screen!("2.1.325/busy-120"),
        screen!("2.1.325/busy-80"),
        screen!("2.1.325/queued-120"),
        screen!("2.1.325/queued-80"),
    ];
    for screen in all {
        assert_eq!(Claude.read_screen(&screen), Some(Showing::Busy), "{:#?}", screen.rows);
    }
}

#[test]
fn one_letter_is_a_draft_unless_a_faint_rest_follows_it() {
    let typed = |row: &str| {
        let text = include_str!("../fixtures/screens/ready-80.txt");
        Claude.read_screen(&recorded_screen(&text.replace("\n❯\n", &format!("\n{row}\n"))))
    };
    assert_eq!(typed("❯ a"), Some(Showing::Draft));
    assert_eq!(typed("❯ T⟦ry \"fix the tests\"⟧"), Some(Showing::Ready));
    assert_eq!(typed("❯ ⟦Try \"fix the tests\"⟧"), Some(Showing::Ready));
    assert_eq!(typed("! "), Some(Showing::Draft), "a shell runs the text after `!`");
}

#[test]
fn questions_before_there_is_a_conversation_are_about_trust() {
    let all = [
        screen!("trust-120"),
        screen!("trust-80"),
        screen!("key-120"),
        screen!("key-80"),
        screen!("bypass-120"),
        screen!("bypass-80"),
        screen!("2.1.325/trust-120"),
        screen!("2.1.325/trust-80"),
        screen!("2.1.325/trust-marked-80"),
        screen!("2.1.325/key-120"),
        screen!("2.1.325/key-80"),
        screen!("2.1.325/bypass-120"),
        screen!("2.1.325/bypass-80"),
    ];
    for screen in all {
        assert_eq!(
            Claude.read_screen(&screen),
            Some(Showing::Dialog(WaitingFor::Trust)),
            "{:#?}",
            screen.rows
        );
    }
}

#[test]
fn permission_dialog_waits_for_a_permission() {
    let all = [
        screen!("permission-120"),
        screen!("permission-80"),
        screen!("2.1.325/permission-120"),
        screen!("2.1.325/permission-80"),
    ];
    for screen in all {
        assert_eq!(Claude.read_screen(&screen), Some(Showing::Dialog(WaitingFor::Permission)));
    }
}

#[test]
fn a_panel_with_choices_that_a_person_opened_is_a_question() {
    for screen in [screen!("model-80"), screen!("2.1.325/model-120"), screen!("2.1.325/model-80")] {
        let shown = Claude.read_screen(&screen);
        assert_eq!(shown, Some(Showing::Dialog(WaitingFor::Question)), "{:#?}", screen.rows);
    }
}

#[test]
fn first_start_asks_for_a_theme_and_then_shows_security_notes() {
    for screen in [screen!("2.1.325/theme-120"), screen!("2.1.325/theme-80")] {
        assert_eq!(Claude.read_screen(&screen), Some(Showing::Dialog(WaitingFor::Question)));
        let DialogText { question, choices, .. } = Claude.dialog_text(&screen).unwrap();
        let wanted = "Let's get started. Choose the text style that looks best with your terminal \
                     To change this later, run /theme";
        assert_eq!(question, wanted);
        assert_eq!(choices[..3], ["Auto (match terminal)", "Dark mode", "Light mode"]);
        assert_eq!(choices.len(), 7);
        let light = Answer::Choice("light mode".to_owned());
        assert_eq!(Claude.answer(&screen, &light), Some(b"\x1b[B\r".to_vec()));
    }
    for screen in [screen!("2.1.325/security-120"), screen!("2.1.325/security-80")] {
        assert_eq!(Claude.read_screen(&screen), Some(Showing::Dialog(WaitingFor::Question)));
        let DialogText { question, choices, .. } = Claude.dialog_text(&screen).unwrap();
        assert!(question.starts_with("Security notes: 1. Claude can make mistakes."), "{question}");
        assert!(question.ends_with("Press Enter to continue…"), "{question}");
        assert!(choices.is_empty(), "{choices:?}");
        assert_eq!(Claude.answer(&screen, &Answer::Choice("1".to_owned())), None);
    }
}

#[test]
fn panels_without_choices_and_empty_screens_are_none() {
    let all = [
        screen!("cost-120"),
        screen!("2.1.325/cost-120"),
        screen!("2.1.325/cost-80"),
        Screen::default(),
    ];
    for screen in all {
        assert_eq!(Claude.read_screen(&screen), None, "{:#?}", screen.rows);
    }
}

#[test]
fn answer_is_the_number_of_the_choice_or_moves_the_mark_to_it() {
    let keys = |screen: &Screen, answer: Answer| {
        Claude.answer(screen, &answer).map(|keys| String::from_utf8(keys).unwrap())
    };
    let table = [
        (screen!("trust-80"), "1", "2"),
        (screen!("key-80"), "1", "2"),
        (screen!("bypass-80"), "2", "1"),
        (screen!("permission-80"), "1", "3"),
        (screen!("2.1.325/permission-120"), "1", "4"),
        (screen!("2.1.325/permission-80"), "1", "4"),
        (screen!("2.1.325/trust-80"), "\x1b[B\r", "\r"),
        (screen!("2.1.325/trust-marked-80"), "\r", "\x1b[A\r"),
        (screen!("2.1.325/key-80"), "\x1b[A\r", "\r"),
        (screen!("2.1.325/bypass-120"), "\x1b[B\r", "\r"),
    ];
    for (screen, yes, no) in table {
        assert_eq!(keys(&screen, Answer::Yes).as_deref(), Some(yes), "{:#?}", screen.rows);
        assert_eq!(keys(&screen, Answer::No).as_deref(), Some(no), "{:#?}", screen.rows);
    }
    let permission = screen!("permission-120");
    let choice = |words: &str| keys(&permission, Answer::Choice(words.to_owned()));
    assert_eq!(choice("2").as_deref(), Some("2"));
    assert_eq!(choice("yes, and always").as_deref(), Some("2"));
    assert_eq!(choice("yes").as_deref(), Some("1"), "an equal text wins over a prefix");
    assert_eq!(choice("no").as_deref(), Some("3"));
    assert_eq!((choice("4"), choice(""), choice("maybe")), (None, None, None));
    assert_eq!(keys(&screen!("ready-80"), Answer::Yes), None, "there is no dialog");
}

#[test]
fn yes_that_fits_several_choices_returns_no_keys() {
    let rows = "──────────\n Do you want to proceed?\n ❯ 1. Yes, and accept edits\n   \
                2. Yes, and ask\n   3. No, keep planning\n\n Esc to cancel\n";
    let screen = recorded_screen(rows);
    assert_eq!(Claude.answer(&screen, &Answer::Yes), None);
    assert_eq!(Claude.answer(&screen, &Answer::No), Some(b"3".to_vec()));
}

#[test]
fn dialog_text_has_question_and_choices_without_rules_and_tips() {
    let permission = "Bash command Run shell command touch made Do you want to proceed?";
    let choices = [
        "Yes",
        "Yes, and always allow access to /home/user/code/a-project from this project",
        "Yes, and switch to auto mode · auto mode handles these prompts for you",
        "No",
    ];
    let wide = Claude.dialog_text(&screen!("2.1.325/permission-120")).unwrap();
    assert_eq!((wide.question.as_str(), wide.choices.len()), (permission, 4));
    assert_eq!(wide.choices, choices);
    let narrow = Claude.dialog_text(&screen!("2.1.325/permission-80")).unwrap();
    assert_eq!((narrow.question.as_str(), narrow.choices.len()), (permission, 4));
    let older = Claude.dialog_text(&screen!("permission-80")).unwrap();
    assert_eq!(older.question, "Bash command touch made Run shell command Do you want to proceed?");
    assert_eq!(older.choices.len(), 3);
    let key = Claude.dialog_text(&screen!("2.1.325/key-80")).unwrap();
    assert!(key.question.ends_with("Do you want to use this API key?"), "{key:?}");
    assert_eq!(key.choices, ["Yes", "No (recommended)"]);
}

#[test]
fn rows_of_a_command_are_neither_choices_nor_tips_nor_about_trust() {
    let recorded_rows = include_str!("../fixtures/screens/2.1.325/permission-80.txt");
    let command = " touch made\n";
    for row in
        [" 3. No", " ❯ 1. No\n   2. Yes", " Tip: nothing happens", " Yes, I trust this folder"]
    {
        let screen = recorded_screen(&recorded_rows.replace(command, &format!("{command}{row}\n")));
        assert_eq!(
            Claude.read_screen(&screen),
            Some(Showing::Dialog(WaitingFor::Permission)),
            "{row}"
        );
        assert_eq!(Claude.answer(&screen, &Answer::Yes), Some(b"1".to_vec()), "{row}");
        assert_eq!(Claude.answer(&screen, &Answer::No), Some(b"4".to_vec()), "{row}");
        let DialogText { question, choices, .. } = Claude.dialog_text(&screen).unwrap();
        let first = row.lines().next().unwrap().trim();
        assert!(question.contains(&format!("touch made {first}")), "{question}");
        assert!(!question.contains("auto mode handles"), "{question}");
        assert_eq!(choices.len(), 4, "{choices:?}");
    }
}
