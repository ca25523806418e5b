//! Conversations of real programs as turns, and turns as conversations that real programs go on
//! with. The requests that the model gets are the proof.
#![expect(clippy::panic, clippy::unwrap_used, reason = "a test that fails shall stop at once")]

#[path = "turns/lineage.rs"]
mod lineage;

use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::ops::{ControlFlow, Deref};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use jiff::Timestamp;
use segue_core::model::{Environment, Role, Tool, Turn, VendorSessionId};
use segue_core::ports::{Place, ProgramSpec, Target, TranscriptionOrder, Vendor};
use segue_host::LocalFiles;
use segue_testkit::acting::Acting;
use segue_testkit::model::{self, Exchange, Said, Step};
use segue_testkit::scene::text;
use segue_testkit::vendors::{command, vendor, with_all};
use segue_testkit::{Outcome, Terminal, isolated};
use serde_json::Value;

/// Makes the tests of each vendor: its name, the id of a conversation that is written for it, and
/// whether it draws a conversation that it goes on with.
macro_rules! turns_of {
    ($($vendor:ident $id:literal $draws:literal;)*) => {
        $(mod $vendor {
            use super::{Scenery, reads_and_adds, writes};

            fn scenery() -> Scenery {
                const NAME: &str = stringify!($vendor);
                Scenery::new(NAME, &["--vendor", NAME, "--permission", "auto"], $draws)
            }

            #[test]
            fn what_was_said_is_read_and_more_is_added() {
                super::isolated(|| reads_and_adds(&scenery()));
            }

            #[test]
            fn what_is_written_is_gone_on_with() {
                super::isolated(|| writes(&scenery(), $id));
            }
        })*
    };
}

turns_of! {
    claude "01998888-7777-7000-8000-000000000001" true;
    codex "01998888-7777-7000-8000-000000000002" true;
    copilot "01998888-7777-7000-8000-000000000003" true;
    gemini "01998888-7777-7000-8000-000000000004" true;
    opencode "ses_01998888777770008000000000000001" true;
    pi "01998888-7777-7000-8000-000000000009" true;
}

/// A world with one vendor's program.
struct Scenery {
    acting: Acting,
    vendor: Arc<dyn Vendor>,
    draws: bool,
}

impl Deref for Scenery {
    type Target = Acting;

    fn deref(&self) -> &Acting {
        &self.acting
    }
}

impl Scenery {
    fn new(name: &str, run: &'static [&'static str], draws: bool) -> Self {
        let mut acting = Acting::new(env!("CARGO_BIN_EXE_segue"), run);
        with_all(&mut acting.world, &acting.model, &[name]);
        Self { acting, vendor: vendor(name), draws }
    }

    fn place(&self) -> Place {
        let environment = Environment::new(self.world.environment());
        let config_dir = self.vendor.config_dir(&environment).unwrap();
        Place { config_dir, cwd: self.world.project().canonicalize().unwrap() }
    }

    fn transcript(&self, id: &str) -> PathBuf {
        self.vendor.transcript(&LocalFiles, &self.place(), &VendorSessionId::new(id))
    }

    /// Reads a transcript in both directions, which have to agree.
    fn read(&self, transcript: &Path) -> Vec<Turn> {
        let (mut forward, mut back) = (Vec::new(), Vec::new());
        let mut take = |turn| {
            forward.push(turn);
            ControlFlow::Continue(())
        };
        self.vendor.turns(&LocalFiles, transcript, &mut take).unwrap();
        let mut take = |turn| {
            back.push(turn);
            ControlFlow::Continue(())
        };
        self.vendor.turns_back(&LocalFiles, transcript, &mut take).unwrap();
        back.reverse();
        assert_eq!(forward, back);
        forward
    }

    /// Writes turns as the vendor's transcript of this id, or at the end of the one that is there.
    fn write(&self, id: &str, turns: &[Turn], onto: Option<&Path>) -> PathBuf {
        let (id, place) = (VendorSessionId::new(id), self.place());
        let order = TranscriptionOrder {
            files: &LocalFiles,
            place: &place,
            id: &id,
            title: "handed over",
            model: None,
            now: Timestamp::now(),
            onto,
        };
        let mut transcription = self.vendor.transcription(&order).unwrap().unwrap();
        let mut bytes = Vec::new();
        transcription.writer.begin(&mut bytes);
        turns.iter().for_each(|turn| transcription.writer.turn(turn, &mut bytes));
        transcription.writer.end(&mut bytes);
        let Target::Transcript(path) = transcription.target else {
            self.import(&bytes);
            return self.transcript(id.as_str());
        };
        for file in transcription.beside {
            append(&file.path, file.contents.as_bytes());
        }
        append(&path, &bytes);
        path
    }

    /// Has the vendor's program take in what was written.
    fn import(&self, bytes: &[u8]) {
        let file = self.world.root().join("import.json");
        fs::write(&file, bytes).unwrap();
        let ProgramSpec::Named { name, .. } = self.vendor.program() else { panic!("no program") };
        let words = ["import".as_ref(), "--pure".as_ref(), file.as_os_str()];
        let imported = Outcome::of(&mut command(&self.world, &name, words));
        assert_eq!(imported.status, 0, "{imported:#?}");
    }

    /// Expects that the next request carries these turns, and returns it.
    fn assert_carries(&self, name: &str, turns: &[Turn], question: &str) -> Exchange {
        let exchange = self.ask_and_wait(name, question);
        let mut told = exchange.turns.iter();
        for turn in turns {
            let is_it = |said: &&Said| is_said(said, turn);
            assert!(told.any(|said| is_it(&said)), "{turn:#?} is not in {:#?}", exchange.turns);
        }
        let mut tools = exchange.turns.windows(2).filter(|it| it[0].role == model::Role::ToolCall);
        assert!(tools.all(|it| it[1].role == model::Role::ToolResult), "{:#?}", exchange.turns);
        exchange
    }

    fn assert_draws(&self, name: &str, words: &str) {
        if self.draws {
            Terminal::start(&self.world.command(["attach", name]), 50, 120).wait_for(words);
        }
    }
}

fn append(path: &Path, bytes: &[u8]) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    let mut file = OpenOptions::new().create(true).append(true).open(path).unwrap();
    file.write_all(bytes).unwrap();
}

/// Tells whether what the model was told is this turn.
fn is_said(said: &Said, turn: &Turn) -> bool {
    let is_same = said.text.trim() == turn.text.trim();
    match (said.role, turn.role) {
        (model::Role::User, Role::User | Role::Summary)
        | (model::Role::Assistant, Role::Assistant) => is_same,
        // Vendors may tell the model more about a result than its words.
        (model::Role::ToolResult, Role::ToolResult) => said.text.contains(turn.text.trim()),
        (model::Role::ToolCall, Role::ToolCall) => {
            let (name, arguments) = said.text.split_once(' ').unwrap();
            let [told, own] = [arguments, &turn.text].map(serde_json::from_str::<Value>);
            name == turn.tool.as_ref().unwrap().name && told.unwrap() == own.unwrap()
        }
        _ => false,
    }
}

/// Returns what the model answered.
fn answer(exchange: &Exchange) -> Said {
    let texts = exchange.answer.iter().filter_map(|step| match step {
        Step::Say(text) => Some(text.as_str()),
        _ => None,
    });
    Said { role: model::Role::Assistant, text: texts.collect::<Vec<_>>().join("\n\n") }
}

/// Returns turns of another vendor's, with everything that is hard to carry over.
fn foreign() -> Vec<Turn> {
    let at = "2025-11-16T10:00:00Z".parse().ok();
    let said = |role, text: &str| Turn {
        model: (role == Role::Assistant).then(|| "another-model-9".to_owned()),
        ..Turn::new(role, text).at(at)
    };
    let tool = |role, id: &str, text: &str, failed| {
        let tool = Tool { id: id.to_owned(), name: "run_anything".to_owned(), failed };
        said(role, text).with_tool(tool)
    };
    vec![
        said(Role::User, "find the word, ü 日本 😀\n```rust\nfn main() {}\n```\nplease"),
        said(Role::Assistant, "I look into the file."),
        tool(Role::ToolCall, "call_1", r#"{"command":["cat","heron.txt"],"deep":{"a":1}}"#, false),
        tool(Role::ToolResult, "call_1", "heron\n\"ü\"", false),
        said(Role::Assistant, "It says:\n```\nheron\n```"),
        said(Role::User, "and now this"),
        said(Role::User, "no, rather that"),
        tool(Role::ToolCall, "call_2", r#"{"command":"false"}"#, false),
        tool(Role::ToolResult, "call_2", "it failed", true),
        said(Role::Assistant, "That did not work."),
    ]
}

/// Tells whether two turns say the same; what only calls name is not known of results everywhere.
fn assert_same(read: &[Turn], written: &[Turn]) {
    assert_eq!(read.len(), written.len(), "{read:#?}");
    for (read, written) in read.iter().zip(written) {
        assert_eq!((read.role, &read.text), (written.role, &written.text));
        let known = |turn: &Turn| turn.tool.as_ref().map(|tool| (tool.id.clone(), tool.failed));
        assert_eq!(known(read), known(written), "{read:#?}");
        assert_eq!(read.at, written.at, "{read:#?}");
    }
}

fn reads_and_adds(scenery: &Scenery) {
    let first =
        "remember ü 日本 😀\n```rust\nfn main() {}\n```\n[[say: I look.]] [[tool: echo heron]]";
    let session = scenery.told("coder", first);
    let last = scenery.ask_and_wait("coder", "which word was it?");
    let transcript = scenery.transcript(text(&session, "vendor_session_id"));
    let turns = scenery.read(&transcript);
    let told: Vec<Said> = last.turns.iter().cloned().chain([answer(&last)]).collect();
    assert_eq!(told.len(), 7, "{told:#?}");
    assert_eq!(turns.len(), told.len(), "{turns:#?}");
    for (turn, said) in turns.iter().zip(&told) {
        assert!(is_said(said, turn), "{turn:#?} is not {said:#?}");
        assert!(turn.at.is_some(), "{turn:#?}");
    }
    let ids = [&turns[2], &turns[3]].map(|turn| turn.tool.as_ref().unwrap().id.clone());
    assert_eq!(ids[0], ids[1]);

    scenery.world.ok(["stop", "coder"]);
    let all: Vec<Turn> = turns.into_iter().chain(foreign()).collect();
    scenery.write(text(&session, "vendor_session_id"), &foreign(), Some(&transcript));
    assert_same(&scenery.read(&transcript), &all);
    scenery.world.resume(["coder"]).assert_back("coder", "resumed");
    scenery.assert_carries("coder", &all, "what did not work?");
}

fn writes(scenery: &Scenery, id: &str) {
    let turns = foreign();
    let path = scenery.write(id, &turns, None);
    assert_eq!(path, scenery.transcript(id));
    assert_same(&scenery.read(&path), &turns);
    let which = format!("{}:{id}", scenery.vendor.id());
    scenery.world.ok(["adopt", &which, "--name", "coder"]);
    scenery.world.resume(["coder"]).assert_back("coder", "resumed");
    scenery.assert_draws("coder", "That did not work.");
    let exchange = scenery.assert_carries("coder", &turns, "what did not work?");
    assert_ne!(exchange.body["model"], "another-model-9");
    scenery.wait_idle("coder");
    let more = scenery.read(&path);
    assert_same(&more[..turns.len()], &turns);
    assert_eq!(more.len(), turns.len() + 2, "{more:#?}");
}
