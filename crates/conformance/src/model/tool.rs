//! Finds the shell tool among the tools of a request, and writes calls of it.

use serde_json::{Map, Value, json};

use super::request::example;

/// Names of the tools that run a command in a shell.
const NAMES: [&str; 6] =
    ["Bash", "bash", "exec_command", "shell", "shell_command", "run_shell_command"];

/// Names of the parameter for the command.
const PARAMETERS: [&str; 2] = ["command", "cmd"];

/// The maximum of `yield_time_ms`. After that time a tool reports that its command still runs.
const YIELD_TIME_MS: u32 = 30_000;

/// Parameters that make a tool wait for the end of its command, with their values.
const WAIT_PARAMETERS: [(&str, u32); 2] = [("yield_time_ms", YIELD_TIME_MS), ("initial_wait", 600)];

/// The text with which a tool reports that its command still runs.
const RUNNING: &str = "Process running with session ID ";

/// A tool of a request that runs commands.
#[derive(Clone, Debug)]
pub(crate) struct ShellTool {
    name: String,
    schema: Value,
}

/// A tool call: the tool's name and its arguments.
#[derive(Clone, Debug)]
pub(crate) struct ScriptedToolCall {
    /// The group of tools that has this tool. `None` if the tools of the request have no groups.
    pub(crate) namespace: Option<String>,
    pub(crate) name: String,
    /// A JSON object, or a text if the tool takes one.
    pub(crate) arguments: Value,
    /// The tool takes a text instead of JSON.
    pub(crate) takes_text: bool,
}

impl ShellTool {
    /// Finds the shell tool among the tools of a request.
    pub(crate) fn among<'a>(tools: impl Iterator<Item = (&'a str, &'a Value)>) -> Option<Self> {
        let mut known = tools.filter(|(name, _)| NAMES.contains(name));
        known.next().map(|(name, schema)| Self { name: name.to_owned(), schema: schema.clone() })
    }

    /// Returns the call that runs a command.
    pub(crate) fn run(&self, command: &str) -> Option<ScriptedToolCall> {
        let properties = &self.schema["properties"];
        let parameter = PARAMETERS.into_iter().find(|name| properties.get(name).is_some())?;
        let is_list = properties[parameter]["type"] == "array";
        let value = if is_list { json!(["bash", "-lc", command]) } else { json!(command) };
        let mut arguments = Map::from_iter([(parameter.to_owned(), value)]);
        for (name, value) in WAIT_PARAMETERS {
            if properties.get(name).is_some() {
                arguments.insert(name.to_owned(), json!(value));
            }
        }
        let required = self.schema["required"].as_array().into_iter().flatten();
        for name in required.filter_map(Value::as_str) {
            arguments.entry(name).or_insert_with(|| example(&properties[name]));
        }
        let arguments = Value::Object(arguments);
        Some(ScriptedToolCall::of_function(self.name.clone(), arguments))
    }

    /// Returns the call that runs a command outside of the agent's sandbox. If the tool has no
    /// parameter for that, returns the usual call.
    pub(crate) fn ask(&self, command: &str) -> Option<ScriptedToolCall> {
        let mut call = self.run(command)?;
        if self.schema["properties"].get("sandbox_permissions").is_some() {
            call.arguments["sandbox_permissions"] = json!("require_escalated");
            call.arguments["justification"] = json!("May this run?");
        }
        Some(call)
    }

    /// Returns the call that continues to wait for a command that still runs.
    pub(crate) fn wait(number: u64) -> ScriptedToolCall {
        let arguments = json!({"session_id": number, "chars": "", "yield_time_ms": YIELD_TIME_MS});
        ScriptedToolCall::of_function("write_stdin".to_owned(), arguments)
    }
}

impl ScriptedToolCall {
    fn of_function(name: String, arguments: Value) -> Self {
        Self { namespace: None, name, arguments, takes_text: false }
    }
}

/// Returns the call of an MCP server's tool among the tools of a request. `call` has the name of the
/// tool, with which the vendor's own name for it ends, and its arguments as JSON.
pub(crate) fn mcp_call(tools: &Value, call: &str) -> Option<ScriptedToolCall> {
    let (tool, arguments) = call.split_once(' ').unwrap_or((call, "{}"));
    call_of(tools, arguments, |name| name.ends_with(tool))
}

/// Returns the call of the tool with exactly this name among the tools of a request. `call` has the
/// name and the arguments as JSON. The arguments of a tool that takes a text are a JSON string.
pub(crate) fn exact_call(tools: &Value, call: &str) -> Option<ScriptedToolCall> {
    let (tool, arguments) = call.split_once(' ').unwrap_or((call, "{}"));
    call_of(tools, arguments, |name| name == tool)
}

fn call_of(
    tools: &Value,
    arguments: &str,
    fits: impl Fn(&str) -> bool,
) -> Option<ScriptedToolCall> {
    let arguments = serde_json::from_str(arguments).ok()?;
    let (namespace, tool) = named_tool(tools, None, &fits)?;
    let name = own_name(tool)?.to_owned();
    let takes_text = tool["type"] == "custom";
    Some(ScriptedToolCall { namespace: namespace.map(str::to_owned), name, arguments, takes_text })
}

fn own_name(tool: &Value) -> Option<&str> {
    tool["name"].as_str().or_else(|| tool["function"]["name"].as_str())
}

/// Finds a tool by its name, and its group. Tools may be in groups, and in functions.
fn named_tool<'a>(
    tools: &'a Value,
    namespace: Option<&'a str>,
    fits: &impl Fn(&str) -> bool,
) -> Option<(Option<&'a str>, &'a Value)> {
    tools.as_array()?.iter().find_map(|tool| {
        let name = own_name(tool);
        let group = ["tools", "functionDeclarations"].into_iter().find_map(|key| tool.get(key));
        match (group, name) {
            (Some(group), _) => named_tool(group, name.or(namespace), fits),
            (None, Some(name)) if fits(name) => Some((namespace, tool)),
            _ => None,
        }
    })
}

/// Returns the number of the command that still runs according to a tool's result. `None` if the
/// command has ended.
pub(crate) fn running_command(result: &str) -> Option<u64> {
    let (_, after) = result.split_once(RUNNING)?;
    let digits: String = after.chars().take_while(char::is_ascii_digit).collect();
    digits.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mcp_tool_is_found_in_the_tools_of_every_api() {
        let table = [
            (json!([{"name": "mcp__segue__agent_read"}]), None, "mcp__segue__agent_read"),
            (json!([{"function": {"name": "segue_agent_read"}}]), None, "segue_agent_read"),
            (
                json!([{"functionDeclarations": [{"name": "x"}, {"name": "mcp_agent_read"}]}]),
                None,
                "mcp_agent_read",
            ),
            (
                json!([{"name": "a"}, {"name": "mcp__segue", "tools": [{"name": "agent_read"}]}]),
                Some("mcp__segue"),
                "agent_read",
            ),
        ];
        for (tools, namespace, name) in table {
            let call = mcp_call(&tools, r#"agent_read {"turns": 2}"#).expect("a call");
            assert_eq!((call.namespace.as_deref(), call.name.as_str()), (namespace, name));
            assert_eq!(call.arguments, json!({"turns": 2}));
        }
        assert!(mcp_call(&json!([{"name": "x"}]), "agent_read").is_none());
    }

    #[test]
    fn tool_is_called_by_its_exact_name_and_a_custom_tool_with_a_text() {
        let tools = json!([
            {"type": "function", "name": "not_edit"},
            {"type": "function", "name": "edit"},
            {"type": "custom", "name": "apply_patch"},
        ]);
        let call = exact_call(&tools, r#"edit {"path": "a b"}"#).expect("a call");
        assert_eq!((call.name.as_str(), call.takes_text), ("edit", false));
        assert_eq!(call.arguments, json!({"path": "a b"}));
        let call = exact_call(&tools, r#"apply_patch "*** Begin\nPatch""#).expect("a call");
        assert_eq!((call.arguments, call.takes_text), (json!("*** Begin\nPatch"), true));
        assert!(exact_call(&tools, "dit {}").is_none());
        assert!(exact_call(&tools, "edit no json").is_none());
    }
}
