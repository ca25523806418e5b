//! The rules for turns that are handed off to another vendor: redaction, cleaning and the digest.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use jiff::Timestamp;
use segue_core::model::{FolderState, Role, Turn};
use segue_core::rules::digest::{DigestInput, MIN_BUDGET_CHARACTERS, digest};
use segue_core::rules::redaction::{KnownSecrets, Redactor, redact, redact_assignments};
use segue_core::rules::transfer::TurnCleaner;
use segue_testkit::chance::Chance;

use super::transcripts;

/// The maximum length of a tool's result, in characters.
const RESULT_CHARACTERS: usize = 20_000;

/// Returns a random number generator whose seed is the hash of a text.
fn chance(text: &str) -> Chance {
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    Chance::of(hasher.finish())
}

/// Returns texts with secrets in the forms in which agents see them, and texts without secrets.
pub(super) fn texts() -> Vec<Vec<u8>> {
    let drawn = "q7Xb2LmZ9vTr4KpWc8Ny";
    let block = |name: &str, inside: &str| {
        format!(
            "-----{} {name} PRIVATE KEY-----\n{inside}\n-----END {name} PRIVATE KEY-----",
            "BEGIN"
        )
    };
    let lines = [
        format!("export GITHUB_TOKEN=ghp_{drawn}{drawn}\nDB_PASSWORD='hunter {drawn}'\nA=1"),
        format!(
            "Authorization: Bearer {drawn}\nauthorization: Basic {drawn}==\nX-Api-Key: {drawn}"
        ),
        format!(
            "postgres://user:{drawn}@host:5432/db https://{drawn}@host/ http://a/b?token={drawn}"
        ),
        format!("{{\"api_key\": \"{drawn}\", \"note\": \"secret \\\"{drawn}\\\"\", \"n\": [1]}}"),
        block("RSA", &format!("{drawn}\\n{drawn}\n{drawn}")),
        format!("aws AKIA{} key=\"{drawn}\" the key is under the mat", "ABCDEFGH12345678"),
        format!("eyJ{drawn}.eyJ{drawn}.{drawn} sk-ant-api03-{drawn} sk-{drawn}{drawn}"),
    ];
    let mut texts: Vec<Vec<u8>> = lines.iter().map(|line| line.clone().into_bytes()).collect();
    texts.push(lines.join("\n").into_bytes());
    texts.extend(transcripts::samples("claude"));
    texts.extend(transcripts::samples("codex"));
    texts
}

pub(super) fn check_redaction(text: &str) {
    let mut chance = chance(text);
    let mut at = chance.below(text.len() + 1);
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    let letters = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
    let drawn: String = (0..40).map(|_| char::from(letters[chance.below(letters.len())])).collect();
    let secret = format!("sk-ant-api03-{drawn}");
    let planted = format!("{}\n{secret}\n{}", &text[..at], &text[at..]);
    assert!(!redact(&planted).contains(&drawn), "a key on its own line remains");
    assert!(!redact_assignments(&planted).contains(&drawn), "a key in a variable remains");
    let mut known = KnownSecrets::default();
    known.add_variables(text);
    known.add_environment([("SHOP_TOKEN", drawn.as_str())].into_iter());
    let mut redactor = Redactor::new(known);
    let planted = format!("{}{drawn}{}", &text[..at], &text[at..]);
    assert!(!redactor.redact(&planted).contains(&drawn), "a known value remains");
    let result = redactor.redact_result(&planted, chance.below(2) == 0).into_owned();
    assert!(!result.contains(&drawn), "a known value remains in a result");
    assert!(!redactor.redact_result(text, false).contains(&drawn), "a value of another text");
}

/// Passes turns through the `TurnCleaner`, as a handoff does.
pub(super) fn clean(turns: Vec<Turn>) -> Vec<Turn> {
    let mut cleaner = TurnCleaner::new("call_1", Timestamp::UNIX_EPOCH);
    let mut clean = Vec::new();
    turns.into_iter().for_each(|turn| cleaner.turn(turn, &mut clean));
    cleaner.end(&mut clean);
    clean
}

pub(super) fn check_cleaner(turns: Vec<Turn>) {
    let is_message = |turn: &&Turn| turn.role == Role::User && !turn.text.trim().is_empty();
    let messages = turns.iter().filter(is_message).count();
    let clean = clean(turns);
    assert!(
        clean.iter().filter(|turn| turn.role == Role::User).count() >= messages,
        "a lost message"
    );
    assert!(clean.is_sorted_by_key(|turn| turn.at), "timestamps are out of order");
    for (number, turn) in clean.iter().enumerate() {
        assert!(turn.at.is_some(), "{turn:?} has no timestamp");
        let next = clean.get(number + 1);
        match turn.role {
            Role::ToolCall => check_call(turn, next.expect("a call without a result")),
            Role::ToolResult => {
                let before = number.checked_sub(1).map(|at| clean[at].role);
                assert_eq!(before, Some(Role::ToolCall), "a result without a call");
                assert!(turn.text.chars().count() <= RESULT_CHARACTERS, "a result is too long");
            }
            Role::User | Role::Assistant => assert!(turn.tool.is_none(), "{turn:?}"),
            Role::Summary => panic!("a summary must become a user message"),
        }
    }
}

fn check_call(call: &Turn, result: &Turn) {
    let (call_tool, result_tool) = (call.tool.as_ref(), result.tool.as_ref());
    let (tool, its) = call_tool.zip(result_tool).expect("a call or a result without a tool");
    assert_eq!((result.role, &tool.id), (Role::ToolResult, &its.id), "the wrong result");
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "-_".contains(letter);
    assert!(!tool.id.is_empty() && tool.id.chars().all(is_plain), "{tool:?}");
    let arguments: serde_json::Result<Box<serde_json::value::RawValue>> =
        serde_json::from_str(&call.text);
    let is_object = arguments.is_ok_and(|it| it.get().starts_with('{'));
    assert!(is_object, "arguments are not an object: {}", call.text);
}

pub(super) fn check_digest(turns: Vec<Turn>) {
    let text = turns.last().map(|turn| turn.text.clone()).unwrap_or_default();
    let task = turns.iter().find(|turn| turn.role == Role::User).cloned();
    let turns = clean(turns);
    let mut chance = chance(&text);
    let budget = MIN_BUDGET_CHARACTERS + chance.below(40_000);
    let start: String = text.chars().take(300).collect();
    let folder = FolderState {
        path: start.clone(),
        branch: Some(start.clone()),
        commits: vec![start.clone(); 3],
        dirty: vec![start.clone(); 3],
        more_dirty: 2,
    };
    let input = DigestInput {
        vendor: &start,
        task: task.as_ref(),
        turns: &turns[chance.below(turns.len() + 1)..],
        is_cut: chance.below(2) == 0,
        folder: &folder,
        questions: std::slice::from_ref(&start),
    };
    let Some(text) = digest(&input, budget) else { return };
    let length = text.chars().count();
    assert!(length <= budget, "{length} characters in a budget of {budget}");
    let tag = text.rsplit_once("</").and_then(|(_, rest)| rest.split_once('>'));
    let (tag, _) = tag.expect("the record has no end tag");
    let ends = text.to_ascii_lowercase().matches(&format!("</{tag}>")).count();
    assert_eq!(ends, 1, "the end tag is also inside the record");
}
