//! Facts about vendors' programs in which they differ, for tests that are otherwise the same.

use segue_testkit::Terminal;
use segue_testkit::model::Exchange;
use segue_testkit::vendor_scene::{PinnedVendor, VendorScene};
use segue_testkit::vendors::{
    ClaudeHome, CodexHome, CopilotHome, GeminiHome, OpencodeHome, PiHome,
};
use serde_json::Value;

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
