//! A client of `segue mcp`, which sends and reads lines of JSON.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};

use serde_json::{Value, json};

use crate::World;

/// A running `segue mcp`, after the handshake.
#[derive(Debug)]
pub struct ToolClient {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    last_id: u64,
    /// The notifications that have arrived.
    pub notifications: Vec<Value>,
}

impl ToolClient {
    /// Starts `segue mcp` in a world, and does the handshake.
    pub fn start(world: &World) -> Self {
        Self::spawn(&mut world.command(["mcp"]))
    }

    /// Starts this command as an MCP server, and does the handshake.
    ///
    /// # Panics
    ///
    /// If the command cannot be started.
    pub fn spawn(command: &mut Command) -> Self {
        let mut child =
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("a server");
        let input = child.stdin.take();
        let output = BufReader::new(child.stdout.take().expect("its output"));
        let mut client = Self { child, input, output, last_id: 0, notifications: Vec::new() };
        let parameters = json!({
            "protocolVersion": "2025-11-25",
            "capabilities": {},
            "clientInfo": {"name": "test", "version": "1"},
        });
        client.request("initialize", &parameters);
        client.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
        client
    }

    /// Returns the process id of the server.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Sends a message.
    ///
    /// # Panics
    ///
    /// If the server has ended.
    pub fn send(&mut self, message: &Value) {
        let input = self.input.as_mut().expect("an open input");
        writeln!(input, "{message}").expect("a server that reads");
        input.flush().expect("a server that reads");
    }

    /// Sends a request. Returns its id.
    pub fn ask(&mut self, method: &str, parameters: &Value) -> u64 {
        self.last_id += 1;
        let id = self.last_id;
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": parameters}));
        id
    }

    /// Sends the call of a tool. Returns its id.
    pub fn begin(&mut self, tool: &str, arguments: &Value) -> u64 {
        let meta = json!({"progressToken": self.last_id + 1});
        self.ask("tools/call", &json!({"name": tool, "arguments": arguments, "_meta": meta}))
    }

    /// Reads the response to a request.
    ///
    /// # Panics
    ///
    /// If the server ends before, or answers another request.
    pub fn response(&mut self, id: u64) -> Value {
        loop {
            let mut line = String::new();
            self.output.read_line(&mut line).expect("output");
            let message: Value = serde_json::from_str(&line)
                .unwrap_or_else(|error| panic!("no response to {id}: {error}: {line:?}"));
            if message.get("id").is_none() {
                self.notifications.push(message);
                continue;
            }
            assert_eq!(message["id"], id, "{message}");
            return message;
        }
    }

    pub fn request(&mut self, method: &str, parameters: &Value) -> Value {
        let id = self.ask(method, parameters);
        self.response(id)
    }

    /// Reads the result of a tool. The error is the text of a failed call.
    ///
    /// # Errors
    ///
    /// If the tool reports an error.
    ///
    /// # Panics
    ///
    /// If the response is no result of a tool.
    pub fn result(&mut self, id: u64) -> Result<Value, String> {
        let response = self.response(id);
        let text = response["result"]["content"][0]["text"].as_str();
        let text = text.unwrap_or_else(|| panic!("{response}")).to_owned();
        if response["result"]["isError"] == true {
            return Err(text);
        }
        Ok(serde_json::from_str(&text).unwrap_or(Value::String(text)))
    }

    /// Calls a tool.
    ///
    /// # Errors
    ///
    /// If the tool reports an error.
    pub fn try_call(&mut self, tool: &str, arguments: &Value) -> Result<Value, String> {
        let id = self.begin(tool, arguments);
        self.result(id)
    }

    /// Calls a tool that must succeed.
    ///
    /// # Panics
    ///
    /// If the tool reports an error.
    pub fn call(&mut self, tool: &str, arguments: &Value) -> Value {
        self.try_call(tool, arguments).unwrap_or_else(|error| panic!("{tool}: {error}"))
    }

    /// Closes the input of the server, and waits for its end.
    ///
    /// # Panics
    ///
    /// If its end cannot be waited for.
    pub fn close(mut self) -> ExitStatus {
        drop(self.input.take());
        self.child.wait().expect("an end")
    }

    /// Waits for the end of the server, whose input stays open.
    ///
    /// # Panics
    ///
    /// If its end cannot be waited for.
    pub fn wait(&mut self) -> ExitStatus {
        self.child.wait().expect("an end")
    }
}

impl Drop for ToolClient {
    /// Ends the server, also if a test fails.
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}
