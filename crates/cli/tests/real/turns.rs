//! Transcripts of real programs are read as turns, and turns are written as transcripts that real
//! programs resume. The requests that the scripted model receives prove it.

mod lineage;

use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::ops::{ControlFlow, Deref};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use jiff::Timestamp;
use segue_core::model::{Environment, Role, Tool, Turn, VendorSessionId};
use segue_core::ports::{Place, ProgramSpec, Target, TranscriptionOrder, Transcripts, Vendor};
use segue_host::LocalFiles;
use segue_testkit::acting::Acting;
use segue_testkit::model::{self, Exchange, ExchangePart, ScriptStep};
use segue_testkit::scene::text;
use segue_testkit::vendors::{command, vendor, with_all};
use segue_testkit::{CommandOutcome, Terminal, isolated};
use serde_json::Value;

/// Declares the tests of each vendor: its name, the id of the conversation that is written for it, and
/// whether its program shows a conversation that it resumes.
macro_rules! turns_of {
    ($($vendor:ident $id:literal $shows:literal;)*) => {
        $(mod $vendor {
            use super::{TurnScene, assert_read_and_extended, assert_written_and_adopted};

            fn scene() -> TurnScene {
                const NAME: &str = stringify!($vendor);
                TurnScene::new(NAME, &["--vendor", NAME, "--permission", "auto"], $shows)
            }

            #[test]
            fn transcript_is_read_and_resumed_with_appended_turns() {
                super::isolated(|| assert_read_and_extended(&scene()));
            }

            #[test]
            fn written_transcript_is_adopted_and_resumed() {
                super::isolated(|| assert_written_and_adopted(&scene(), $id));
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
struct TurnScene {
    acting: Acting,
    vendor: Arc<dyn Vendor>,
    /// Whether the program shows a conversation that it resumes.
    shows_resumed: bool,
}

impl Deref for TurnScene {
    type Target = Acting;

    fn deref(&self) -> &Acting {
        &self.acting
    }
}

impl TurnScene {
    fn new(name: &str, run: &'static [&'static str], shows_resumed: bool) -> Self {
        let mut acting = Acting::new(env!("CARGO_BIN_EXE_segue"), run);
        with_all(&mut acting.world, &acting.model, &[name]);
        Self { acting, vendor: vendor(name), shows_resumed }
    }

    fn place(&self) -> Place {
        let environment = Environment::new(self.world.environment());
        let config_dir = self.vendor.launching().config_dir(&environment).unwrap();
        Place { config_dir, cwd: self.world.project().canonicalize().unwrap() }
    }

    fn transcripts(&self) -> &dyn Transcripts {
        self.vendor.transcripts().unwrap()
    }

    fn transcript(&self, id: &str) -> PathBuf {
        self.transcripts().transcript(&LocalFiles, &self.place(), &VendorSessionId::new(id))
    }

    /// Reads a transcript forwards and backwards, and checks that both give the same turns.
    fn read(&self, transcript: &Path) -> Vec<Turn> {
        let (mut forward, mut back) = (Vec::new(), Vec::new());
        let mut take = |turn| {
            forward.push(turn);
            ControlFlow::Continue(())
        };
        self.transcripts().turns(&LocalFiles, transcript, &mut take).unwrap();
        let mut take = |turn| {
            back.push(turn);
            ControlFlow::Continue(())
        };
        self.transcripts().turns_back(&LocalFiles, transcript, &mut take).unwrap();
        back.reverse();
        assert_eq!(forward, back);
        forward
    }

    /// Writes turns as the vendor's transcript of this id. With `append_to`, appends them to that
    /// transcript.
    fn write(&self, id: &str, turns: &[Turn], append_to: Option<&Path>) -> PathBuf {
        let (id, place) = (VendorSessionId::new(id), self.place());
        let order = TranscriptionOrder {
            files: &LocalFiles,
            place: &place,
            id: &id,
            title: "handed over",
            model: None,
            now: Timestamp::now(),
            append_to,
        };
        let conversion = self.vendor.conversion().unwrap();
        let mut transcription = conversion.transcription(&order).unwrap();
        let mut bytes = Vec::new();
        transcription.writer.begin(&mut bytes);
        turns.iter().for_each(|turn| transcription.writer.turn(turn, &mut bytes));
        transcription.writer.end(&mut bytes);
        let Target::Transcript(path) = transcription.target else {
            self.import(&bytes);
            return self.transcript(id.as_str());
        };
        for file in transcription.extra_files {
            append(&file.path, file.contents.as_bytes());
        }
        append(&path, &bytes);
        path
    }

    /// Makes the vendor's program import the written conversation.
    fn import(&self, bytes: &[u8]) {
        let file = self.world.root().join("import.json");
        fs::write(&file, bytes).unwrap();
        let program = self.vendor.launching().program();
        let ProgramSpec::Named { name, .. } = program else { panic!("no program") };
        let import = ["import".as_ref(), "--pure".as_ref(), file.as_os_str()];
        let imported = CommandOutcome::of(&mut command(&self.world, &name, import));
        assert_eq!(imported.status, 0, "{imported:#?}");
    }

    /// Sends a question, checks that its request carries these turns, and returns the request.
    fn assert_carries(&self, name: &str, turns: &[Turn], question: &str) -> Exchange {
        let exchange = self.ask_and_wait(name, question);
        let mut parts = exchange.turns.iter();
        for turn in turns {
            let has_turn = parts.any(|part| is_turn(part, turn));
            assert!(has_turn, "{turn:#?} is not in {:#?}", exchange.turns);
        }
        let mut tools =
            exchange.turns.windows(2).filter(|it| it[0].role == model::SpeakerRole::ToolCall);
        assert!(
            tools.all(|it| it[1].role == model::SpeakerRole::ToolResult),
            "{:#?}",
            exchange.turns
        );
        exchange
    }

    fn assert_shows(&self, name: &str, text: &str) {
        if self.shows_resumed {
            Terminal::start(&self.world.command(["attach", name]), 50, 120).wait_for(text);
        }
    }
}

fn append(path: &Path, bytes: &[u8]) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    let mut file = OpenOptions::new().create(true).append(true).open(path).unwrap();
    file.write_all(bytes).unwrap();
}

/// Returns whether a part of a request is this turn.
fn is_turn(part: &ExchangePart, turn: &Turn) -> bool {
    let is_same = part.text.trim() == turn.text.trim();
    match (part.role, turn.role) {
        (model::SpeakerRole::User, Role::User | Role::Summary)
        | (model::SpeakerRole::Assistant, Role::Assistant) => is_same,
        // Vendors may add text of their own to a result.
        (model::SpeakerRole::ToolResult, Role::ToolResult) => part.text.contains(turn.text.trim()),
        (model::SpeakerRole::ToolCall, Role::ToolCall) => {
            let (name, arguments) = part.text.split_once(' ').unwrap();
            let [sent, recorded] = [arguments, &turn.text].map(serde_json::from_str::<Value>);
            name == turn.tool.as_ref().unwrap().name && sent.unwrap() == recorded.unwrap()
        }
        _ => false,
    }
}

/// Returns the answer of the model.
fn answer(exchange: &Exchange) -> ExchangePart {
    let texts = exchange.answer.iter().filter_map(|step| match step {
        ScriptStep::Say(text) => Some(text.as_str()),
        _ => None,
    });
    ExchangePart {
        role: model::SpeakerRole::Assistant,
        text: texts.collect::<Vec<_>>().join("\n\n"),
    }
}

/// Returns turns of another vendor: several alphabets, code, tool calls, a failed tool, and two user
/// messages in a row.
fn foreign() -> Vec<Turn> {
    let at = "2025-11-16T10:00:00Z".parse().ok();
    let turn = |role, text: &str| Turn {
        model: (role == Role::Assistant).then(|| "another-model-9".to_owned()),
        ..Turn::new(role, text).at(at)
    };
    let tool_turn = |role, id: &str, text: &str, failed| {
        let tool = Tool { id: id.to_owned(), name: "run_anything".to_owned(), failed };
        turn(role, text).with_tool(tool)
    };
    vec![
        turn(Role::User, "find the word, ü 日本 😀\n```rust\nfn main() {}\n```\nplease"),
        turn(Role::Assistant, "I look into the file."),
        tool_turn(
            Role::ToolCall,
            "call_1",
            r#"{"command":["cat","heron.txt"],"deep":{"a":1}}"#,
            false,
        ),
        tool_turn(Role::ToolResult, "call_1", "heron\n\"ü\"", false),
        turn(Role::Assistant, "It says:\n```\nheron\n```"),
        turn(Role::User, "and now this"),
        turn(Role::User, "no, rather that"),
        tool_turn(Role::ToolCall, "call_2", r#"{"command":"false"}"#, false),
        tool_turn(Role::ToolResult, "call_2", "it failed", true),
        turn(Role::Assistant, "That did not work."),
    ]
}

/// Checks that the turns are the same. The name of a tool is not compared, because some transcripts
/// have it only in the call and not in the result.
fn assert_same(read: &[Turn], written: &[Turn]) {
    assert_eq!(read.len(), written.len(), "{read:#?}");
    for (read, written) in read.iter().zip(written) {
        assert_eq!((read.role, &read.text), (written.role, &written.text));
        let tool = |turn: &Turn| turn.tool.as_ref().map(|tool| (tool.id.clone(), tool.failed));
        assert_eq!(tool(read), tool(written), "{read:#?}");
        assert_eq!(read.at, written.at, "{read:#?}");
    }
}

/// Reads the transcript of a real conversation, appends turns to it, and resumes it.
fn assert_read_and_extended(scene: &TurnScene) {
    let first =
        "remember ü 日本 😀\n```rust\nfn main() {}\n```\n[[say: I look.]] [[tool: echo heron]]";
    let session = scene.start_and_wait("coder", first);
    let last = scene.ask_and_wait("coder", "which word was it?");
    let transcript = scene.transcript(text(&session, "vendor_session_id"));
    let turns = scene.read(&transcript);
    let parts: Vec<ExchangePart> = last.turns.iter().cloned().chain([answer(&last)]).collect();
    assert_eq!(parts.len(), 7, "{parts:#?}");
    assert_eq!(turns.len(), parts.len(), "{turns:#?}");
    for (turn, part) in turns.iter().zip(&parts) {
        assert!(is_turn(part, turn), "{turn:#?} is not {part:#?}");
        assert!(turn.at.is_some(), "{turn:#?}");
    }
    let ids = [&turns[2], &turns[3]].map(|turn| turn.tool.as_ref().unwrap().id.clone());
    assert_eq!(ids[0], ids[1]);

    scene.world.ok(["stop", "coder"]);
    let all: Vec<Turn> = turns.into_iter().chain(foreign()).collect();
    scene.write(text(&session, "vendor_session_id"), &foreign(), Some(&transcript));
    assert_same(&scene.read(&transcript), &all);
    scene.world.resume(["coder"]).assert_back("coder", "resumed");
    scene.assert_carries("coder", &all, "what did not work?");
}

/// Writes a transcript with turns of another vendor, adopts the conversation, and resumes it.
fn assert_written_and_adopted(scene: &TurnScene, id: &str) {
    let turns = foreign();
    let path = scene.write(id, &turns, None);
    assert_eq!(path, scene.transcript(id));
    assert_same(&scene.read(&path), &turns);
    let address = format!("{}:{id}", scene.vendor.id());
    scene.world.ok(["adopt", &address, "--name", "coder"]);
    scene.world.resume(["coder"]).assert_back("coder", "resumed");
    scene.assert_shows("coder", "That did not work.");
    let exchange = scene.assert_carries("coder", &turns, "what did not work?");
    assert_ne!(exchange.body["model"], "another-model-9");
    scene.wait_idle("coder");
    let more = scene.read(&path);
    assert_same(&more[..turns.len()], &turns);
    assert_eq!(more.len(), turns.len() + 2, "{more:#?}");
}
