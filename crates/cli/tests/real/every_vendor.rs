//! One agent of each vendor: resumed with one command after a kill, with unusual prompts and
//! instructions, and with a trust question at the first start.

use segue_testkit::vendors::{with_claude, with_codex, with_gemini};
use segue_testkit::{Model, World, isolated, launches, processes, scene};

use crate::{git_init, with_vendors, world};

/// The vendors whose programs are pinned for tests.
const PINNED: [&str; 6] = ["claude", "codex", "copilot", "gemini", "opencode", "pi"];

/// The built-in vendor, whose agent needs no model.
const BUILT_IN: &str = "demo";

/// Writes and trusts a project file with one agent of each of these vendors.
fn write_agent_of_each(world: &World, agents: &[&str]) {
    let mut file = "[fleet]\nname = \"all\"\n".to_owned();
    for name in agents {
        world.write(&format!("{name}.md"), &format!("remember the word {name}"));
        let agent = format!("name = \"{name}\"\nvendor = \"{name}\"\nprompt = \"{name}.md\"\n");
        file = file + "[[agents]]\n" + &agent;
    }
    scene::write_project(world, &file);
}

#[test]
fn one_resume_command_brings_back_an_agent_of_every_vendor() {
    isolated(|| {
        let (world, model) = with_vendors(&PINNED);
        write_agent_of_each(&world, &[&PINNED[..], &[BUILT_IN]].concat());
        world.ok(["up"]);
        for name in PINNED.iter().chain([&BUILT_IN]) {
            world.ok(["wait", name, "--for", "idle", "--timeout", "170s"]);
        }
        let before = world.sessions();
        assert_eq!(before.len(), PINNED.len() + 1);
        world.kill_everything();

        let report = world.json(["resume", "--json"]);
        assert_eq!(report["complete"], true, "{report:#}");
        for session in before {
            let name = session["agent"].as_str().unwrap();
            let back = world.session(name);
            assert_eq!(back["vendor_session_id"], session["vendor_session_id"], "{name}");
        }
        for name in PINNED {
            let question = format!("which word, {name}?");
            world.ok(["send", name, "--wait", "--timeout", "170s", &question]);
            let carried = model.conversation_of(&question).unwrap();
            let messages: Vec<&str> = carried.user_texts().into_iter().map(str::trim).collect();
            assert_eq!(messages, [format!("remember the word {name}"), question], "{name}");
        }
        scene::assert_knows(&world, BUILT_IN, BUILT_IN);
    });
}

/// For each vendor, a model name that its program accepts with the scripted model.
const MODELS: [(&str, &str); 6] = [
    ("claude", "claude-sonnet-4-5"),
    ("codex", "scripted-2"),
    ("copilot", "gpt-4.1"),
    ("gemini", "gemini-2.5-flash"),
    ("opencode", "scripted/scripted-1"),
    ("pi", "scripted/scripted-1"),
];

#[test]
fn prompts_and_instructions_that_look_like_options_reach_every_vendors_model_as_text() {
    isolated(|| {
        let (world, model) = with_vendors(&PINNED);
        let mut file = "[fleet]\nname = \"all\"\n".to_owned();
        for (name, scripted) in MODELS {
            world.write(&format!("{name}.md"), &format!("--instructions-for-{name} are kind"));
            let agent = format!("name = \"{name}\"\nvendor = \"{name}\"\nmodel = \"{scripted}\"\n");
            file = format!("{file}[[agents]]\n{agent}instructions = \"{name}.md\"\n");
        }
        scene::write_project(&world, &file);
        for (name, scripted) in MODELS {
            let prompt = format!("--prompt-for-{name}\n- one\n- two");
            let run = ["run", "--headless", "--agent", name, "-"];
            let outcome = world.with_input(run, prompt.as_bytes());
            assert_eq!(outcome.status, 0, "{name}: {outcome:#?}");
            let asked = model.conversation_of(&format!("--prompt-for-{name}")).unwrap();
            assert_eq!(
                asked.user_texts().last().map(|it| it.trim()),
                Some(prompt.as_str()),
                "{name}"
            );
            let body = asked.body.to_string();
            assert!(body.contains(&format!("--instructions-for-{name}")), "{name}: {body}");
            let model_name = scripted.rsplit('/').next().unwrap();
            assert!(body.contains(model_name) || asked.path.contains(model_name), "{name}: {body}");
        }
    });
}

/// The vendors that ask whether a folder is trusted before they show their conversation.
const ASKING: [&str; 3] = ["claude", "codex", "gemini"];

#[test]
fn up_reports_the_trust_question_of_every_vendor_that_asks_first() {
    isolated(|| {
        let (mut world, model) = (world(), Model::start());
        let claude = with_claude(&mut world, &model);
        let mut codex = with_codex(&mut world, &model);
        let gemini = with_gemini(&mut world, &model);
        let folder = world.project();
        git_init(&world);
        claude.distrust(&folder);
        codex.distrust(&folder);
        gemini.distrust(&folder);
        write_agent_of_each(&world, &ASKING);
        let first = world.json(["up", "--json"]);
        let again = world.json(["up", "--json"]);
        for report in [first, again] {
            assert_eq!(report["complete"], true, "{report:#}");
            for agent in report["agents"].as_array().unwrap() {
                let name = agent["address"].as_str().unwrap();
                let dialog = &agent["dialog"];
                assert_eq!(agent["outcome"], "waiting", "{agent:#}");
                assert_eq!(dialog["kind"], "trust", "{agent:#}");
                assert!(dialog["question"].as_str().unwrap().to_lowercase().contains("trust"));
                let id = dialog["id"].as_str().unwrap();
                let command = format!("segue answer {name} yes --question {id}");
                assert_eq!(dialog["answer"], command, "{agent:#}");
            }
        }
        assert!(model.exchanges().is_empty());
        for name in ASKING {
            let second = format!("the second to {name}");
            let asked = world.segue(["send", name, "--wait", &second]);
            assert_eq!(asked.status, 4, "{asked:#?}");
            world.ok(["answer", name, "yes"]);
            world.ok(["wait", name, "--for", "idle", "--timeout", "170s"]);
            let session = world.session(name);
            assert_eq!(session["launches"], 1, "{session:#}");
            let requests = model.exchanges().into_iter().filter(|it| it.newest() == second);
            assert_eq!(requests.count(), 1, "{name}");
        }
    });
}

/// For each vendor: whether its program reads the prompt of a headless turn, and whether it reads
/// the instructions, from a file or from standard input instead of an argument.
const READS: [(&str, bool, bool); 6] = [
    ("claude", true, true),
    ("codex", true, false),
    ("copilot", false, true),
    ("gemini", true, true),
    ("opencode", true, true),
    ("pi", false, true),
];

/// Returns the arguments of all processes of this world.
fn arguments(world: &World) -> String {
    let all = world.processes().into_iter().flat_map(processes::command_line);
    all.collect::<Vec<String>>().join(
        "
",
    )
}

#[test]
fn long_prompts_and_instructions_reach_every_model_but_not_arguments_or_records() {
    isolated(|| {
        let (world, model) = with_vendors(&PINNED);
        let mut file = "[fleet]\nname = \"all\"\n".to_owned();
        for (name, ..) in READS {
            world.write(&format!("{name}.md"), &format!("--role-of-{name}: be\n\tkind \u{1f98a}"));
            let agent = format!("name = \"{name}\"\nvendor = \"{name}\"\n");
            file = format!("{file}[[agents]]\n{agent}instructions = \"{name}.md\"\n");
        }
        scene::write_project(&world, &file);
        for (name, prompt_in_file, instructions_in_file) in READS {
            let lines = "a line with \u{fc}n\u{ef}c\u{f6}de \u{2713} and \"quotes\"\n".repeat(1500);
            let prompt = format!("--word-of-{name}\n{lines}[[hold: {name}]] the end");
            let run = ["run", "-d", "--headless", "--agent", name, "--name", name, "-"];
            let outcome = world.with_input(run, prompt.as_bytes());
            assert_eq!(outcome.status, 0, "{name}: {outcome:#?}");
            let asked = model.wait_held(name);
            let received = asked.user_texts().last().map(|it| it.trim().to_owned());
            assert!(received == Some(prompt), "{name}: another text arrived");
            let (word, role) = (format!("word-of-{name}"), format!("role-of-{name}"));
            assert!(asked.body.to_string().contains(&role), "{name}: no instructions");
            let arguments = arguments(&world);
            assert!(!prompt_in_file || !arguments.contains(&word), "{name}: its prompt");
            assert!(
                !instructions_in_file || !arguments.contains(&role),
                "{name}: its instructions"
            );
            for (folder, _) in launches::of(&world, &world.session(name)) {
                let record = std::fs::read_to_string(folder.join("session.json")).unwrap();
                assert!(!record.contains(&word) && !record.contains(&role), "{name}: {record}");
            }
            model.release(name);
            world.ok(["wait", name, "--timeout", "170s"]);
        }
    });
}
