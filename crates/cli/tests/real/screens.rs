//! The terminal UI with the real Claude Code. The requests that the model receives are the proof.

use segue_testkit::{Model, Terminal, World, isolated};

use crate::with_vendors;

const ENTER: &str = "\r";
const DETACH: &str = "\x1cd";
const NOTHING: [&str; 0] = [];
const RIGHT: &str = "\x1b[C";

struct ScreenScene {
    world: World,
    model: Model,
    person: Terminal,
}

impl ScreenScene {
    /// Starts Claude Code with a first message, and opens the UI.
    fn new(first: &str) -> Self {
        let (world, model) = with_vendors(&["claude", "codex"]);
        world.ok(["run", "-d", "--vendor", "claude", "--name", "coder", first]);
        model.wait_answered(first);
        world.ok(["wait", "coder", "--for", "idle", "--timeout", "170s"]);
        let person = Terminal::start(&world.command(NOTHING), 50, 200);
        let mut scene = Self { world, model, person };
        scene.wait_row(&["○ coder", "idle"]);
        scene
    }

    /// Waits until a row of the screen contains all these texts.
    fn wait_row(&mut self, texts: &[&str]) {
        let has_all = |line: &str| texts.iter().all(|text| line.contains(text));
        self.person.wait_until(&format!("a row with {texts:?}"), |screen| {
            screen.contents().lines().any(has_all)
        });
    }

    fn wait_gone(&mut self, text: &str) {
        let is_gone = |screen: &vt100::Screen| !screen.contents().contains(text);
        self.person.wait_until(&format!("no {text}"), is_gone);
    }

    /// Sends a message with the keys of the UI, and waits for its answer.
    fn send(&mut self, text: &str) {
        self.person.write("s");
        self.person.wait_for("Message to coder");
        self.person.write(text);
        self.person.write(ENTER);
        self.wait_gone("Message to coder");
        self.model.wait_answered(text);
        self.wait_row(&["○ coder", "idle"]);
    }
}

#[test]
fn claude_code_is_answered_attached_interrupted_and_handed_over_from_the_screen() {
    isolated(|| {
        let mut scene = ScreenScene::new("remember ALPHA");
        scene.send("then BRAVO");
        answer_a_permission(&mut scene);
        attach_and_type(&mut scene, "from the terminal CHARLIE");
        interrupt(&mut scene, "[[hang]] DELTA");
        hand_over_to_codex(&mut scene);
        let asked = "which words were it?";
        scene.world.ok(["send", "coder-codex", "--wait", "--timeout", "170s", asked]);
        let carried = scene.model.conversation_of(asked).unwrap();
        let texts = carried.user_texts().join("\n");
        for word in ["ALPHA", "BRAVO", "CHARLIE"] {
            assert!(texts.contains(word), "{word}: {texts}");
        }
    });
}

/// Answers a question from the list: what is answered is shown first.
fn answer_a_permission(scene: &mut ScreenScene) {
    let file = scene.world.project().join("made-by-claude");
    let command = format!("[[ask: touch {}]] please", file.display());
    scene.world.ok(["send", "coder", "--no-wait", &command]);
    scene.person.wait_for("1 needs you");
    scene.wait_row(&["coder", "permission", "made-by-claude"]);
    scene.person.write("1");
    scene.person.wait_for("Answer coder");
    scene.wait_row(&["Yes", "to:"]);
    assert!(!file.exists(), "nothing is answered before Enter");
    scene.person.write(ENTER);
    scene.wait_gone("1 needs you");
    scene.wait_row(&["○ coder", "idle"]);
    assert!(file.exists(), "the command was allowed");
}

fn attach_and_type(scene: &mut ScreenScene, text: &str) {
    scene.person.write(ENTER);
    scene.person.wait_for("detach with");
    scene.person.write_until_shown(text);
    scene.person.write(ENTER);
    scene.model.wait_answered(text);
    scene.person.write(DETACH);
    scene.person.wait_for("detached from default/coder");
    scene.wait_row(&["○ coder", "idle"]);
}

fn interrupt(scene: &mut ScreenScene, text: &str) {
    scene.world.ok(["send", "coder", "--no-wait", text]);
    scene.model.wait_asked(text);
    scene.wait_row(&["● coder", "working"]);
    scene.person.write("i");
    scene.person.wait_for("ends the turn of coder");
    scene.person.write(ENTER);
    scene.wait_row(&["○ coder", "idle"]);
}

fn hand_over_to_codex(scene: &mut ScreenScene) {
    scene.person.write("h");
    scene.person.wait_for("Hand coder over");
    let contents = scene.person.contents();
    let row = contents.lines().find(|line| line.contains("codex")).unwrap();
    let vendors = row.split_whitespace().skip_while(|word| *word != "to").skip(1);
    let at = vendors.take_while(|word| *word != "codex").count();
    scene.person.write(RIGHT.repeat(at));
    scene.person.write(ENTER);
    scene.person.wait_for("Enter hand over");
    scene.wait_row(&["goes on as default/coder-codex"]);
    scene.person.write(ENTER);
    scene.wait_row(&["○ coder-codex", "idle"]);
}
