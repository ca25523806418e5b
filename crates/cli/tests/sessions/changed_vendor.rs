//! The vendor of a project's agent is changed in the project file.

use std::fs;
use std::thread;

use segue_testkit::{World, files, launches, scene};
use serde_json::Value;

use crate::world;

/// A script that acts as an agent: it records each message in a file of its own, and answers.
const TOOL: &str = r#"#!/bin/sh
id=$3
file="$HOME/.mytool-$id.jsonl"
[ -n "$4" ] && printf '%s\n' "$4" >> "$HOME/messages"
[ -n "$4" ] && [ -z "$SILENT" ] && printf '{"role":"user","content":"%s"}\n{"role":"assistant","content":"noted"}\n' "$(printf %s "$4" | head -n 1)" >> "$file"
[ -e "$file" ] || : > "$file"
printf 'ready> '
while read -r line; do
  printf '{"role":"user","content":"%s"}\n' "$line" >> "$file"
  printf 'heard %s\nready> ' "$line"
done
"#;

struct ChangedVendorScene {
    world: World,
}

impl ChangedVendorScene {
    fn new() -> Self {
        let world = world();
        let program = world.home().join("mytool");
        files::write_program(&program, TOOL);
        world.write("p.md", "remember the word fox");
        Self { world }
    }

    /// Writes the project file with this vendor for its agent, and runs `segue up`.
    fn up(&self, vendor: &str) -> Value {
        self.write_project(vendor);
        self.world.json(["up", "--json"])["agents"][0].clone()
    }

    fn write_project(&self, vendor: &str) {
        let program = self.world.home().join("mytool");
        scene::write_project(
            &self.world,
            &format!(
                "[fleet]\nname = \"shop\"\n[[agents]]\nname = \"coder\"\nvendor = \"{vendor}\"\n\
                 prompt = \"p.md\"\n[vendors.mytool]\ncommand = [\"{}\", \"chat\"]\n\
                 new = [\"--session\", \"{{id}}\"]\nresume = [\"--resume\", \"{{id}}\"]\n\
                 transcript = \"~/.mytool-{{id}}.jsonl\"\n",
                program.display()
            ),
        );
    }

    /// Returns the first messages that the script got.
    fn first_messages(&self) -> String {
        fs::read_to_string(self.world.home().join("messages")).unwrap_or_default()
    }
}

#[test]
fn up_with_a_changed_vendor_hands_over_and_changing_back_resumes_the_old_session() {
    let scene = ChangedVendorScene::new();
    let started = scene.up("mytool");
    assert_eq!(started["outcome"], "started", "{started:#}");
    scene.world.ok(["wait", "coder", "--for", "idle", "--timeout", "170s"]);
    let first = scene.world.session("coder");
    let carried = scene.up("demo");
    assert_eq!(carried["outcome"], "handed_over", "{carried:#}");
    assert_eq!(carried["address"], "shop/coder", "{carried:#}");
    assert_eq!(scene.world.session("coder-mytool")["id"], first["id"]);
    scene::assert_knows(&scene.world, "coder", "fox");
    // The first vendor's session is still there, so nothing has to be handed over.
    let changed_back = scene.up("mytool");
    assert_eq!(changed_back["outcome"], "resumed", "{changed_back:#}");
    assert_eq!(scene.world.session("coder")["id"], first["id"]);
    let other = scene.world.session("coder-demo");
    assert_eq!((&other["vendor"], &other["status"]), (&"demo".into(), &"ended".into()));
    assert_eq!(scene.world.sessions().len(), 2);
}

#[test]
fn up_hands_over_a_digest_to_a_vendor_without_native_import() {
    let scene = ChangedVendorScene::new();
    scene.up("demo");
    scene::wait_first_turns(&scene.world);
    let carried = scene.up("mytool");
    assert_eq!(carried["outcome"], "handed_over", "{carried:#}");
    assert!(carried["note"].as_str().unwrap().contains("digest"), "{carried:#}");
    let digest = scene.first_messages();
    assert!(digest.contains("remember the word fox") && digest.lines().count() > 3, "{digest}");
    assert_eq!(scene.world.session("coder")["vendor"], "mytool");
}

#[test]
fn up_with_a_changed_vendor_and_an_empty_conversation_starts_with_the_prompt() {
    let mut scene = ChangedVendorScene::new();
    scene.world.set("SILENT", "1");
    scene.up("mytool");
    let started = scene.up("demo");
    assert_eq!(started["outcome"], "started", "{started:#}");
    scene::assert_knows(&scene.world, "coder", "fox");
}

#[test]
fn up_fresh_after_a_change_of_vendor_hands_nothing_over() {
    let scene = ChangedVendorScene::new();
    scene.up("mytool");
    scene.world.write("p.md", "remember the word hen");
    scene::write_shop(&scene.world, "prompt = \"p.md\"\n");
    let report = scene.world.json(["up", "--fresh", "coder", "--json"]);
    assert_eq!(report["agents"][0]["outcome"], "started", "{report:#}");
    scene::assert_knows(&scene.world, "coder", "hen");
}

#[test]
fn two_concurrent_ups_after_a_change_of_vendor_hand_over_once() {
    let scene = ChangedVendorScene::new();
    scene.up("mytool");
    scene.world.ok(["wait", "coder", "--for", "idle", "--timeout", "170s"]);
    scene.write_project("demo");
    let reports: Vec<Value> = thread::scope(|threads| {
        let ups = [(); 2].map(|()| threads.spawn(|| scene.world.json(["up", "--json"])));
        ups.map(|up| up.join().unwrap()).into()
    });
    let outcome = |it: &Value| it["agents"][0]["outcome"].as_str().unwrap_or_default().to_owned();
    let mut outcomes: Vec<String> = reports.iter().map(outcome).collect();
    outcomes.sort_unstable();
    assert_eq!(outcomes, ["handed_over", "running"], "{reports:#?}");
    assert_eq!(scene.world.sessions().len(), 2, "{:#?}", scene.world.sessions());
    scene::assert_knows(&scene.world, "coder", "fox");
}

#[test]
fn session_with_a_similar_name_is_not_handed_over_to_the_changed_vendor() {
    let scene = ChangedVendorScene::new();
    scene.up("demo");
    scene::wait_first_turns(&scene.world);
    scene.world.ok(["run", "-d", "--agent", "coder", "--name", "coder-demolition", "about hens"]);
    scene::wait_first_turns(&scene.world);
    let carried = scene.up("mytool");
    assert_eq!(carried["outcome"], "handed_over", "{carried:#}");
    let digest = scene.first_messages();
    assert!(digest.contains("the word fox") && !digest.contains("about hens"), "{digest}");
}

/// Returns the command line of the session's newest launch.
fn newest_command_line(world: &World) -> String {
    launches::newest_json(world, &world.session("coder"))["cli_command"].to_string()
}

#[test]
fn settings_changed_in_the_project_file_apply_to_the_next_launch() {
    let world = world();
    scene::write_shop(&world, "permission = \"auto\"\nmodel = \"small\"\n");
    world.ok(["up"]);
    let first = world.session("coder");
    assert!(newest_command_line(&world).contains("small"), "{}", newest_command_line(&world));
    scene::write_shop(&world, "permission = \"ask\"\nmodel = \"large\"\n");
    let running = world.json(["up", "--json"])["agents"][0].clone();
    assert_eq!(running["outcome"], "running", "{running:#}");
    let note = running["note"].as_str().unwrap();
    assert!(note.contains("model, permission") && note.contains("segue stop"), "{note}");
    world.ok(["stop", "coder"]);
    let resumed = world.json(["up", "--stopped", "--json"])["agents"][0].clone();
    assert_eq!(resumed["session"], first["id"], "{resumed:#}");
    let command = newest_command_line(&world);
    assert!(command.contains("large") && !command.contains("small"), "{command}");
    assert!(command.contains("ask") && !command.contains("auto"), "{command}");
}

#[test]
fn up_names_the_settings_that_changed_for_a_resumed_agent() {
    let world = world();
    scene::write_shop(&world, "model = \"small\"\n");
    world.ok(["up"]);
    world.kill_everything();
    scene::write_shop(&world, "model = \"large\"\n");
    let resumed = world.json(["up", "--json"])["agents"][0].clone();
    let note = resumed["note"].as_str().unwrap();
    assert!(note.ends_with("now as in the project file: model"), "{note}");
    assert!(newest_command_line(&world).contains("large"));
    let log = world.ok(["log", "coder"]);
    assert!(log.contains("settings changed") && log.contains("model"), "{log}");
    let again = world.json(["up", "--json"])["agents"][0].clone();
    assert_eq!((&again["outcome"], &again["note"]), (&"running".into(), &Value::Null));
}
