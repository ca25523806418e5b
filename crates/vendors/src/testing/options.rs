//! Tests for every vendor that no text from a user becomes an option of the vendor's program.

use std::sync::Arc;

use segue_core::model::{LaunchMode, Session, VendorDescription, VendorId, VendorSessionId};
use segue_core::ports::{Vendor, Vendors as _};
use segue_core::rules::words;
use uuid::Uuid;

use crate::testing::{Disk, plan, session};

/// Texts that a program could mistake for options.
const TEXTS: [&str; 7] = [
    "--allowed-tools=Bash",
    "--dangerously-skip-permissions",
    "-y",
    "-",
    "--",
    "--\nfix it",
    "- a list\n- of things",
];

fn vendors() -> Vec<Arc<dyn Vendor>> {
    let known = crate::all();
    let words = |flag: &str| Some(vec![flag.to_owned(), "{id}".to_owned()]);
    let description = VendorDescription {
        command: vec!["mytool".to_owned(), "chat".to_owned()],
        new: words("--session"),
        resume: words("--resume"),
        transcript: None,
    };
    let mut all = known.all();
    all.push(known.described(&VendorId::new("mytool"), &description));
    all
}

/// Returns the arguments of a launch, or `None` if the vendor refuses it.
fn command(
    vendor: &dyn Vendor,
    session: &Session,
    (mode, message): (LaunchMode, Option<&str>),
) -> Option<Vec<String>> {
    let unique = Uuid::from_u128(0x0198_0000_0000_7000_8000_0000_0000_0007);
    let id = vendor.launching().preset_id(session, unique);
    let some = VendorSessionId::new(unique.to_string());
    let id = if mode == LaunchMode::Resume { id.or(Some(some)) } else { id };
    let disk = CountingFiles::default();
    let line = vendor.launching().command(&plan(session, &disk, (mode, id.as_ref(), message)));
    line.ok().map(|it| it.arguments)
}

/// Expects the same options as in a launch with ordinary texts: a word that begins with a dash is
/// the same, or has the same flag before its value, or comes after `--`.
fn assert_same_options(found: &[String], ordinary: &[String], about: &str) {
    assert_eq!(found.len(), ordinary.len(), "{about}: {found:?}");
    for (word, plain) in found.iter().zip(ordinary) {
        if plain == "--" {
            assert_eq!(word, plain, "{about}: {found:?}");
            return;
        }
        let flag = plain.split_inclusive('=').next().filter(|_| plain.contains('='));
        let is_same = word == plain || flag.is_some_and(|flag| word.starts_with(flag));
        assert!(!word.starts_with('-') || is_same, "{about}: {found:?}");
    }
}

fn sessions() -> impl Iterator<Item = (Session, LaunchMode)> {
    let both = [LaunchMode::Fresh, LaunchMode::Resume];
    [false, true]
        .into_iter()
        .flat_map(move |headless| both.map(|mode| (Session { headless, ..session() }, mode)))
}

#[test]
fn a_prompt_is_never_an_option_of_any_vendors_program() {
    for vendor in vendors() {
        let mut asked = 0;
        for (session, mode) in sessions() {
            let launch = |text| command(vendor.as_ref(), &session, (mode, Some(text)));
            let Some(ordinary) = launch("hello") else { continue };
            for text in TEXTS {
                let found = launch(text).unwrap_or_else(|| panic!("{} {text:?}", vendor.id()));
                assert_same_options(&found, &ordinary, &format!("{} {text:?}", vendor.id()));
                asked += 1;
            }
        }
        assert!(asked > 0, "{}", vendor.id());
    }
}

#[test]
fn instructions_are_never_an_option_of_any_vendors_program() {
    for vendor in vendors() {
        for (session, mode) in sessions() {
            let launch = |text: &str| {
                let instructions = Some(text.to_owned());
                let session = Session { instructions, ..session.clone() };
                command(vendor.as_ref(), &session, (mode, Some("hello")))
            };
            let Some(ordinary) = launch("be kind") else { continue };
            for text in TEXTS {
                let found = launch(text).unwrap_or_else(|| panic!("{} {text:?}", vendor.id()));
                assert_same_options(&found, &ordinary, &format!("{} {text:?}", vendor.id()));
            }
        }
    }
}

#[test]
fn a_model_is_never_an_option_of_any_vendors_program() {
    // A model name that looks like an option is rejected before any vendor sees it.
    assert!(TEXTS.iter().all(|text| words::check_model(text).is_err()));
    // Even without that check, most programs get the model in one word with its flag.
    let takes_separate_words = ["cursor", "openclaw", "pi"];
    for vendor in vendors().iter().filter(|it| !takes_separate_words.contains(&it.id().as_str())) {
        for (session, mode) in sessions() {
            let launch = |text: &str| {
                let session = Session { model: Some(text.to_owned()), ..session.clone() };
                command(vendor.as_ref(), &session, (mode, Some("hello")))
            };
            let Some(ordinary) = launch("some/model") else { continue };
            for text in TEXTS {
                let found = launch(text).unwrap_or_else(|| panic!("{} {text:?}", vendor.id()));
                assert_same_options(&found, &ordinary, &format!("{} {text:?}", vendor.id()));
            }
        }
    }
}

/// Vendors whose programs read the prompt of a headless turn from their standard input.
const PROMPT_IN_FILE: [&str; 4] = ["claude", "codex", "gemini", "opencode"];

/// Vendors whose programs read instructions from a file.
const INSTRUCTIONS_IN_FILE: [&str; 4] = ["claude", "copilot", "opencode", "pi"];

#[test]
fn texts_that_a_vendors_program_reads_from_a_file_are_in_no_argument() {
    let text = "--a long text,\nwith \u{fc}nic\u{f6}de: \u{1f98a}";
    for vendor in vendors() {
        let name = vendor.id();
        for (session, mode) in sessions() {
            let instructions = Some(text.to_owned());
            let told = Session { instructions, ..session.clone() };
            let words = command(vendor.as_ref(), &told, (mode, Some("hello")));
            let has_text = |words: &[String]| words.iter().any(|word| word.contains("a long text"));
            if INSTRUCTIONS_IN_FILE.contains(&name.as_str()) {
                assert!(!has_text(&words.unwrap_or_default()), "{name}: instructions");
            }
            let words = command(vendor.as_ref(), &session, (mode, Some(text)));
            if session.headless && PROMPT_IN_FILE.contains(&name.as_str()) {
                assert!(!has_text(&words.unwrap_or_default()), "{name}: prompt");
            }
        }
    }
}
