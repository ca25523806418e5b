//! Generates a long transcript in the format of Claude Code.

use std::fs::{self, File};
use std::io::{BufWriter, Write as _};
use std::path::Path;

use jiff::Timestamp;
use serde_json::{Value, json};
use uuid::Uuid;

/// The id of the conversation.
pub(crate) const ID: &str = "6d1c4bb0-4a8e-4c83-9a53-0f1f7f9b2a11";
/// The working directory of the conversation.
pub(crate) const CWD: &str = "/code/a";

const WORDS: [&str; 8] = [
    "    let token = self.next()?;\n",
    "the parser of the compiler ",
    "error[E0308]: mismatched types\n",
    "reads a \"token\" and builds a tree; ",
    "src/parser/tree.rs:118:23\n",
    "größer ",
    "\tassert_eq!(left, right);\n",
    "fn take(&mut self) -> Option<Node> {\n",
];

/// Which records a transcript has besides the conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RecordingContent {
    /// Only small records.
    Turns,
    /// Also copies of API requests and system prompts, which are larger than the turns. Claude Code
    /// 2.1.325 records them.
    TurnsAndRequests,
}

/// The system prompt and the shape of the request are recorded once for this many exchanges.
const EXCHANGES_WITH_ONE_PROMPT: u64 = 10;

const REQUEST_SHAPE_BYTES: usize = 40_000;
const REQUEST_BLOB_BYTES: usize = 10_000;
const PROMPT_SNAPSHOT_BYTES: usize = 60_000;

/// Writes a transcript of at least `size` bytes with questions, answers, tool calls and their
/// results.
pub(crate) fn write(path: &Path, size: u64, shape: RecordingContent) {
    fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
    let file = BufWriter::with_capacity(1 << 20, File::create(path).expect("a file"));
    let mut recording =
        Recording { file, shape, written: 0, count: 0, exchanges: 0, parent: Value::Null };
    while recording.written < size {
        recording.exchange();
    }
    let last = json!({"type": "last-prompt", "lastPrompt": "go on", "leafUuid": recording.parent,
        "sessionId": ID});
    recording.line(&last);
    recording.file.flush().expect("a file");
}

struct Recording {
    file: BufWriter<File>,
    shape: RecordingContent,
    written: u64,
    count: u64,
    exchanges: u64,
    parent: Value,
}

impl Recording {
    /// Writes one exchange: a question, a few tool calls with results, and an answer.
    fn exchange(&mut self) {
        let number = self.count;
        let snapshot = json!({"messageId": name(number), "trackedFileBackups": {}});
        self.line(&json!({"type": "file-history-snapshot", "messageId": name(number),
            "snapshot": snapshot, "isSnapshotUpdate": false}));
        let message = json!({"role": "user", "content": text(number, 300)});
        self.record("user", ("message", &message), None);
        if self.shape == RecordingContent::TurnsAndRequests {
            self.request();
        }
        self.exchanges += 1;
        for _ in 0..1 + number % 4 {
            self.tool();
        }
        let answer = [json!({"type": "text", "text": text(self.count, 900)})];
        self.answer(&answer, "end_turn");
    }

    /// Writes the records that Claude Code keeps of an API request.
    fn request(&mut self) {
        let hash = format!("{:064x}", self.exchanges);
        if self.exchanges.is_multiple_of(EXCHANGES_WITH_ONE_PROMPT) {
            let prompt = [text(self.count, PROMPT_SNAPSHOT_BYTES)];
            let snapshot = json!({"type": "prompt_snapshot", "systemPrompt": prompt});
            self.record("attachment", ("attachment", &snapshot), None);
            let shape = json!({"system": [{"text": text(self.count, REQUEST_SHAPE_BYTES)}]});
            self.line(&json!({"type": "api-request-shape", "sessionId": ID, "shapeHash": hash,
                "shape": shape}));
        }
        let message = json!({"role": "user", "content": text(self.count, REQUEST_BLOB_BYTES)});
        self.line(&json!({"type": "api-request-blob", "sessionId": ID, "hash": hash,
            "message": message}));
        self.line(&json!({"type": "api-request", "sessionId": ID, "shapeHash": hash}));
    }

    fn tool(&mut self) {
        let number = self.count;
        let id = format!("toolu_{number:024}");
        let input = json!({"command": text(number, 80), "description": "looks"});
        let call = json!({"type": "tool_use", "id": id, "name": "Bash", "input": input});
        self.answer(&[json!({"type": "text", "text": text(number, 120)}), call], "tool_use");
        let given = text(number, 200 + usize::try_from(number * 7919 % 6000).unwrap_or_default());
        let result = json!({"type": "tool_result", "tool_use_id": id, "content": given,
            "is_error": false});
        let beside = json!({"stdout": given, "stderr": "", "interrupted": false});
        let given = json!({"role": "user", "content": [result]});
        self.record("user", ("message", &given), Some(&beside));
    }

    fn answer(&mut self, content: &[Value], reason: &str) {
        let usage = json!({"input_tokens": 12, "cache_read_input_tokens": 30_000,
            "cache_creation_input_tokens": 900, "output_tokens": 210});
        let message = json!({"id": format!("msg_{:024}", self.count), "type": "message",
            "role": "assistant", "model": "claude-opus-4-8", "content": content,
            "stop_reason": reason, "stop_sequence": null, "usage": usage});
        self.record("assistant", ("message", &message), None);
    }

    /// Writes a record whose parent is the record before it. Like Claude Code, it writes the
    /// parent's id first.
    fn record(&mut self, kind: &str, (key, content): (&str, &Value), result: Option<&Value>) {
        let (uuid, parent) = (name(self.count), &self.parent);
        let seconds = 1_790_000_000 + i64::try_from(self.count).unwrap_or_default();
        let at = Timestamp::from_second(seconds).expect("a time");
        let result = result.map_or(String::new(), |it| format!(",\"toolUseResult\":{it}"));
        let line = format!(
            "{{\"parentUuid\":{parent},\"isSidechain\":false,\"type\":\"{kind}\",\
             \"{key}\":{content},\"uuid\":\"{uuid}\",\"timestamp\":\"{at:.3}\"{result},\
             \"userType\":\"external\",\"entrypoint\":\"cli\",\"cwd\":\"{CWD}\",\
             \"sessionId\":\"{ID}\",\"version\":\"2.1.197\",\"gitBranch\":\"main\"}}\n"
        );
        self.file.write_all(line.as_bytes()).expect("a record");
        self.written += line.len() as u64;
        self.count += 1;
        self.parent = Value::String(uuid);
    }

    fn line(&mut self, value: &Value) {
        let line = format!("{value}\n");
        self.file.write_all(line.as_bytes()).expect("a record");
        self.written += line.len() as u64;
    }
}

/// Returns a unique id for a record.
fn name(number: u64) -> String {
    let mixed = number.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    Uuid::from_u64_pair(mixed, number).to_string()
}

/// Returns at least `length` bytes of text.
fn text(number: u64, length: usize) -> String {
    let mut text = format!("{number} ");
    let mut at = usize::try_from(number).unwrap_or_default();
    while text.len() < length {
        text.push_str(WORDS[at % WORDS.len()]);
        at = at.wrapping_mul(31).wrapping_add(7);
    }
    text
}
