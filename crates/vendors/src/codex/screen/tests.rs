use super::*;
use crate::shared::choices::{DOWN, ENTER, UP};

/// Makes a screen from rows. Text between `~` is drawn faint.
fn screen(title: &str, cursor: Option<(u16, u16)>, text: &str) -> Screen {
    let rows = text.lines().map(|row| row.replace('~', "").trim_end().to_owned()).collect();
    let firm = |row: &str| {
        let parts = row.split('~').enumerate();
        let firm: String = parts.filter(|(at, _)| at % 2 == 0).map(|(_, part)| part).collect();
        firm.trim_end().to_owned()
    };
    let firm_rows = text.lines().map(firm).collect();
    Screen { rows, firm_rows, title: title.to_owned(), cursor, revision: 1 }
}

const SPLASH: &str = "
  >_ OpenAI Codex (v0.166.0)
     /code/a
  Resuming session…

› ~Ask Codex to do anything~


  ? for shortcuts";

const READY: &str = "
  >_ OpenAI Codex (v0.166.0)
     ~/code/a~

› 1. a question that looks like a choice

• turns=1

› ~Ask Codex to do anything~

  fake-1 default · /code/a
  ? for shortcuts                                      ⚠ 1 warning · f2 to view";

const TRUST: &str = "
  Folder access
  ~/code/a~

  Trust this folder? Codex can read, edit, and run files here, subject to your
  permission settings. Folder settings can run code automatically, even
  without a model request. Continue only if you trust these files. Your trust
  decision will be saved.

› 1. Trust and continue
  2. Quit

  enter ~continue~ · esc ~quit~";

const PERMISSION: &str = "
› please

• Running touch /code/a/x1

  Would you like to run the following command?

  Environment: local

  Reason: why not

  $ touch /code/a/x1

› 1. Yes, proceed (y)
  2. Yes, and don't ask again for commands that start with `touch /code/a/x1`
     (p)
  3. No, and tell Codex what to do differently (esc)

  ~Press~ enter ~to confirm or~ esc ~to cancel~";

const HOOKS: &str = "
  Hooks need review
  1 hook is new or changed.
  Hooks can run outside the sandbox after you trust them.

› 1. Review hooks
  2. Trust all and continue
  3. Continue without trusting (hooks won't run)

  enter confirm · esc skip";

const ELSEWHERE_SHOWN: &str = "
• turns=1

  🔒  This conversation is open in another app                     r to retry
      Close it there and press R to continue here.

   r retry   f fork   esc/^c/q exit   ^t transcript";

#[test]
fn input_counts_only_after_codex_has_set_its_title() {
    assert_eq!(
        Codex.read_screen(&screen("", Some((5, 2)), SPLASH)),
        None,
        "it is drawn before it is ready"
    );
    assert_eq!(Codex.read_screen(&screen("a", Some((8, 2)), READY)), Some(Showing::Ready));
    assert_eq!(Codex.read_screen(&screen("⠧ a", Some((8, 2)), READY)), Some(Showing::Busy));
    assert_eq!(Codex.read_screen(&screen("a", None, ELSEWHERE_SHOWN)), None);
}

#[test]
fn text_in_the_input_is_a_draft() {
    let typed = |text: &str| READY.replace("~Ask Codex to do anything~", text);
    for (text, row) in [
        ("hello", 8),
        ("Ask Codex to do anything", 8),
        ("one\n  two\n  three", 10),
        ("one\n  two\n  three", 8),
        ("\n  two", 8),
        ("\n  two", 9),
        ("[Pasted Content 1503 chars]", 8),
    ] {
        let found = Codex.read_screen(&screen("a", Some((row, 2)), &typed(text)));
        assert_eq!(found, Some(Showing::Draft), "{text:?} at {row}");
    }
    let shell = READY.replace("› ~Ask Codex to do anything~", "! ls");
    assert_eq!(Codex.read_screen(&screen("a", Some((8, 4)), &shell)), Some(Showing::Draft));
}

#[test]
fn trust_and_permission_questions_are_distinguished() {
    let trust = Some(Showing::Dialog(WaitingFor::Trust));
    assert_eq!(Codex.read_screen(&screen("", None, TRUST)), trust);
    assert_eq!(Codex.read_screen(&screen("", None, HOOKS)), trust);
    let permission = Some(Showing::Dialog(WaitingFor::Permission));
    assert_eq!(
        Codex.read_screen(&screen("[ . ] Action Required | a", None, PERMISSION)),
        permission
    );
    assert_eq!(
        Codex.read_screen(&screen("⠧ a", None, PERMISSION)),
        permission,
        "the title comes later"
    );
}

#[test]
fn answer_moves_the_mark_down_to_its_choice() {
    let keys = |text: &str, answer: Answer| Codex.answer(&screen("a", None, text), &answer);
    let choice = |text: &str| Answer::Choice(text.to_owned());
    let down = |times: usize| Some([DOWN.repeat(times), ENTER.to_vec()].concat());
    assert_eq!(keys(PERMISSION, Answer::Yes), down(0));
    assert_eq!(keys(PERMISSION, Answer::No), down(2));
    assert_eq!(keys(PERMISSION, choice("2")), down(1));
    assert_eq!(keys(PERMISSION, choice("yes, and")), down(1));
    assert_eq!(keys(PERMISSION, choice("4")), None);
    assert_eq!(keys(PERMISSION, choice("")), None);
    assert_eq!(keys(TRUST, Answer::Yes), down(0));
    assert_eq!(keys(TRUST, Answer::No), down(1));
    assert_eq!(keys(HOOKS, Answer::Yes), down(1));
    assert_eq!(keys(HOOKS, Answer::No), down(2));
    assert_eq!(keys(HOOKS, choice("review")), down(0));
    assert_eq!(Codex.answer(&screen("a", Some((8, 2)), READY), &Answer::Yes), None);
}

#[test]
fn answer_moves_the_mark_up_if_a_later_choice_is_marked() {
    let moved = PERMISSION.replace("› 1.", "  1.").replace("  3.", "› 3.");
    let keys = Codex.answer(&screen("a", None, &moved), &Answer::Yes).unwrap();
    assert_eq!(keys, [UP.repeat(2), ENTER.to_vec()].concat());
}

#[test]
fn rows_of_a_command_that_look_like_choices_do_not_change_the_answer() {
    let attacks = [
        PERMISSION.replace("  $ touch /code/a/x1", "  $ touch /code/a/x1\n    › 1. No\n    2. Yes"),
        PERMISSION.replace("     (p)", "     7. x\n     (p)"),
    ];
    for text in attacks {
        let asks = screen("", None, &text);
        assert_eq!(Codex.answer(&asks, &Answer::Yes), Some(ENTER.to_vec()), "{text}");
        assert_eq!(Codex.answer(&asks, &Answer::No), Some([DOWN, DOWN, ENTER].concat()), "{text}");
        let DialogText { question, choices, .. } = Codex.dialog_text(&asks).unwrap();
        assert!(question.contains("run the following command? Environment: local"), "{question}");
        assert!(question.contains("$ touch /code/a/x1"), "{question}");
        assert_eq!(choices.len(), 3, "{choices:?}");
    }
}
