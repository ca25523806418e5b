//! Tests that no text from a user becomes an option of a vendor's program. They run for every
//! vendor.

use std::sync::Arc;

use segue_core::model::{LaunchMode, Session, VendorDescription, VendorId, VendorSessionId};
use segue_core::ports::{Vendor, Vendors as _};
use segue_core::rules::words::check_model;
use uuid::Uuid;

use crate::testing::{CountingFiles, plan, session, words};

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

/// Returns all built-in vendors, and one that a project file describes.
fn vendors() -> Vec<Arc<dyn Vendor>> {
    let built_in = crate::all();
    let description = VendorDescription {
        command: words("mytool chat"),
        new: Some(words("--session {id}")),
        resume: Some(words("--resume {id}")),
        transcript: None,
    };
    let mut all = built_in.all();
    all.push(built_in.described(&VendorId::new("mytool"), &description));
    all
}

/// Returns the arguments of a launch, or `None` if the vendor refuses it.
fn arguments(
    vendor: &dyn Vendor,
    session: &Session,
    (mode, message): (LaunchMode, Option<&str>),
) -> Option<Vec<String>> {
    let unique = Uuid::from_u128(0x0198_0000_0000_7000_8000_0000_0000_0007);
    let preset = vendor.launching().preset_id(session, unique);
    let any = VendorSessionId::new(unique.to_string());
    let id = if mode == LaunchMode::Resume { preset.or(Some(any)) } else { preset };
    let disk = CountingFiles::default();
    let command = vendor.launching().command(&plan(session, &disk, (mode, id.as_ref(), message)));
    command.ok().map(|command| command.arguments)
}

/// Launches with each of `TEXTS`, and expects the same options as in the launch with `ordinary`.
/// Returns the number of launches: 0 if the vendor refuses a launch with `ordinary`.
fn assert_same_options(
    vendor: &dyn Vendor,
    ordinary: &str,
    launch: impl Fn(&str) -> Option<Vec<String>>,
) -> usize {
    let Some(ordinary) = launch(ordinary) else { return 0 };
    for text in TEXTS {
        let context = format!("{} {text:?}", vendor.id());
        let found = launch(text).unwrap_or_else(|| panic!("{context}"));
        assert_eq!(found.len(), ordinary.len(), "{context}: {found:?}");
        assert!(has_same_options(&found, &ordinary), "{context}: {found:?}");
    }
    TEXTS.len()
}

/// Returns whether each argument that begins with a dash is the same, or has the same flag before
/// its value, or comes after `--`.
fn has_same_options(found: &[String], ordinary: &[String]) -> bool {
    let end =
        ordinary.iter().position(|argument| argument == "--").map_or(ordinary.len(), |at| at + 1);
    found.iter().zip(&ordinary[..end]).all(|(argument, ordinary)| {
        let flag = ordinary.split_inclusive('=').next().filter(|_| ordinary.contains('='));
        let is_same = argument == ordinary || flag.is_some_and(|flag| argument.starts_with(flag));
        is_same || (ordinary != "--" && !argument.starts_with('-'))
    })
}

/// Returns an interactive and a headless session, each in both modes.
fn sessions() -> impl Iterator<Item = (Session, LaunchMode)> {
    let modes = [LaunchMode::Fresh, LaunchMode::Resume];
    [false, true]
        .into_iter()
        .flat_map(move |headless| modes.map(|mode| (Session { headless, ..session() }, mode)))
}

#[test]
fn a_prompt_is_never_an_option_of_any_vendors_program() {
    for vendor in vendors() {
        let launches: usize = sessions()
            .map(|(session, mode)| {
                assert_same_options(vendor.as_ref(), "hello", |text| {
                    arguments(vendor.as_ref(), &session, (mode, Some(text)))
                })
            })
            .sum();
        assert!(launches > 0, "{}", vendor.id());
    }
}

#[test]
fn instructions_are_never_an_option_of_any_vendors_program() {
    for vendor in vendors() {
        for (session, mode) in sessions() {
            assert_same_options(vendor.as_ref(), "be kind", |text| {
                let instructions = Some(text.to_owned());
                let session = Session { instructions, ..session.clone() };
                arguments(vendor.as_ref(), &session, (mode, Some("hello")))
            });
        }
    }
}

#[test]
fn a_model_is_never_an_option_of_any_vendors_program() {
    // A model name that looks like an option is rejected before any vendor sees it.
    assert!(TEXTS.iter().all(|text| check_model(text).is_err()));
    // Even without that check, most programs get the model and its flag as one argument.
    let takes_two_arguments = ["cursor", "openclaw", "pi"];
    let takes_one =
        |vendor: &&Arc<dyn Vendor>| !takes_two_arguments.contains(&vendor.id().as_str());
    for vendor in vendors().iter().filter(takes_one) {
        for (session, mode) in sessions() {
            assert_same_options(vendor.as_ref(), "some/model", |text| {
                let session = Session { model: Some(text.to_owned()), ..session.clone() };
                arguments(vendor.as_ref(), &session, (mode, Some("hello")))
            });
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
    let has_text = |found: Option<Vec<String>>| {
        found.unwrap_or_default().iter().any(|argument| argument.contains("a long text"))
    };
    for vendor in vendors() {
        let name = vendor.id();
        for (session, mode) in sessions() {
            let instructions = Some(text.to_owned());
            let instructed = Session { instructions, ..session.clone() };
            if INSTRUCTIONS_IN_FILE.contains(&name.as_str()) {
                let found = arguments(vendor.as_ref(), &instructed, (mode, Some("hello")));
                assert!(!has_text(found), "{name}: instructions");
            }
            if session.headless && PROMPT_IN_FILE.contains(&name.as_str()) {
                let found = arguments(vendor.as_ref(), &session, (mode, Some(text)));
                assert!(!has_text(found), "{name}: prompt");
            }
        }
    }
}
