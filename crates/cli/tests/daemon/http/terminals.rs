//! Terminals over WebSockets.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use segue_testkit::scene::{daemon_pid, kill_daemon, text, write_project};
use segue_testkit::web_client::TerminalInput;
use segue_testkit::{NetworkClient, TerminalClient, World};
use serde_json::{Value, json};

use super::world_with;
use crate::world;

fn open(world: &World, client: &NetworkClient, query: &str) -> TerminalClient {
    let id = text(&world.session("fox"), "id").to_owned();
    TerminalClient::open(client, &id, query, &[]).unwrap()
}

fn size(notice: &Value) -> (u64, u64) {
    (notice["rows"].as_u64().unwrap(), notice["columns"].as_u64().unwrap())
}

#[test]
fn viewers_see_what_a_controller_types_and_their_own_input_is_refused() {
    let (world, client) = world_with(&["fox"]);
    let mut viewers = [open(&world, &client, "access=view"), open(&world, &client, "access=view")];
    for viewer in &mut viewers {
        let first = viewer.receive();
        assert!(matches!(&first, TerminalInput::Notice(it) if it["type"] == "snapshot"));
        assert_eq!(viewer.receive(), TerminalInput::Bytes, "the paint follows the snapshot");
        viewer.wait_text("demo agent");
    }
    let mut controller = open(&world, &client, "access=control&rows=30&columns=90");
    let wanted = json!({"type": "clients", "controllers": 1, "viewers": 2});
    controller.wait_notice("clients", |it| *it == wanted);
    for viewer in &mut viewers {
        viewer.wait_notice("clients", |it| *it == wanted);
    }
    controller.input("remember the word amber\r");
    controller.wait_text("amber");
    for viewer in &mut viewers {
        viewer.wait_text("remember the word amber");
    }
    let [mut viewer, other] = viewers;
    viewer.input("forget it\r");
    viewer.wait_notice("refused", |_| true);
    drop(other);
    viewer.wait_notice("clients", |it| it["viewers"] == 1);
    world.ok(["wait", "fox"]);
    controller.input("what is the word?\r");
    viewer.wait_text("The word is amber.");
}

#[test]
fn only_a_controller_changes_the_size() {
    let (world, client) = world_with(&["fox"]);
    let mut viewer = open(&world, &client, "access=view&rows=5&columns=20");
    let before = size(&viewer.wait_notice("snapshot", |_| true));
    assert_ne!(before, (5, 20));
    viewer.request(&json!({"type": "resize", "rows": 5, "columns": 20}));
    viewer.wait_notice("refused", |_| true);
    let mut controller = open(&world, &client, "access=control&rows=30&columns=90");
    viewer.wait_notice("snapshot", |it| size(it) == (30, 90));
    controller.request(&json!({"type": "resize", "rows": 31, "columns": 91}));
    controller.wait_notice("snapshot", |it| size(it) == (31, 91));
    viewer.wait_notice("snapshot", |it| size(it) == (31, 91));
    controller.request(&json!({"type": "repaint"}));
    controller.wait_notice("snapshot", |it| size(it) == (31, 91));
    let id = text(&world.session("fox"), "id").to_owned();
    let screen = client.get(&format!("/v1/sessions/{id}/screen")).body;
    assert_eq!(size(&screen), (31, 91), "{screen}");
    assert!(screen["lines"].to_string().contains("demo agent"), "{screen}");
}

#[test]
fn scrollback_is_returned_in_pages_and_unknown_requests_are_refused() {
    let (world, client) = world_with(&["fox"]);
    let mut terminal = open(&world, &client, "access=control&rows=10&columns=60");
    terminal.input("/fill 100\r");
    world.ok(["wait", "fox"]);
    terminal.request(&json!({"type": "scrollback", "count": 20}));
    let newest = terminal.wait_notice("scrollback", |_| true);
    let (first, total) = (newest["first"].as_u64().unwrap(), newest["total"].as_u64().unwrap());
    assert_eq!((newest["lines"].as_array().unwrap().len(), first + 20), (20, total), "{newest}");
    terminal.request(&json!({"type": "scrollback", "before": first, "count": 5}));
    let earlier = terminal.wait_notice("scrollback", |_| true);
    assert_eq!(earlier["first"], first - 5, "{earlier}");
    for wrong in [json!({"type": "explode"}), json!([]), json!({"type": "resize", "rows": -1})] {
        terminal.request(&wrong);
        let notice = terminal.wait_notice("refused", |_| true);
        assert!(text(&notice, "message").contains("not understood"), "{notice}");
    }
    terminal.request(&json!({"type": "ping", "id": "a"}));
    assert_eq!(terminal.wait_notice("pong", |_| true)["id"], "a");
}

#[test]
fn end_of_the_agent_and_of_the_daemon_are_reported() {
    let (world, client) = world_with(&["fox"]);
    let mut terminal = open(&world, &client, "access=view");
    world.ok(["daemon", "stop"]);
    assert_eq!(terminal.wait_closed(), Some(1001));
    world.ok(["ls"]);
    let mut terminal = open(&world, &client, "access=view");
    terminal.wait_text("demo agent");
    world.ok(["stop", "fox"]);
    assert_eq!(terminal.wait_notice("ended", |_| true)["how"], "stopped");
    assert_eq!(terminal.wait_closed(), Some(1000));
}

#[test]
fn terminal_can_be_opened_again_after_the_daemon_was_killed() {
    let (world, client) = world_with(&["fox"]);
    let mut terminal = open(&world, &client, "access=control&rows=30&columns=90");
    terminal.input("remember the word amber\r");
    terminal.wait_text("remember the word amber");
    world.ok(["wait", "fox"]);
    kill_daemon(&world);
    assert_eq!(terminal.wait_closed(), None);
    world.ok(["ls"]);
    let mut terminal = open(&world, &client, "access=control&rows=30&columns=90");
    terminal.wait_text("remember the word amber");
    terminal.input("what is the word?\r");
    terminal.wait_text("The word is amber.");
}

#[test]
fn message_over_the_limit_ends_only_its_own_connection() {
    let (world, client) = world_with(&["fox"]);
    let mut other = open(&world, &client, "access=view");
    let mut terminal = open(&world, &client, "access=control&rows=30&columns=90");
    terminal.input_too_much(&"x".repeat((1 << 20) + 1));
    terminal.wait_closed();
    other.request(&json!({"type": "ping", "id": 1}));
    other.wait_notice("pong", |_| true);
}

#[test]
fn terminals_of_one_token_are_limited() {
    let (world, client) = world_with(&["fox"]);
    let id = text(&world.session("fox"), "id").to_owned();
    let open = || TerminalClient::open(&client, &id, "access=view", &[]);
    let mut terminals: Vec<TerminalClient> = (0..32).map(|_| open().unwrap()).collect();
    let refused = open().unwrap_err();
    assert_eq!(refused.status, 429, "{}", refused.text);
    // The others see that one has gone, when its place is free.
    drop(terminals.pop());
    terminals[0].wait_notice("clients", |it| it["viewers"] == 31);
    let reopened = (0..1000).find_map(|_| open().ok());
    assert!(reopened.is_some());
}

/// Returns the resident memory of the daemon in bytes.
fn daemon_memory(world: &World) -> u64 {
    let status = fs::read_to_string(format!("/proc/{}/status", daemon_pid(world))).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    line.split_whitespace().next().unwrap().parse::<u64>().unwrap() * 1024
}

/// Writes a program that writes 100 MB after a line was typed, and then a line of its own.
fn write_flood(world: &World) {
    let script = world.project().join("flood");
    let lines = "#!/bin/sh\necho ready\nread line\n\
                 head -c 100000000 /dev/zero | tr '\\0' x | fold -w 79\necho; echo flood over\ncat\n";
    fs::write(&script, lines).unwrap();
    fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).unwrap();
    write_project(world, &format!("[vendors.flood]\ncommand = [\"{}\"]\n", script.display()));
}

#[test]
fn client_that_reads_slowly_costs_no_memory_and_gets_snapshots_instead_of_lost_output() {
    let world = world();
    write_flood(&world);
    world.ok(["run", "-d", "--vendor", "flood", "--name", "fox"]);
    let client = NetworkClient::listen(&world).with_scopes(&world, "program", &["read", "send"]);
    let mut slow = open(&world, &client, "access=view");
    slow.wait_text("ready");
    let mut controller = open(&world, &client, "access=control&rows=30&columns=90");
    controller.wait_text("ready");
    let before = daemon_memory(&world);
    controller.input("go\r");
    let (mut is_over, mut is_over_for_slow, mut count) = (false, false, 0_usize);
    while !is_over {
        is_over = controller.next_completes("flood over");
        count += 1;
        if count.is_multiple_of(100) && !is_over_for_slow {
            is_over_for_slow = slow.next_completes("flood over");
        }
    }
    let grown = daemon_memory(&world).saturating_sub(before);
    assert!(grown < 30_000_000, "the daemon has grown by {grown} bytes");
    while !is_over_for_slow {
        is_over_for_slow = slow.next_completes("flood over");
    }
    assert!(slow.output.len() < 50_000_000, "{}", slow.output.len());
    assert!(slow.notices.iter().filter(|it| it["type"] == "snapshot").count() > 1);
}
