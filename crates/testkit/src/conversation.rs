//! Types messages into a demo agent's terminal, as a person would, and reads the answers from its
//! transcript.

use std::fs;
use std::path::{Path, PathBuf};

use segue_core::model::LaunchId;
use segue_core::ports::Holders as _;
use segue_host::hold::LocalHolders;
use segue_host::watch::Watcher;
use serde_json::Value;

use crate::launches::{newest_id, paths};
use crate::runtime::block_on;
use crate::scene::text;
use crate::world::{DEADLINE, World};

/// Types a message into a session's terminal and returns the agent's answer to it.
pub fn ask(world: &World, session: &Value, question: &str) -> String {
    let id = text(session, "vendor_session_id");
    let launch = newest_id(world, session);
    block_on(async {
        let transcript = wait_for_transcript(world, id).await;
        let known = answers(&transcript, question).len();
        type_into(world, launch, &format!("{question}\r")).await;
        let what = format!("an answer to {question:?} in {}", transcript.display());
        wait_until(&transcript, &what, || answers(&transcript, question).into_iter().nth(known))
            .await
    })
}

/// Waits until the session's conversation has at least this many complete turns. Returns the last
/// answer.
pub fn wait_turns(world: &World, session: &Value, count: usize) -> String {
    let id = text(session, "vendor_session_id");
    block_on(async {
        let transcript = wait_for_transcript(world, id).await;
        wait_for_turn(&transcript, count).await
    })
}

/// Waits until the session's conversation has at least this many messages of the user.
pub fn wait_messages(world: &World, session: &Value, count: usize) {
    let id = text(session, "vendor_session_id");
    block_on(async {
        let transcript = wait_for_transcript(world, id).await;
        let has_messages = || (user_messages(&transcript).len() >= count).then_some(());
        wait_until(&transcript, "a message of the user", has_messages).await;
    });
}

/// Waits until the world's only conversation has a complete turn. Returns the conversation's id.
///
/// # Panics
///
/// If there is more than one conversation.
pub fn wait_for_only_conversation(world: &World) -> String {
    block_on(async {
        let transcript = wait_for(world, "a transcript", || transcripts(world).pop()).await;
        wait_for_turn(&transcript, 1).await;
        assert_eq!(transcripts(world).len(), 1, "there is more than one conversation");
        transcript.file_stem().expect("a name").to_string_lossy().into_owned()
    })
}

/// Types bytes into a session's terminal.
pub fn type_text(world: &World, session: &Value, bytes: &str) {
    block_on(type_into(world, newest_id(world, session), bytes));
}

/// Returns the path of a conversation's transcript. `None` if the file does not exist.
pub fn transcript(world: &World, vendor_session_id: &str) -> Option<PathBuf> {
    let name = format!("{vendor_session_id}.jsonl");
    transcripts(world).into_iter().find(|path| path.ends_with(&name))
}

/// Returns the paths of the transcripts of all conversations.
pub fn transcripts(world: &World) -> Vec<PathBuf> {
    let entries = |folder: &Path| fs::read_dir(folder).into_iter().flatten().flatten();
    let folders = entries(&conversations(world)).map(|entry| entry.path());
    folders.flat_map(|folder| entries(&folder).map(|entry| entry.path())).collect()
}

/// Returns the folder of the demo agent's conversations.
fn conversations(world: &World) -> PathBuf {
    world.home().join(".segue-demo").join("conversations")
}

async fn type_into(world: &World, launch: LaunchId, bytes: &str) {
    let holders = LocalHolders::new(paths(world));
    holders.inject(launch, bytes.as_bytes()).await.expect("the holder types it");
}

async fn wait_for_transcript(world: &World, id: &str) -> PathBuf {
    wait_for(world, "a transcript", || transcript(world, id)).await
}

/// Waits until `find` returns a path. Calls it again after each change in the folders of transcripts.
async fn wait_for(world: &World, what: &str, find: impl Fn() -> Option<PathBuf>) -> PathBuf {
    let mut watcher = Watcher::new().expect("a watcher");
    let folder = conversations(world);
    watcher.add(&folder).expect("watched");
    loop {
        for folder in fs::read_dir(&folder).into_iter().flatten().flatten() {
            watcher.add(&folder.path()).expect("watched");
        }
        if let Some(path) = find() {
            return path;
        }
        wait_for_change(&mut watcher, what).await;
    }
}

async fn wait_for_turn(transcript: &Path, count: usize) -> String {
    let what = format!("turn {count} in {}", transcript.display());
    wait_until(transcript, &what, || {
        let answers = all_answers(transcript);
        (answers.len() >= count).then(|| answers.last().cloned().unwrap_or_default())
    })
    .await
}

/// Waits until `find` returns a value. Calls it again after each change beside the transcript.
async fn wait_until<T>(transcript: &Path, what: &str, find: impl Fn() -> Option<T>) -> T {
    let mut watcher = Watcher::new().expect("a watcher");
    watcher.add(transcript.parent().expect("a folder")).expect("watched");
    loop {
        if let Some(found) = find() {
            return found;
        }
        wait_for_change(&mut watcher, what).await;
    }
}

async fn wait_for_change(watcher: &mut Watcher, what: &str) {
    let next = tokio::time::timeout(DEADLINE, watcher.next()).await;
    next.unwrap_or_else(|_| panic!("waited {DEADLINE:?} for {what}")).expect("a change");
}

/// Returns the answers of all complete turns.
fn all_answers(transcript: &Path) -> Vec<String> {
    exchanges(transcript).into_iter().map(|exchange| exchange.answer).collect()
}

/// Returns the answers of all complete turns whose last user message is `question`.
fn answers(transcript: &Path, question: &str) -> Vec<String> {
    let all = exchanges(transcript).into_iter();
    all.filter(|it| it.question == question).map(|exchange| exchange.answer).collect()
}

#[derive(Default)]
struct TranscriptExchange {
    question: String,
    answer: String,
}

/// Returns the question and the answer of each complete turn.
fn exchanges(transcript: &Path) -> Vec<TranscriptExchange> {
    let (mut complete, mut open) = (Vec::new(), TranscriptExchange::default());
    for record in records(transcript) {
        let text = || record["text"].as_str().unwrap_or_default().to_owned();
        match record["type"].as_str() {
            Some("user") => open.question = text(),
            Some("assistant") => open.answer = text(),
            Some("turn_end") => complete.push(std::mem::take(&mut open)),
            _ => {}
        }
    }
    complete
}

/// Returns the user messages of a transcript.
pub fn user_messages(transcript: &Path) -> Vec<String> {
    let all = records(transcript);
    let messages = all.iter().filter(|record| record["type"] == "user");
    messages.map(|record| record["text"].as_str().unwrap_or_default().to_owned()).collect()
}

/// Returns the records of a transcript. Skips lines that are not JSON; a missing file has no
/// records.
pub fn records(transcript: &Path) -> Vec<Value> {
    let content = fs::read_to_string(transcript).unwrap_or_default();
    content.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
}
