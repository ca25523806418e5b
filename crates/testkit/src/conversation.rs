//! Talking to a demo agent the way a typing person does, and reading what it answered.

use std::fs;
use std::path::PathBuf;

use segue_core::model::{LaunchId, LaunchRecord};
use segue_core::ports::Holders as _;
use segue_host::Paths;
use segue_host::hold::LocalHolders;
use segue_host::watch::Watcher;
use serde_json::Value;
use tokio::runtime::{Builder, Runtime};

use crate::world::{DEADLINE, World};

/// Types a message into a session's terminal and returns the agent's answer to it.
pub fn ask(world: &World, session: &Value, question: &str) -> String {
    let id = text(session, "vendor_session_id");
    let launch = newest_launch(world, &text(session, "id"));
    runtime().block_on(async {
        let transcript = wait_for_transcript(world, &id).await;
        let known = turns(&transcript).len();
        type_into(world, launch, &format!("{question}\r")).await;
        wait_for_turn(&transcript, known + 1).await
    })
}

/// Waits until the session's conversation has this many whole turns; returns the last answer.
pub fn wait_turns(world: &World, session: &Value, count: usize) -> String {
    let id = text(session, "vendor_session_id");
    runtime().block_on(async {
        let transcript = wait_for_transcript(world, &id).await;
        wait_for_turn(&transcript, count).await
    })
}

/// Types bytes into a session's terminal.
pub fn type_text(world: &World, session: &Value, bytes: &str) {
    let launch = newest_launch(world, &text(session, "id"));
    runtime().block_on(type_into(world, launch, bytes));
}

/// Returns where a conversation's transcript is, if it is there.
pub fn transcript(world: &World, vendor_session_id: &str) -> Option<PathBuf> {
    let name = format!("{vendor_session_id}.jsonl");
    let folders = fs::read_dir(conversations(world)).ok()?;
    folders.filter_map(|it| Some(it.ok()?.path().join(&name))).find(|path| path.is_file())
}

/// Returns the newest launch of a session.
pub fn newest_launch(world: &World, session: &str) -> LaunchId {
    let launches = fs::read_dir(world.state().join("launches")).expect("launch folders");
    let records = launches.filter_map(|folder| {
        let record = fs::read(folder.ok()?.path().join("session.json")).ok()?;
        serde_json::from_slice::<LaunchRecord>(&record).ok()
    });
    let own = records.filter(|record| record.session.id.to_string() == session);
    own.max_by_key(|record| record.launch.number).expect("a launch").launch.id
}

fn conversations(world: &World) -> PathBuf {
    world.home().join(".segue-demo").join("conversations")
}

fn text(session: &Value, key: &str) -> String {
    session[key].as_str().unwrap_or_else(|| panic!("no {key} in {session}")).to_owned()
}

fn runtime() -> Runtime {
    Builder::new_current_thread().enable_all().build().expect("a runtime")
}

async fn type_into(world: &World, launch: LaunchId, bytes: &str) {
    let environment = segue_core::model::Environment::new(world.environment());
    let holders = LocalHolders::new(Paths::from_environment(&environment).expect("paths"));
    holders.inject(launch, bytes.as_bytes()).await.expect("the holder types it");
}

async fn wait_for_transcript(world: &World, id: &str) -> PathBuf {
    let mut watcher = Watcher::new().expect("a watcher");
    let all = conversations(world);
    watcher.add(&all).expect("watched");
    loop {
        for folder in fs::read_dir(&all).into_iter().flatten().flatten() {
            watcher.add(&folder.path()).expect("watched");
        }
        if let Some(path) = transcript(world, id) {
            return path;
        }
        change(&mut watcher, "a transcript").await;
    }
}

async fn wait_for_turn(transcript: &PathBuf, count: usize) -> String {
    let mut watcher = Watcher::new().expect("a watcher");
    watcher.add(transcript.parent().expect("a folder")).expect("watched");
    loop {
        let turns = turns(transcript);
        if turns.len() >= count {
            return turns.last().cloned().unwrap_or_default();
        }
        change(&mut watcher, &format!("turn {count} in {}", transcript.display())).await;
    }
}

async fn change(watcher: &mut Watcher, what: &str) {
    let next = tokio::time::timeout(DEADLINE, watcher.next()).await;
    next.unwrap_or_else(|_| panic!("waited {DEADLINE:?} for {what}")).expect("a change");
}

/// Returns the answers of all whole turns.
fn turns(transcript: &PathBuf) -> Vec<String> {
    let content = fs::read_to_string(transcript).unwrap_or_default();
    let (mut turns, mut answer) = (Vec::new(), String::new());
    for line in content.lines() {
        let Ok(record) = serde_json::from_str::<Value>(line) else { continue };
        match record["type"].as_str() {
            Some("assistant") => answer = record["text"].as_str().unwrap_or_default().to_owned(),
            Some("turn_end") => turns.push(std::mem::take(&mut answer)),
            _ => {}
        }
    }
    turns
}
