//! Sessions that an agent starts: their program and environment come from the agent's own launch,
//! never from the calling process.

use std::collections::BTreeMap;
use std::fs;

use segue_testkit::stand_in::StandIn;
use segue_testkit::{World, launches, scene};
use serde_json::Value;

use super::script_agent::{run_as_agent, write_marking_program};
use super::with_and_without_privileges;
use crate::world;

/// Puts a program `gemini` in the folder `good` on the world's `PATH`, and sets the variable `OWN_MARK`.
fn install_gemini(world: &mut World) {
    let good = write_marking_program(world, ("good", "gemini"));
    world.set("PATH", format!("{}:/usr/local/bin:/usr/bin:/bin", good.display()));
    world.set("OWN_MARK", "of the parent");
}

/// Variables that an agent would set to run its own code outside its sandbox.
const EVIL: &str = "PATH=$EVIL:$PATH LD_PRELOAD=/nowhere/evil.so NODE_OPTIONS=--require=/x \
    GEMINI_CLI_HOME=/nowhere BASH_ENV=/x PYTHONPATH=/x OWN_MARK=changed HOME=/nowhere";

fn environment_of(world: &World, name: &str) -> BTreeMap<String, String> {
    let pid = scene::pid(&world.session(name), "pid");
    let bytes = fs::read(format!("/proc/{pid}/environ")).unwrap();
    let text = String::from_utf8(bytes).unwrap();
    let pairs = text.split('\0').filter_map(|pair| pair.split_once('='));
    pairs.map(|(name, value)| (name.to_owned(), value.to_owned())).collect()
}

/// Returns the `session.json` of a session's newest launch.
fn record_of(world: &World, name: &str) -> Value {
    launches::newest_json(world, &world.session(name))
}

#[track_caller]
fn assert_environment_of_parent(world: &World, name: &str) {
    let environment = environment_of(world, name);
    let expected: BTreeMap<String, String> = world.environment().into_iter().collect();
    for variable in ["PATH", "HOME", "OWN_MARK", "SEGUE_HOME"] {
        assert_eq!(environment.get(variable), expected.get(variable), "{variable} of {name}");
    }
    for variable in ["LD_PRELOAD", "NODE_OPTIONS", "BASH_ENV", "PYTHONPATH"] {
        assert_eq!(environment.get(variable), None, "{variable} of {name}");
    }
}

#[test]
fn child_gets_its_program_and_environment_from_its_parents_launch() {
    with_and_without_privileges(|world| {
        install_gemini(world);
        let evil = write_marking_program(world, ("evil", "gemini"));
        let script = format!(
            "EVIL={}\n\
             env {EVIL} SEGUE_HOME=$SEGUE_HOME $SEGUE run -d --vendor gemini --name first hello\n\
             env {EVIL} SEGUE_HOME=$SEGUE_HOME $SEGUE run -d --vendor demo --name second hello\n\
             $SEGUE stop second\n\
             env {EVIL} SEGUE_HOME=$SEGUE_HOME $SEGUE resume second",
            evil.display()
        );
        let output = run_as_agent(world, ("coder", "ask"), &script);
        assert!(output.contains("default/first") || output.contains("project/first"), "{output}");
        let marks = world.root().join("marks");
        assert!(!marks.join("evil").exists(), "{output}");
        let first = record_of(world, "first");
        let program = world.root().join("good/gemini");
        assert_eq!(first["launch"]["program"], program.to_str().unwrap(), "{output}");
        assert_environment_of_parent(world, "first");
        assert_eq!(world.session("second")["launches"], 2, "{output}");
        assert_environment_of_parent(world, "second");
    });
}

#[test]
fn next_turn_of_a_headless_child_has_its_parents_environment() {
    with_and_without_privileges(|world| {
        install_gemini(world);
        let script = format!(
            "EVIL=/nowhere\n\
             env {EVIL} SEGUE_HOME=$SEGUE_HOME $SEGUE run --headless --vendor demo --name child hello\n\
             env {EVIL} SEGUE_HOME=$SEGUE_HOME $SEGUE send child 'wait for me' --no-wait\n\
             $SEGUE wait child --for idle\n\
             env {EVIL} SEGUE_HOME=$SEGUE_HOME $SEGUE send child --wait 'hello again'"
        );
        let output = run_as_agent(world, ("coder", "ask"), &script);
        let child = record_of(world, "child");
        assert_eq!(world.session("child")["launches"], 3, "{output}");
        let names: Vec<&str> = child["launch"]["environment"]
            .as_array()
            .unwrap()
            .iter()
            .filter_map(Value::as_str)
            .collect();
        assert!(names.contains(&"OWN_MARK"), "{names:?}");
        for variable in ["LD_PRELOAD", "NODE_OPTIONS", "BASH_ENV"] {
            assert!(!names.contains(&variable), "{names:?}");
        }
    });
}

#[test]
fn agent_starts_nothing_while_its_holder_does_not_answer() {
    with_and_without_privileges(|world| {
        install_gemini(world);
        let script = "kill -STOP $HOLDER\n\
             $SEGUE run -d --vendor demo --name child hello; echo status $?\n\
             kill -CONT $HOLDER";
        let output = run_as_agent(world, ("coder", "ask"), script);
        assert!(output.contains("the environment of `project/coder` cannot be read"), "{output}");
        assert!(output.contains("status 7"), "{output}");
        assert_eq!(world.sessions().len(), 1, "{output}");
    });
}

#[test]
fn agent_may_start_others_only_in_its_own_folder_and_without_vendor_flags() {
    with_and_without_privileges(|world| {
        install_gemini(world);
        fs::create_dir(world.project().join("below")).unwrap();
        std::os::unix::fs::symlink("/", world.project().join("up")).unwrap();
        let script = "for cwd in / .. $HOME up up/tmp; do\n\
                $SEGUE run -d --vendor demo --cwd $cwd hello; echo status $?\n\
             done\n\
             cd / && $SEGUE run -d --vendor demo hello; echo status $?\n\
             cd -\n\
             $SEGUE run -d --vendor demo hello -- --model m; echo status $?\n\
             $SEGUE run -d --vendor pi hello; echo status $?\n\
             $SEGUE run -d --vendor demo --cwd below --name child hello; echo status $?";
        // An agent with permission `auto` is kept in its folder, too.
        for (name, permission) in [("coder", "ask"), ("loose", "auto")] {
            let output = run_as_agent(world, (name, permission), script);
            let outside = output.matches("an agent may not start an agent outside its own folder");
            assert_eq!(outside.count(), 6, "{output}");
            assert!(
                output.contains("an agent may not give arguments to the vendor's program"),
                "{output}"
            );
            let statuses: Vec<&str> =
                output.lines().filter_map(|line| line.strip_prefix("status ")).collect();
            assert_eq!(statuses[..7], ["2"; 7], "{output}");
            assert_eq!(statuses[8], "0", "{output}");
            let unlimited = "an agent may not start an agent whose vendor has no permissions";
            assert_eq!(output.contains(unlimited), permission == "ask", "{output}");
            world.ok(["stop", "child"]);
            world.ok(["rm", "child", "--yes"]);
        }
    });
}

#[test]
fn child_of_an_agent_is_never_used_as_an_agent_of_the_project() {
    let world = world();
    scene::write_shop(&world, "");
    world.ok(["up"]);
    let coder = StandIn::with_new_daemon(&world, &world.session("coder"));
    let outcome = coder.run("$SEGUE run -d --vendor demo --name coder hello");
    assert!(outcome.stderr.contains("is the name of an agent in `segue.toml`"), "{outcome:#?}");
    let outcome = coder.run("$SEGUE run -d --vendor demo --name reviewer hello");
    assert_eq!(outcome.status, 0, "{outcome:#?}");
    let child = world.session("reviewer");
    assert_eq!((&child["fleet"], &child["launches"]), (&"shop".into(), &1.into()));
    // The project gets an agent of that name afterwards.
    scene::write_shop(&world, "[[agents]]\nname = \"reviewer\"\nvendor = \"demo\"\n");
    let outcome = world.segue(["up"]);
    assert_eq!(outcome.status, 4, "{outcome:#?}");
    assert!(outcome.stderr.contains("segue rename shop/reviewer NAME"), "{outcome:#?}");
    assert_eq!(world.session("reviewer")["launches"], 1);
}

#[test]
fn child_of_an_agent_stays_in_the_fleet_of_its_parent() {
    let world = world();
    scene::write_shop(&world, "");
    world.ok(["up"]);
    let coder = StandIn::with_new_daemon(&world, &world.session("coder"));
    world.write("sub/segue.toml", "[fleet]\nname = \"default\"\n");
    let outcome = coder.run("cd sub && $SEGUE run -d --vendor demo --name child hello");
    assert_eq!(outcome.status, 0, "{outcome:#?}");
    assert_eq!(world.session("child")["fleet"], "shop");
    // A session outside any project is in the fleet `default`.
    let outside = world.home().display().to_string();
    world.ok(["run", "-d", "--vendor", "demo", "--name", "mine", "--cwd", &outside, "hello"]);
    assert_eq!(world.session("mine")["fleet"], "default");
}
