//! Facts about vendors' programs in which they differ, for tests that are otherwise the same.

use std::path::Path;

use segue_testkit::Terminal;
use segue_testkit::model::Exchange;
use segue_testkit::vendor_scene::{PinnedVendor, VendorScene};
use segue_testkit::vendors::{
    ClaudeHome, CodexHome, CopilotHome, GeminiHome, OpencodeHome, PiHome,
};
use serde_json::{Value, json};

/// A marker for the scripted model that makes a turn fail, and the cause that Segue reports.
type FailingTurn = (&'static str, &'static str);

const REQUEST: FailingTurn = ("[[status: 400]]", "the request was refused");
const ACCOUNT: FailingTurn = ("[[status: 401]]", "the account was refused");
const TOO_MANY_REQUESTS: FailingTurn = ("[[status: 429]]", "usage limit");
const USAGE_LIMIT: FailingTurn = ("[[limit: 2030-01-01T10:00:00Z]]", "usage limit");
const SERVICE: FailingTurn = ("[[status: 500]]", "the service failed");
const STREAM: FailingTurn = ("[[cut]]", "the answer was cut off");

/// How headless turns of a vendor fail.
pub(crate) trait FailingTurns: PinnedVendor {
    const FAILING: &'static [FailingTurn];

    /// The number of failing turns that run at the same time. It is more than one if the program
    /// waits long between its own retries.
    const CONCURRENT_TURNS: usize = 1;
}

impl FailingTurns for ClaudeHome {
    const FAILING: &'static [FailingTurn] = &[REQUEST, ACCOUNT, TOO_MANY_REQUESTS, SERVICE, STREAM];
}

impl FailingTurns for CodexHome {
    const FAILING: &'static [FailingTurn] =
        &[REQUEST, ACCOUNT, TOO_MANY_REQUESTS, USAGE_LIMIT, SERVICE, STREAM];
}

impl FailingTurns for CopilotHome {
    const FAILING: &'static [FailingTurn] = &[REQUEST, ACCOUNT, TOO_MANY_REQUESTS, SERVICE, STREAM];
    const CONCURRENT_TURNS: usize = 5;
}

impl FailingTurns for PiHome {
    const FAILING: &'static [FailingTurn] = &[REQUEST, ACCOUNT, USAGE_LIMIT, STREAM];
}

/// How an agent of a vendor is allowed to commit and push.
pub(crate) trait PushesCommits: PinnedVendor {
    /// Further lines of the agent in the project file.
    const AGENT_LINES: &'static str = "";
}

impl PushesCommits for ClaudeHome {}

impl PushesCommits for CodexHome {
    // Its sandbox keeps `.git` read-only and has no network.
    const AGENT_LINES: &'static str = "args = [\"--sandbox=danger-full-access\"]\n";
}

/// What a vendor's program sends after an interactive turn has failed.
pub(crate) trait KeepsFailedTurn: PinnedVendor {
    /// Whether the next request has the message of the failed turn.
    const SENDS_FAILED_MESSAGE: bool = true;
}

impl KeepsFailedTurn for CodexHome {}
impl KeepsFailedTurn for CopilotHome {}

impl KeepsFailedTurn for GeminiHome {
    const SENDS_FAILED_MESSAGE: bool = false;
}

/// The beginning of a record, as a vendor's program leaves it if it is killed while it writes.
pub(crate) trait PartialRecord: PinnedVendor {
    const PARTIAL: &'static str;
}

impl PartialRecord for ClaudeHome {
    const PARTIAL: &'static str = r#"{"parentUuid":"b0505098","type":"user","mess"#;
}

impl PartialRecord for CodexHome {
    const PARTIAL: &'static str = r#"{"timestamp":"2026-11-16T00:15:01.654Z","type":"resp"#;
}

impl PartialRecord for PiHome {
    const PARTIAL: &'static str = r#"{"type":"message","id":"0a0b0c0d","par"#;
}

/// How a person runs one headless turn without Segue.
pub(crate) trait RunByHand: PinnedVendor {
    /// The arguments before the prompt.
    const BY_HAND: &'static [&'static str];

    /// Arguments of `segue run` with which the agent may run the program as a tool.
    const MAY_RUN_ITSELF: &'static [&'static str] = &[];
}

impl RunByHand for ClaudeHome {
    const BY_HAND: &'static [&'static str] = &["-p"];
}

impl RunByHand for CodexHome {
    const BY_HAND: &'static [&'static str] = &["exec", "--json", "--skip-git-repo-check"];
    const MAY_RUN_ITSELF: &'static [&'static str] = &["--", "-s", "danger-full-access"];
}

impl RunByHand for PiHome {
    const BY_HAND: &'static [&'static str] = &["-p"];
}

/// How the config dir of a vendor is chosen, and which evidence names the conversation.
pub(crate) trait ConfigDir: PinnedVendor {
    const VARIABLE: &'static str;
    const EVIDENCE: &'static str;
}

impl ConfigDir for CodexHome {
    const VARIABLE: &'static str = "CODEX_HOME";
    const EVIDENCE: &'static str = "lock";
}

impl ConfigDir for PiHome {
    const VARIABLE: &'static str = "PI_CODING_AGENT_DIR";
    const EVIDENCE: &'static str = "hook";
}

/// Settings of an agent in a project file, and how they show in a request.
pub(crate) trait AgentSettings: PinnedVendor {
    const MODEL: &'static str;

    /// Further lines of the agent's table.
    const LINES: &'static str = "";

    /// Checks what only this vendor's request shows.
    fn check(exchange: &Exchange);
}

impl AgentSettings for CodexHome {
    const MODEL: &'static str = "scripted-2";

    fn check(exchange: &Exchange) {
        let sent = exchange.body.to_string();
        assert!(sent.contains("`sandbox_mode` is `read-only`"), "{sent}");
    }
}

impl AgentSettings for PiHome {
    const MODEL: &'static str = "scripted-1";
    const LINES: &'static str = "args = [\"--tools\", \"read\"]\n";

    fn check(exchange: &Exchange) {
        assert_eq!(exchange.body["tools"].as_array().unwrap().len(), 1, "{exchange:?}");
    }
}

/// How a person begins another conversation inside a running program.
pub(crate) trait BeginsAnother: PinnedVendor {
    /// The command, and the text that shows that the program has read the command.
    const COMMAND: (&'static str, &'static str);

    /// Waits until the program is in the new conversation.
    fn wait_begun(scene: &VendorScene<Self>, terminal: Terminal, before: &Value);
}

impl BeginsAnother for CodexHome {
    const COMMAND: (&'static str, &'static str) = ("/new", "› /new");

    /// The new conversation has no id before its first message.
    fn wait_begun(_scene: &VendorScene<Self>, mut terminal: Terminal, _before: &Value) {
        terminal.wait_until("an empty screen", |screen| !screen.contents().contains("turns=1"));
    }
}

impl BeginsAnother for CopilotHome {
    const COMMAND: (&'static str, &'static str) = ("/clear", "/clear");

    fn wait_begun(scene: &VendorScene<Self>, _terminal: Terminal, before: &Value) {
        scene.wait_session("coder", |session| {
            session["vendor_session_id"] != before["vendor_session_id"]
        });
    }
}

/// A command that a vendor's program runs with an argument.
pub(crate) trait RunsCommands: PinnedVendor {
    /// The file of the project that defines the command, and its content.
    const COMMAND_FILE: (&'static str, &'static str);

    const COMMAND: &'static str = "greet";

    /// The rest of the prompt that runs the command.
    const ARGUMENT: &'static str = " you";

    /// The prompt that replaces the conversation by a summary, if the program has a command for it.
    const COMPACT: &'static str = "/compact";

    /// A part of the prompt that the model gets for the command with the argument `you`.
    const PROMPT: &'static str = "GREETING for you";
}

/// A command in Markdown, as several programs read it.
const GREETING: &str = "---\ndescription: Greets\n---\nGREETING for $ARGUMENTS\n";

impl RunsCommands for ClaudeHome {
    const COMMAND_FILE: (&'static str, &'static str) = (".claude/commands/greet.md", GREETING);
    const COMPACT: &'static str = "/compact keep ALPHA";
}

impl RunsCommands for CodexHome {
    // It reads no commands of projects.
    const COMMAND_FILE: (&'static str, &'static str) = ("unused", "");
    const COMMAND: &'static str = "init";
    const ARGUMENT: &'static str = "";
    const PROMPT: &'static str = "AGENTS.md";
}

impl RunsCommands for CopilotHome {
    const COMMAND_FILE: (&'static str, &'static str) = (".github/skills/greet/SKILL.md", SKILL);
    const PROMPT: &'static str = "GREETING";
}

/// A skill with arguments.
const SKILL: &str = "---\nname: greet\ndescription: Greets\n---\nGREETING for $ARGUMENTS\n";

impl RunsCommands for GeminiHome {
    const COMMAND_FILE: (&'static str, &'static str) = (
        ".gemini/commands/greet.toml",
        "description = \"Greets\"\nprompt = \"GREETING for {{args}}\"\n",
    );
}

impl RunsCommands for OpencodeHome {
    const COMMAND_FILE: (&'static str, &'static str) = (".opencode/command/greet.md", GREETING);
}

impl RunsCommands for PiHome {
    const COMMAND_FILE: (&'static str, &'static str) = (".pi/prompts/greet.md", GREETING);
}

/// How a program changes files with its own tools.
pub(crate) trait EditsFiles: PinnedVendor {
    /// The arguments of `segue acp` with which the program offers its tools, and does not ask.
    const EDITOR: &'static [&'static str] = Self::RUN;

    /// Changes the settings so that the program offers its tools.
    fn offer_edit_tools(_scene: &mut VendorScene<Self>) {}

    /// Returns the call that creates a file.
    fn write(file: &Path, text: &str) -> String;

    /// Returns the call that replaces a text in a file.
    fn edit(file: &Path, old: &str, new: &str) -> String;
}

/// Returns the marker with which the scripted model calls a tool.
fn call(tool: &str, arguments: &Value) -> String {
    format!("[[call: {tool} {arguments}]]")
}

impl EditsFiles for ClaudeHome {
    fn write(file: &Path, text: &str) -> String {
        call("Write", &json!({"file_path": file, "content": text}))
    }

    fn edit(file: &Path, old: &str, new: &str) -> String {
        call("Edit", &json!({"file_path": file, "old_string": old, "new_string": new}))
    }
}

impl EditsFiles for CodexHome {
    // It offers `apply_patch` only for models that it knows.
    const EDITOR: &'static [&'static str] =
        &["--vendor", "codex", "--permission", "auto", "--model", "gpt-5.5"];

    fn offer_edit_tools(scene: &mut VendorScene<Self>) {
        // The question about a newer model was answered before.
        scene.home.add("[notice.model_migrations]\n\"gpt-5.5\" = \"gpt-6-sol\"\n");
    }

    fn write(file: &Path, text: &str) -> String {
        let added: String = text.lines().map(|line| format!("+{line}\n")).collect();
        patch(file, "Add", &added)
    }

    fn edit(file: &Path, old: &str, new: &str) -> String {
        patch(file, "Update", &format!("@@\n-{old}+{new}"))
    }
}

/// Returns the call of `apply_patch`. The path is relative.
fn patch(file: &Path, action: &str, lines: &str) -> String {
    let name = file.file_name().unwrap().display();
    let patch = format!("*** Begin Patch\n*** {action} File: {name}\n{lines}*** End Patch\n");
    call("apply_patch", &json!(patch))
}

impl EditsFiles for CopilotHome {
    fn write(file: &Path, text: &str) -> String {
        call("create", &json!({"path": file, "file_text": text}))
    }

    fn edit(file: &Path, old: &str, new: &str) -> String {
        call("edit", &json!({"path": file, "old_str": old, "new_str": new}))
    }
}

impl EditsFiles for GeminiHome {
    fn write(file: &Path, text: &str) -> String {
        call("write_file", &json!({"file_path": file, "content": text}))
    }

    fn edit(file: &Path, old: &str, new: &str) -> String {
        let arguments = json!({
            "file_path": file, "instruction": "translate it", "old_string": old, "new_string": new,
        });
        call("replace", &arguments)
    }
}

impl EditsFiles for OpencodeHome {
    fn write(file: &Path, text: &str) -> String {
        call("write", &json!({"filePath": file, "content": text}))
    }

    fn edit(file: &Path, old: &str, new: &str) -> String {
        call("edit", &json!({"filePath": file, "oldString": old, "newString": new}))
    }
}

impl EditsFiles for PiHome {
    fn write(file: &Path, text: &str) -> String {
        call("write", &json!({"path": file, "content": text}))
    }

    fn edit(file: &Path, old: &str, new: &str) -> String {
        call("edit", &json!({"path": file, "edits": [{"oldText": old, "newText": new}]}))
    }
}

/// How a program keeps a list of things to do with its own tool.
pub(crate) trait KeepsPlan: PinnedVendor {
    /// Changes the settings so that the program offers its tool.
    fn offer_plan_tool(_scene: &mut VendorScene<Self>) {}

    /// Returns the calls after which `write it` is in progress and `test it` is pending.
    fn first_plan() -> String;

    /// Returns the calls after which `write it` is completed and `test it` is in progress.
    fn second_plan() -> String;
}

impl KeepsPlan for ClaudeHome {
    fn offer_plan_tool(scene: &mut VendorScene<Self>) {
        scene.world.set("CLAUDE_CODE_ENABLE_TODO_TOOLS", "1");
    }

    fn first_plan() -> String {
        let create = |subject: &str| {
            call("TaskCreate", &json!({"subject": subject, "description": "as agreed"}))
        };
        [
            call("ToolSearch", &json!({"query": "select:TaskCreate,TaskUpdate", "max_results": 5})),
            create("write it"),
            create("test it"),
            call("TaskUpdate", &json!({"taskId": "1", "status": "in_progress"})),
        ]
        .concat()
    }

    fn second_plan() -> String {
        [("1", "completed"), ("2", "in_progress")]
            .map(|(id, status)| call("TaskUpdate", &json!({"taskId": id, "status": status})))
            .concat()
    }
}

impl KeepsPlan for CodexHome {
    fn offer_plan_tool(scene: &mut VendorScene<Self>) {
        scene.home.add("[tools.update_plan]\nenabled = true\n");
    }

    fn first_plan() -> String {
        plan("update_plan", ("plan", "step"), ["in_progress", "pending"])
    }

    fn second_plan() -> String {
        plan("update_plan", ("plan", "step"), ["completed", "in_progress"])
    }
}

impl KeepsPlan for GeminiHome {
    fn first_plan() -> String {
        plan("write_todos", ("todos", "description"), ["in_progress", "pending"])
    }

    fn second_plan() -> String {
        plan("write_todos", ("todos", "description"), ["completed", "in_progress"])
    }
}

impl KeepsPlan for OpencodeHome {
    fn first_plan() -> String {
        plan("todowrite", ("todos", "content"), ["in_progress", "pending"])
    }

    fn second_plan() -> String {
        plan("todowrite", ("todos", "content"), ["completed", "in_progress"])
    }
}

/// Returns the call that writes both steps with these states.
fn plan(tool: &str, (list, text): (&str, &str), [write, test]: [&str; 2]) -> String {
    let mut steps = json!([
        {text: "write it", "status": write},
        {text: "test it", "status": test},
    ]);
    if text == "content" {
        // Only this tool has priorities.
        steps[0]["priority"] = json!("high");
        steps[1]["priority"] = json!("low");
    }
    call(tool, &json!({list: steps}))
}

/// What a vendor's program does with a permission that changes in a conversation.
pub(crate) trait ChangesMode: PinnedVendor {
    /// A resumed conversation keeps the permission `auto`.
    const KEEPS_AUTO: bool = false;
}

impl ChangesMode for ClaudeHome {}
impl ChangesMode for CodexHome {}

impl ChangesMode for CopilotHome {
    const KEEPS_AUTO: bool = true;
}

impl ChangesMode for GeminiHome {}
impl ChangesMode for OpencodeHome {}

/// The names of models that a vendor's program takes, each with a part of the requests that it sends
/// then.
pub(crate) trait ChangesModel: PinnedVendor {
    const MODELS: &'static [(&'static str, &'static str)];
}

impl ChangesModel for ClaudeHome {
    const MODELS: &'static [(&'static str, &'static str)] =
        &[("haiku", "haiku"), ("sonnet", "sonnet"), ("opus", "opus")];
}

impl ChangesModel for CodexHome {
    const MODELS: &'static [(&'static str, &'static str)] = &[("scripted-2", "scripted-2")];
}

impl ChangesModel for GeminiHome {
    const MODELS: &'static [(&'static str, &'static str)] =
        &[("flash", "flash"), ("flash-lite", "flash-lite"), ("pro", "pro")];
}

impl ChangesModel for PiHome {
    const MODELS: &'static [(&'static str, &'static str)] = &[("scripted-1", "scripted-1")];
}
