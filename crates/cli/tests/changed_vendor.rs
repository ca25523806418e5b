//! An agent of a project whose vendor is changed in the project file.
#![expect(clippy::unwrap_used, reason = "a test that fails shall stop at once")]

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::thread;

use segue_testkit::{World, scene};
use serde_json::Value;

/// An agent that keeps what it is told in a file of its own, and answers.
const TOOL: &str = r#"#!/bin/sh
id=$3
file="$HOME/.mytool-$id.jsonl"
[ -n "$4" ] && printf '%s\n' "$4" >> "$HOME/told"
[ -n "$4" ] && [ -z "$SILENT" ] && printf '{"role":"user","content":"%s"}\n{"role":"assistant","content":"noted"}\n' "$(printf %s "$4" | head -n 1)" >> "$file"
[ -e "$file" ] || : > "$file"
printf 'ready> '
while read -r line; do
  printf '{"role":"user","content":"%s"}\n' "$line" >> "$file"
  printf 'heard %s\nready> ' "$line"
done
"#;

struct Scene {
    world: World,
}

impl Scene {
    fn new() -> Self {
        let world = World::new(env!("CARGO_BIN_EXE_segue"));
        let program = world.home().join("mytool");
        fs::write(&program, TOOL).unwrap();
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
        world.write("p.md", "remember the word fox");
        Self { world }
    }

    /// Writes the project file with this vendor for its agent, and brings the agent up.
    fn up(&self, vendor: &str) -> Value {
        self.write_project(vendor);
        self.world.json(["up", "--json"])["agents"][0].clone()
    }

    fn write_project(&self, vendor: &str) {
        let program = self.world.home().join("mytool");
        self.world.write(
            "segue.toml",
            &format!(
                "[fleet]\nname = \"shop\"\n[[agents]]\nname = \"coder\"\nvendor = \"{vendor}\"\n\
                 prompt = \"p.md\"\n[vendors.mytool]\ncommand = [\"{}\", \"chat\"]\n\
                 new = [\"--session\", \"{{id}}\"]\nresume = [\"--resume\", \"{{id}}\"]\n\
                 transcript = \"~/.mytool-{{id}}.jsonl\"\n",
                program.display()
            ),
        );
        self.world.ok(["trust", "--yes"]);
    }

    fn told(&self) -> String {
        fs::read_to_string(self.world.home().join("told")).unwrap_or_default()
    }
}

#[test]
fn seed_27_another_vendor_goes_on_with_the_conversation_and_its_own_session_needs_none() {
    let scene = Scene::new();
    let started = scene.up("mytool");
    assert_eq!(started["outcome"], "started", "{started:#}");
    scene.world.ok(["wait", "coder", "--for", "idle", "--timeout", "50s"]);
    let first = scene.world.session("coder");
    let carried = scene.up("demo");
    assert_eq!(carried["outcome"], "handed_over", "{carried:#}");
    assert_eq!(carried["address"], "shop/coder", "{carried:#}");
    assert_eq!(scene.world.session("coder-mytool")["id"], first["id"]);
    scene::assert_knows(&scene.world, "coder", "fox");
    // The first vendor's own session is there: nothing has to be carried.
    let back = scene.up("mytool");
    assert_eq!(back["outcome"], "resumed", "{back:#}");
    assert_eq!(scene.world.session("coder")["id"], first["id"]);
    let other = scene.world.session("coder-demo");
    assert_eq!((&other["vendor"], &other["status"]), (&"demo".into(), &"ended".into()));
    assert_eq!(scene.world.sessions().len(), 2);
}

#[test]
fn seed_28_a_vendor_that_takes_no_conversation_is_told_about_it() {
    let scene = Scene::new();
    scene.up("demo");
    scene::wait_all_told(&scene.world);
    let carried = scene.up("mytool");
    assert_eq!(carried["outcome"], "handed_over", "{carried:#}");
    assert!(carried["note"].as_str().unwrap().contains("digest"), "{carried:#}");
    let told = scene.told();
    assert!(told.contains("remember the word fox") && told.lines().count() > 3, "{told}");
    assert_eq!(scene.world.session("coder")["vendor"], "mytool");
}

#[test]
fn seed_27_where_nothing_was_said_the_agent_begins_with_its_own_prompt() {
    let mut scene = Scene::new();
    scene.world.set("SILENT", "1");
    scene.up("mytool");
    let started = scene.up("demo");
    assert_eq!(started["outcome"], "started", "{started:#}");
    scene::assert_knows(&scene.world, "coder", "fox");
}

#[test]
fn an_agent_that_is_to_begin_anew_takes_nothing_along() {
    let scene = Scene::new();
    scene.up("mytool");
    scene.world.write("p.md", "remember the word hen");
    scene.world.write(
        "segue.toml",
        "[fleet]\nname = \"shop\"\n[[agents]]\nname = \"coder\"\nvendor = \"demo\"\n\
         prompt = \"p.md\"\n",
    );
    scene.world.ok(["trust", "--yes"]);
    let report = scene.world.json(["up", "--fresh", "coder", "--json"]);
    assert_eq!(report["agents"][0]["outcome"], "started", "{report:#}");
    scene::assert_knows(&scene.world, "coder", "hen");
}

#[test]
fn two_ups_at_once_after_a_change_of_vendor_carry_the_conversation_once() {
    let scene = Scene::new();
    scene.up("mytool");
    scene.world.ok(["wait", "coder", "--for", "idle", "--timeout", "50s"]);
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
fn session_whose_name_only_begins_like_an_earlier_one_of_the_agent_is_not_carried() {
    let scene = Scene::new();
    scene.up("demo");
    scene::wait_all_told(&scene.world);
    scene.world.ok(["run", "-d", "--agent", "coder", "--name", "coder-demolition", "about hens"]);
    scene::wait_all_told(&scene.world);
    let carried = scene.up("mytool");
    assert_eq!(carried["outcome"], "handed_over", "{carried:#}");
    let told = scene.told();
    assert!(told.contains("the word fox") && !told.contains("about hens"), "{told}");
}
