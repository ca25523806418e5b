//! Each agent keeps its own account. If a vendor refuses an account, Segue starts no more agents of
//! that account by itself.

use segue_testkit::scene::{self, event_texts};
use segue_testkit::vendors::{CodexHome, with_codex};
use segue_testkit::{Model, World, isolated};
use serde_json::Value;

use crate::world;

/// The number of agents. More than may start at the same time.
const AGENTS: usize = 12;

/// Writes and trusts a project file with `count` agents of one vendor.
fn write_fleet(world: &World, vendor: &str, count: usize, prompt: &str) {
    world.write("start.md", prompt);
    let agent = format!("name = \"coder\"\nvendor = \"{vendor}\"\ncount = {count}\n");
    let more = "prompt = \"start.md\"\npermission = \"auto\"\n";
    scene::write_project(world, &format!("[fleet]\nname = \"shop\"\n[[agents]]\n{agent}{more}"));
}

/// Creates a world with Codex, and the model that it talks to.
fn world_with_codex() -> (World, Model) {
    let (mut world, model) = (world(), Model::start());
    with_codex(&mut world, &model);
    (world, model)
}

/// Runs `segue up --json`; returns its exit status and the outcome of each agent.
fn up(world: &World) -> (i32, Vec<Value>) {
    let outcome = world.segue(["up", "--json"]);
    let report: Value = serde_json::from_str(&outcome.stdout).unwrap();
    (outcome.status, report["agents"].as_array().unwrap().clone())
}

fn with_outcome<'a>(agents: &'a [Value], outcome: &str) -> Vec<&'a Value> {
    agents.iter().filter(|agent| agent["outcome"] == outcome).collect()
}

/// Checks that an agent was not started, and that its note names the account and the remedy.
fn assert_not_started(agent: &Value, vendor: &str, config_dir: &str) {
    let note = agent["note"].as_str().unwrap_or_default();
    for word in ["refuses the account", vendor, config_dir, "sign in"] {
        assert!(note.contains(word), "{word}: {agent:#}");
    }
}

/// Returns the number of launches of all sessions.
fn launch_count(world: &World) -> u64 {
    world.sessions().iter().filter_map(|session| session["launches"].as_u64()).sum()
}

#[test]
fn up_of_twenty_agents_with_a_rejected_key_starts_one_and_refuses_the_others() {
    isolated(|| {
        let (world, _model) = world_with_codex();
        write_fleet(&world, "codex", 20, "{{agent}} [[status: 401]]");
        let (status, agents) = up(&world);
        assert_eq!((status, agents.len()), (8, 20), "{agents:#?}");
        let refused = with_outcome(&agents, "refused");
        assert_eq!(refused.len(), 19, "{agents:#?}");
        refused.iter().for_each(|agent| assert_not_started(agent, "codex", ".codex"));
        assert_eq!(launch_count(&world), 1, "{:#?}", world.sessions());
        // `segue up` prints the refusal once for all agents. It tries the account again with one
        // launch.
        let shown = world.segue(["up"]);
        assert_eq!(shown.status, 8, "{shown:#?}");
        assert_eq!(shown.stdout.matches("refuses the account").count(), 1, "{}", shown.stdout);
        assert_eq!(launch_count(&world), 2, "{:#?}", world.sessions());
        let run = world.segue(["run", "-d", "--vendor", "codex", "hello"]);
        assert_eq!(run.status, 0, "a person may try again: {run:#?}");
    });
}

#[test]
fn up_starts_the_refused_agents_once_the_account_is_accepted_again() {
    isolated(|| {
        let (world, _model) = world_with_codex();
        write_fleet(&world, "codex", 3, "{{agent}} [[status: 401]]");
        let (_, agents) = up(&world);
        assert_eq!(with_outcome(&agents, "refused").len(), 2, "{agents:#?}");
        world.write("start.md", "{{agent}}");
        world.ok(["trust", "--yes"]);
        let (status, agents) = up(&world);
        assert_eq!(status, 0, "{agents:#?}");
        assert_eq!(with_outcome(&agents, "started").len(), 2, "{agents:#?}");
        assert_eq!(launch_count(&world), 3);
    });
}

#[test]
fn agents_that_die_of_a_rejected_key_are_not_restarted_and_resume_with_a_valid_key() {
    let mut world = world();
    write_fleet(&world, "demo", AGENTS, "remember the word {{agent}}");
    let (_, agents) = up(&world);
    assert_eq!(with_outcome(&agents, "started").len(), AGENTS, "{agents:#?}");
    scene::wait_first_turns(&world);
    world.kill_everything();
    world.set("SEGUE_DEMO_KEY", "rejected");
    let resumed = world.segue(["resume", "shop", "--json"]);
    assert_eq!(resumed.status, 8, "{resumed:#?}");
    let report: Value = serde_json::from_str(&resumed.stdout).unwrap();
    let agents = report["agents"].as_array().unwrap();
    assert_eq!(with_outcome(agents, "refused").len(), AGENTS, "{report:#}");
    let tried = launch_count(&world) - AGENTS as u64;
    assert!(tried <= 8, "{tried} were started, more than may start at the same time");
    let names_account =
        |agent: &&Value| agent["note"].as_str().unwrap().contains("refuses the account");
    let not_started: Vec<&Value> = agents.iter().filter(names_account).collect();
    assert_eq!(not_started.len() as u64, AGENTS as u64 - tried, "{report:#}");
    not_started.iter().for_each(|agent| assert_not_started(agent, "demo", ".segue-demo"));
    for session in world.sessions() {
        let planned = event_texts(&world, session["name"].as_str().unwrap(), "restart_planned");
        assert_eq!(planned, Vec::<String>::new(), "{session:#}");
    }
    // A new daemon does not know that the account was refused. It starts nothing by itself.
    scene::kill_daemon(&world);
    world.ok(["ls"]);
    assert_eq!(launch_count(&world), AGENTS as u64 + tried);
    world.unset("SEGUE_DEMO_KEY");
    let report = world.resume(["shop"]);
    for number in [1, 7, AGENTS] {
        let name = format!("coder-{number}");
        report.assert_back(&name, "resumed");
        scene::assert_knows(&world, &name, &name);
    }
}

#[test]
fn run_with_a_rejected_key_reports_the_refusal_and_a_later_run_works() {
    let mut world = world();
    world.set("SEGUE_DEMO_KEY", "rejected");
    let failed = world.segue(["run", "--headless", "--name", "a", "hello"]);
    assert_eq!(failed.status, 6, "{failed:#?}");
    assert!(failed.stderr.contains("the account was refused"), "{failed:#?}");
    world.unset("SEGUE_DEMO_KEY");
    world.ok(["run", "--headless", "--name", "b", "hello"]);
}

#[test]
fn each_agent_keeps_the_account_of_its_project_file() {
    isolated(|| {
        let (world, model) = world_with_codex();
        let agent = |word: &str| {
            let home = world.root().join(format!("home-{word}"));
            CodexHome::at(&home, &model).trust(&world.project());
            world.write(&format!("{word}.md"), &format!("remember {word}"));
            let variable = format!("env = {{ CODEX_HOME = \"{}\" }}\n", home.display());
            let texts = format!("name = \"{word}\"\nprompt = \"{word}.md\"\n");
            ["[[agents]]\nvendor = \"codex\"\npermission = \"auto\"\n", &texts, &variable].concat()
        };
        let words = ["alpha", "beta"];
        scene::write_project(&world, &words.map(agent).concat());
        world.ok(["up"]);
        for word in words {
            model.wait_answered(&format!("remember {word}"));
            world.ok(["wait", word, "--for", "idle"]);
            assert!(world.root().join(format!("home-{word}/sessions")).is_dir());
        }
        assert!(!world.home().join(".codex/sessions").exists(), "in the default home");
        world.kill_everything();
        let report = world.resume(["--all"]);
        for word in words {
            report.assert_back(word, "resumed");
            let question = format!("which one, {word}?");
            world.ok(["send", word, &question]);
            let asked = model.wait_answered(&question);
            assert_eq!(asked.user_texts(), [&format!("remember {word}"), &question]);
        }
    });
}
