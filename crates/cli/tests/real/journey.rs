//! A new user's first hour with real programs, from `segue init` to `segue adopt`.

use std::fs;

use segue_testkit::model::Exchange;
use segue_testkit::scene::text;
use segue_testkit::vendors::command;
use segue_testkit::{CommandOutcome, Model, Terminal, World, isolated};

use crate::with_vendors;

/// The agents of the project and their vendors.
const AGENTS: [(&str, &str); 3] = [("coder", "claude"), ("reviewer", "codex"), ("tester", "pi")];

const DETACH: &str = "\x1cd";
const SCROLL: &str = "\x1c[";

struct Journey {
    world: World,
    model: Model,
}

impl Journey {
    fn new() -> Self {
        let (world, model) = with_vendors(&AGENTS.map(|(_, vendor)| vendor));
        Self { world, model }
    }

    fn wait_idle(&self, name: &str) {
        self.world.ok(["wait", name, "--for", "idle", "--timeout", "170s"]);
    }

    /// Sends a message, waits for the end of its turn, and returns the request that carried it.
    fn ask(&self, name: &str, message: &str) -> Exchange {
        self.world.ok(["send", name, "--wait", "--timeout", "170s", message]);
        self.model.conversation_of(message).unwrap()
    }

    /// Writes a project file. `segue up` refuses it until the user trusts it.
    fn init_and_trust(&self) {
        self.world.ok(["init"]);
        let mut file = "[fleet]\nname = \"shop\"\n".to_owned();
        for (name, vendor) in AGENTS {
            self.world.write(&format!("prompts/{name}.md"), &prompt(name));
            let agent = format!("name = \"{name}\"\nvendor = \"{vendor}\"\n");
            file = format!("{file}[[agents]]\n{agent}prompt = \"prompts/{name}.md\"\n");
        }
        self.world.write("segue.toml", &file);
        let refused = self.world.segue(["up"]);
        assert_eq!(refused.status, 5, "{refused}");
        assert!(refused.stderr.contains("segue trust"), "{refused}");
        assert!(self.world.sessions().is_empty());
        self.world.ok(["trust", "--yes"]);
    }

    fn up(&self) {
        let report = self.world.json(["up", "--json"]);
        assert_eq!(report["complete"], true, "{report:#}");
        for (name, _) in AGENTS {
            self.model.wait_answered(&prompt(name));
            self.wait_idle(name);
        }
    }

    fn answer_a_question(&self) {
        let file = self.world.project().join("made");
        let command = format!("[[ask: touch {}]] please", file.display());
        self.world.ok(["send", "coder", &command]);
        self.world.ok(["wait", "coder", "--for", "waiting", "--timeout", "170s"]);
        self.world.ok(["answer", "coder", "yes"]);
        self.wait_idle("coder");
        assert!(file.exists(), "the command was not approved");
    }

    /// Attaches to an agent, and finds lines above the screen in scroll mode.
    fn attach_and_scroll(&self) {
        let lines: Vec<String> = (0..60).map(|number| format!("line {number} of many")).collect();
        self.ask("tester", &format!("take these\n{}", lines.join("\n")));
        let attach = self.world.command(["attach", "tester"]);
        let mut terminal = Terminal::start(&attach, 24, 100);
        terminal.wait_for("line 59 of many");
        assert!(!terminal.contents().contains("line 3 of many"), "{}", terminal.contents());
        terminal.write(SCROLL);
        terminal.wait_for("q leave");
        terminal.write("?line 3 of many\r");
        terminal.wait_until("the line that is searched for", |screen| {
            // The last row shows the search text.
            let rows: Vec<String> = screen.rows(0, 100).collect();
            rows[..rows.len() - 1].iter().any(|row| row.trim_end().ends_with("line 3 of many"))
        });
        terminal.write("q");
        terminal.wait_until("the live screen", |screen| {
            let shown = screen.contents();
            shown.contains("line 59 of many") && !shown.contains("line 3 of many")
        });
        terminal.write(DETACH);
        assert_eq!(terminal.wait(), 0, "{}", terminal.contents());
    }

    fn kill_everything_and_resume(&self) {
        let conversation = |name: &str| self.world.session(name)["vendor_session_id"].clone();
        let before = AGENTS.map(|(name, _)| conversation(name));
        self.world.kill_everything();
        assert_eq!(self.world.json(["--json"])["to_bring_back"], 3);
        let report = self.world.json(["resume", "--json"]);
        assert_eq!(report["complete"], true, "{report:#}");
        assert_eq!(report["agents"].as_array().unwrap().len(), 3, "{report:#}");
        assert_eq!(AGENTS.map(|(name, _)| conversation(name)), before);
        for (name, _) in AGENTS {
            let carried = self.ask(name, &format!("which word, {name}?"));
            assert!(carried.mentions(&prompt(name)), "{:?}", carried.user_texts());
        }
    }

    fn hand_over(&self) {
        let handoff = ["handoff", "coder", "--to", "codex", "--name", "successor", "--json"];
        let report = self.world.json(handoff);
        assert_eq!(report["address"], "shop/successor", "{report:#}");
        let carried = self.ask("successor", "and which word was the first?");
        assert!(carried.mentions(&prompt("coder")), "{:?}", carried.user_texts());
    }

    /// Adopts a conversation that was started without Segue.
    fn adopt(&self) {
        let outcome =
            CommandOutcome::of(&mut command(&self.world, "claude", ["-p", "begun by hand"]));
        assert_eq!(outcome.status, 0, "{outcome}");
        let list = self.world.json(["adopt", "--json"]);
        let candidates = list["candidates"].as_array().unwrap();
        let found = candidates.iter().find(|it| it["begins"] == "begun by hand").unwrap();
        let address = format!("claude:{}", text(found, "vendor_session_id"));
        self.world.ok(["adopt", &address, "--name", "hand"]);
        self.world.resume(["hand"]).assert_back("hand", "resumed");
        let carried = self.ask("hand", "what did I say by hand?");
        assert!(carried.mentions("begun by hand"), "{:?}", carried.user_texts());
    }
}

/// Returns the prompt of an agent.
fn prompt(name: &str) -> String {
    format!("remember the word of {name}")
}

#[test]
fn every_command_of_a_new_user_works_with_three_real_vendors() {
    isolated(|| {
        let journey = Journey::new();
        journey.init_and_trust();
        journey.up();
        journey.answer_a_question();
        journey.attach_and_scroll();
        journey.kill_everything_and_resume();
        journey.hand_over();
        journey.adopt();
        // The file that `segue init` wrote is still there.
        assert!(fs::metadata(journey.world.project().join("prompts/start.md")).is_ok());
    });
}
