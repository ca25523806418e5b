//! `segue acp` with the demo agent: threads of an editor are sessions of Segue.

use rustix::process::Signal;
use segue_testkit::editor_client::texts;
use segue_testkit::{EditorClient, World, processes, scene};
use serde_json::{Value, json};

use crate::scene::{messages, states, times_received, wait_idle};
use crate::world;

/// Returns the id of a session of Segue in the form of the protocol.
fn id(uri: &str) -> &str {
    uri.strip_prefix("segue://session/").unwrap()
}

fn agent_texts(updates: &[Value]) -> Vec<String> {
    texts(updates, "agent_message_chunk")
}

fn user_texts(updates: &[Value]) -> Vec<String> {
    texts(updates, "user_message_chunk")
}

/// Starts a client, and a session with one turn. Returns the session's id.
fn session(world: &World) -> (EditorClient, String) {
    let mut client = EditorClient::start(world, &["--vendor", "demo"]);
    let session = client.new_session(&world.project());
    let (answer, updates) = client.prompt(&session, "remember the word amber");
    assert_eq!(answer["result"], json!({"stopReason": "end_turn"}), "{answer}");
    assert_eq!(agent_texts(&updates), ["I will remember amber."]);
    assert_eq!(user_texts(&updates), [""; 0], "the editor shows its own prompt itself");
    (client, session)
}

#[test]
fn prompt_is_a_message_and_its_turn_becomes_updates() {
    let world = world();
    let (mut client, session) = session(&world);
    let (answer, updates) = client.prompt(&session, "what is the word?");
    assert_eq!(answer["result"]["stopReason"], "end_turn");
    assert_eq!(agent_texts(&updates), ["The word is amber."]);
    assert_eq!(states(&world), ["delivered", "delivered"]);
    let listed = client.ok("session/list", &json!({}));
    assert_eq!(listed["sessions"][0]["sessionId"], session, "{listed}");
    assert_eq!(listed["sessions"][0]["cwd"], json!(world.project()));
    let elsewhere = client.ok("session/list", &json!({"cwd": "/nowhere"}));
    assert_eq!(elsewhere["sessions"], json!([]));
    assert!(client.close().success());
    assert_eq!(world.session(id(&session))["status"], "idle", "the agent goes on");
}
