//! A client of `segue acp`, which sends and reads lines of JSON as an editor does.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};

use serde_json::{Value, json};

use crate::World;

/// A running `segue acp`, after the handshake.
#[derive(Debug)]
pub struct EditorClient {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    last_id: u64,
    /// The updates that have arrived, without their sessions.
    pub updates: Vec<Value>,
    /// The questions of agents that have arrived, and have no answer.
    pub questions: Vec<Value>,
    /// Answers that have arrived before they were read.
    answers: Vec<Value>,
    /// The requests that the agent has taken back.
    pub taken_back: Vec<Value>,
    /// All messages, in both directions.
    pub traffic: Vec<Value>,
}

impl EditorClient {
    /// Starts `segue acp` in a world, and does the handshake.
    pub fn start(world: &World, arguments: &[&str]) -> Self {
        let words = [&["acp"], arguments].concat();
        Self::spawn(&mut world.command(words))
    }

    /// Starts this command as an ACP agent, and does the handshake.
    ///
    /// # Panics
    ///
    /// If the command cannot be started.
    pub fn spawn(command: &mut Command) -> Self {
        let mut child =
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("an agent");
        let input = child.stdin.take();
        let output = BufReader::new(child.stdout.take().expect("its output"));
        let mut client = Self {
            child,
            input,
            output,
            last_id: 0,
            updates: Vec::new(),
            questions: Vec::new(),
            answers: Vec::new(),
            taken_back: Vec::new(),
            traffic: Vec::new(),
        };
        let hello = json!({"protocolVersion": 1, "clientCapabilities": {}});
        let hello = client.request("initialize", &hello);
        assert_eq!(hello["result"]["protocolVersion"], 1, "{hello}");
        client
    }

    /// Returns the process id of the agent.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Sends a message.
    ///
    /// # Panics
    ///
    /// If the agent has ended.
    pub fn send(&mut self, message: &Value) {
        self.traffic.push(json!({"from": "client", "message": message}));
        let input = self.input.as_mut().expect("an open input");
        writeln!(input, "{message}").expect("an agent that reads");
        input.flush().expect("an agent that reads");
    }

    /// Sends a request. Returns its id.
    pub fn begin(&mut self, method: &str, params: &Value) -> u64 {
        self.last_id += 1;
        let id = self.last_id;
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
        id
    }

    /// Sends a notification.
    pub fn notify(&mut self, method: &str, params: &Value) {
        self.send(&json!({"jsonrpc": "2.0", "method": method, "params": params}));
    }

    /// Reads a message, and sorts it.
    ///
    /// # Panics
    ///
    /// If the agent ends before.
    pub fn read(&mut self) {
        let mut line = String::new();
        self.output.read_line(&mut line).expect("output");
        let message: Value = serde_json::from_str(&line)
            .unwrap_or_else(|error| panic!("no message: {error}: {line:?}"));
        self.traffic.push(json!({"from": "agent", "message": message}));
        match (message["method"].as_str(), message.get("id").is_some()) {
            (Some("session/update"), false) => {
                self.updates.push(message["params"]["update"].clone());
            }
            (Some("$/cancel_request"), false) => {
                self.taken_back.push(message["params"]["requestId"].clone());
            }
            (Some(_), true) => self.questions.push(message),
            _ => self.answers.push(message),
        }
    }

    /// Reads the answer to a request.
    pub fn answer(&mut self, id: u64) -> Value {
        loop {
            if let Some(place) = self.answers.iter().position(|it| it["id"] == id) {
                return self.answers.remove(place);
            }
            self.read();
        }
    }

    /// Sends a request, and reads its answer.
    pub fn request(&mut self, method: &str, params: &Value) -> Value {
        let id = self.begin(method, params);
        self.answer(id)
    }

    /// Sends a request that must succeed.
    ///
    /// # Panics
    ///
    /// If the answer is an error.
    pub fn ok(&mut self, method: &str, params: &Value) -> Value {
        let answer = self.request(method, params);
        assert_eq!(answer.get("error"), None, "{method}: {answer}");
        answer["result"].clone()
    }

    /// Begins a session in a folder. Returns its id.
    ///
    /// # Panics
    ///
    /// If the answer has no id.
    pub fn new_session(&mut self, folder: &Path) -> String {
        let made = self.ok("session/new", &json!({"cwd": folder, "mcpServers": []}));
        made["sessionId"].as_str().expect("an id").to_owned()
    }

    /// Sends a prompt. Returns the id of the request.
    pub fn begin_prompt(&mut self, session: &str, text: &str) -> u64 {
        let prompt = json!([{"type": "text", "text": text}]);
        self.begin("session/prompt", &json!({"sessionId": session, "prompt": prompt}))
    }

    /// Sends a prompt, and reads how it ended. Returns the updates of its turn.
    pub fn prompt(&mut self, session: &str, text: &str) -> (Value, Vec<Value>) {
        self.updates.clear();
        let id = self.begin_prompt(session, text);
        let answer = self.answer(id);
        (answer, std::mem::take(&mut self.updates))
    }

    /// Reads the answer to a request, and allows everything that the agent asks until then.
    ///
    /// # Panics
    ///
    /// If a question has no answer that allows something once.
    pub fn answer_allowing(&mut self, id: u64) -> Value {
        while !self.answers.iter().any(|it| it["id"] == id) {
            self.read();
            while let Some(question) = self.questions.pop() {
                let options = question["params"]["options"].as_array().expect("options");
                let once = options.iter().find(|it| it["kind"] == "allow_once");
                self.choose(&question, &once.expect("an option")["optionId"].clone());
            }
        }
        self.answer(id)
    }

    /// Reads until the agent asks a question.
    pub fn question(&mut self) -> Value {
        while self.questions.is_empty() {
            self.read();
        }
        self.questions.remove(0)
    }

    /// Reads until an update fits. Returns it.
    pub fn update(&mut self, fits: impl Fn(&Value) -> bool) -> Value {
        let mut seen = 0;
        loop {
            if let Some(found) = self.updates[seen..].iter().find(|it| fits(it)) {
                return found.clone();
            }
            seen = self.updates.len();
            self.read();
        }
    }

    /// Answers a question with one of its options.
    pub fn choose(&mut self, question: &Value, option: &Value) {
        let outcome = json!({"outcome": {"outcome": "selected", "optionId": option}});
        self.send(&json!({"jsonrpc": "2.0", "id": question["id"], "result": outcome}));
    }

    /// Closes the input of the agent, and waits for its end.
    ///
    /// # Panics
    ///
    /// If its end cannot be waited for.
    pub fn close(mut self) -> ExitStatus {
        drop(self.input.take());
        self.child.wait().expect("an end")
    }

    /// Waits for the end of the agent, whose input stays open.
    ///
    /// # Panics
    ///
    /// If its end cannot be waited for.
    pub fn wait(&mut self) -> ExitStatus {
        self.child.wait().expect("an end")
    }
}

/// Returns the text of updates of one kind, one after the other.
pub fn texts(updates: &[Value], kind: &str) -> Vec<String> {
    let of_kind = updates.iter().filter(|it| it["sessionUpdate"] == kind);
    of_kind.filter_map(|it| it["content"]["text"].as_str()).map(str::to_owned).collect()
}

impl Drop for EditorClient {
    /// Ends the agent, also if a test fails.
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}
