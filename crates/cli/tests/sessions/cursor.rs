//! Tests with Cursor. Its program is not available for tests, so a script takes its place. The script
//! behaves as public descriptions of Cursor say. It also starts an empty conversation in the cases in
//! which Cursor is described to do so.

use std::fs;

use segue_testkit::scene::text;
use segue_testkit::{World, files};
use serde_json::Value;

const CURSOR: &str = r#"#!/bin/sh
echo "$*" >> "$HOME/calls"
while [ $# -gt 0 ]; do
  case $1 in
    --resume=*) id=${1#--resume=} ;;
    --workspace) folder=$2; shift ;;
    --plugin-dir) plugin=$2; shift ;;
    --output-format) shift ;;
    -p) headless=1 ;;
    --) message=$2; shift ;;
  esac
  shift
done
[ -n "$id" ] && [ ! -e "$HOME/elsewhere" ] || id=$(cat /proc/sys/kernel/random/uuid)
chat=$CURSOR_CONFIG_DIR/chats/one/$id
folder_of_transcript=$CURSOR_CONFIG_DIR/projects/any/agent-transcripts/$id
mkdir -p "$chat" "$folder_of_transcript"
: >> "$chat/store.db"
printf '{"createdAtMs":1790000000000,"hasConversation":true,"cwd":"%s"}' "$folder" > "$chat/meta.json"
record() { printf "$@" >> "$folder_of_transcript/$id.jsonl"; }
turn() {
  record '{"role":"user","message":{"content":[{"type":"text","text":"<user_query>%s</user_query>"}]}}\n' "$1"
  record '{"role":"assistant","message":{"content":[{"type":"text","text":"heard %s"}]}}\n' "$1"
  record '{"type":"turn_ended","status":"success"}\n'
}
report() {
  grep -q "\"$1\"" "$plugin/hooks/hooks.json" || return 0
  hook=$(sed 's/.*"command":"\([^"]*\)".*/\1/' "$plugin/hooks/hooks.json")
  printf '{"hook_event_name":"%s","conversation_id":"%s","status":"completed"}' "$1" "$id" | sh -c "$hook"
}
if [ -n "$headless" ]; then
  printf '{"type":"system","subtype":"init","session_id":"%s"}\n' "$id"
  turn "$message"
  printf '{"type":"result","subtype":"success","is_error":false,"result":"heard %s"}\n' "$message"
  exit
fi
report sessionStart
[ -z "$message" ] || { report beforeSubmitPrompt; turn "$message"; report stop; }
cat > /dev/null
"#;

fn world() -> World {
    let mut world = crate::world();
    let bin = world.home().join("bin");
    files::write_program(&bin.join("cursor-agent"), CURSOR);
    world.set("PATH", format!("{}:/usr/bin:/bin", bin.display()));
    world
}

/// Returns how often Cursor was started.
fn starts(world: &World) -> usize {
    fs::read_to_string(world.home().join("calls")).unwrap_or_default().lines().count()
}

fn id(session: &Value) -> &str {
    text(session, "vendor_session_id")
}

/// Runs a first headless turn. Returns the session.
fn run_headless(world: &World) -> Value {
    let answer = world.ok(["run", "--vendor", "cursor", "--headless", "--name", "a", "blue"]);
    assert!(answer.contains("heard blue"), "{answer}");
    world.session("a")
}

#[test]
fn second_headless_turn_resumes_the_id_that_the_first_one_printed() {
    let world = world();
    let first = run_headless(&world);
    assert_eq!(first["evidence"], "stream");
    world.ok(["send", "a", "--wait", "green"]);
    assert_eq!(id(&world.session("a")), id(&first));
    let calls = fs::read_to_string(world.home().join("calls")).unwrap();
    assert!(calls.ends_with(&format!("--resume={} -- green\n", id(&first))), "{calls}");
}

#[test]
fn send_fails_if_cursor_starts_another_conversation_than_the_bound_one() {
    let world = world();
    let first = run_headless(&world);
    fs::write(world.home().join("elsewhere"), "").unwrap();
    assert_ne!(world.segue(["send", "a", "--wait", "green"]).status, 0);
    assert_eq!(id(&world.session("a")), id(&first));
    let log = world.ok(["log", "a"]);
    assert!(log.contains("binding refused"), "{log}");
}

#[test]
fn cursor_is_not_started_if_its_database_is_missing() {
    let world = world();
    run_headless(&world);
    fs::remove_dir_all(world.home().join(".cursor/chats")).unwrap();
    let refused = world.segue(["resume", "a"]);
    assert_eq!(refused.status, 8, "{refused:?}");
    assert!(refused.stdout.contains("has no database"), "{refused:?}");
    assert_ne!(world.segue(["send", "a", "--wait", "green"]).status, 0);
    assert_eq!(starts(&world), 1);
}

#[test]
fn interactive_session_resumes_the_id_that_a_hook_reported() {
    let world = world();
    world.ok(["run", "-d", "--vendor", "cursor", "--name", "i", "blue"]);
    world.ok(["wait", "i", "--for", "idle", "--timeout", "30s"]);
    let before = world.session("i");
    assert_eq!(before["evidence"], "hook");
    world.kill_everything();
    let report = world.json(["resume", "--json"]);
    assert_eq!(report["agents"][0]["outcome"], "resumed", "{report:#}");
    assert_eq!(id(&world.session("i")), id(&before));
}
