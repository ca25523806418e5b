//! Claude Code and Codex.

use std::fs::OpenOptions;
use std::io::Write as _;
use std::process::Command;

use rustix::fs::{CWD, FileType, Mode, mknodat};
use segue_testkit::model::{AnswerStage, SpeakerRole};
use segue_testkit::vendors::{command, subscribe_claude, with_claude, with_codex};
use segue_testkit::{CommandOutcome, Model, Terminal, World, isolated};
use serde_json::Value;

use crate::{ID, LIMIT, TOOL, assert_carried, assert_tool_ran, world_with};

fn claude(world: &World, arguments: &[&str]) -> CommandOutcome {
    let all = ["-p", "--output-format", "json"].iter().chain(arguments);
    CommandOutcome::of(&mut command(world, "claude", all))
}

fn codex(world: &World, arguments: &[&str]) -> CommandOutcome {
    let retries = ["--disable", "unbounded_connection_retries"];
    let all = ["exec"].iter().chain(&retries).chain(arguments);
    CommandOutcome::of(&mut command(world, "codex", all))
}

/// Runs a first turn of Codex.
fn codex_first_turn(world: &World, prompt: &str) -> CommandOutcome {
    codex(world, &["--json", "--skip-git-repo-check", prompt])
}

/// Returns the JSON that Claude Code printed.
fn result(outcome: &CommandOutcome) -> Value {
    serde_json::from_str(&outcome.stdout).unwrap_or_else(|_| panic!("no result: {outcome:#?}"))
}

/// Returns the id of the conversation that Codex printed.
fn thread_id(outcome: &CommandOutcome) -> String {
    let first = outcome.stdout.lines().next().unwrap_or_default();
    let event: Value = serde_json::from_str(first).unwrap_or_default();
    event["thread_id"].as_str().unwrap_or_else(|| panic!("no thread: {outcome:#?}")).to_owned()
}

#[test]
fn claude_sends_the_first_turn_again_after_a_resume() {
    isolated(|| {
        let (world, model) = world_with(with_claude);
        let first = claude(&world, &["--session-id", ID, "first ALPHA"]);
        assert_eq!(first.status, 0, "{first:#?}");
        let second = claude(&world, &["--resume", ID, "second BETA"]);
        let answer = "turns=2 first=<<first ALPHA>> last=<<second BETA>>";
        assert_eq!(result(&second)["result"], answer, "{second:#?}");
        assert_eq!(assert_carried(&model).session.as_deref(), Some(ID));
    });
}

#[test]
fn codex_sends_the_first_turn_again_after_a_resume() {
    isolated(|| {
        let (world, model) = world_with(with_codex);
        let first = codex_first_turn(&world, "first ALPHA");
        assert_eq!(first.status, 0, "{first:#?}");
        let id = thread_id(&first);
        let second =
            codex(&world, &["resume", "--json", "--skip-git-repo-check", &id, "second BETA"]);
        assert_eq!(second.status, 0, "{second:#?}");
        assert!(second.stdout.contains("turns=2 first=<<first ALPHA>>"), "{second:#?}");
        assert_eq!(assert_carried(&model).session.as_deref(), Some(id.as_str()));
    });
}

#[test]
fn claude_runs_a_tool_and_sends_its_result() {
    isolated(|| {
        let (world, model) = world_with(with_claude);
        let run = claude(&world, &["--allowedTools", "Bash", "--", TOOL]);
        assert_tool_ran(&model, &world, &run);
    });
}

#[test]
fn codex_runs_a_tool_and_sends_its_result() {
    isolated(|| {
        let (world, model) = world_with(with_codex);
        let run =
            codex(&world, &["--json", "--skip-git-repo-check", "-s", "danger-full-access", TOOL]);
        assert_tool_ran(&model, &world, &run);
    });
}

#[test]
fn claude_reports_failures_of_the_model() {
    isolated(|| {
        let (world, model) = world_with(with_claude);
        for status in [400, 401, 403, 404, 413, 429, 500, 529] {
            let run = claude(&world, &[&format!("[[status: {status}]]")]);
            let result = result(&run);
            assert_eq!(run.status, 1, "{run:#?}");
            assert_eq!(result["api_error_status"], status, "{result:#}");
            assert_eq!(result["is_error"], true, "{result:#}");
        }
        let cut = claude(&world, &["[[cut]]"]);
        assert_eq!(cut.status, 1, "{cut:#?}");
        model.refuse();
        let refused = claude(&world, &["hello"]);
        assert_eq!(result(&refused)["api_error_status"], Value::Null, "{refused:#?}");
        model.accept();
        assert_eq!(claude(&world, &["hello"]).status, 0);
    });
}

#[test]
fn claude_reports_the_end_of_a_limit_only_with_a_subscription() {
    isolated(|| {
        let (mut world, _model) = world_with(with_claude);
        let limited = |world: &World| {
            let run = claude(world, &[LIMIT]);
            let result = result(&run);
            assert_eq!(result["api_error_status"], 429, "{run:#?}");
            result["result"].as_str().unwrap().to_owned()
        };
        assert!(limited(&world).contains("rate limit"), "{}", limited(&world));
        subscribe_claude(&mut world);
        assert!(limited(&world).contains("resets Jan 1"), "{}", limited(&world));
    });
}

#[test]
fn codex_reports_failures_of_the_model() {
    isolated(|| {
        let (world, model) = world_with(with_codex);
        let cases = [
            ("[[status: 400]]", "refused by the script"),
            ("[[status: 401]]", "401"),
            ("[[status: 429]]", "429"),
            ("[[status: 500]]", "high demand"),
            ("[[cut]]", "Reconnecting"),
            (LIMIT, "try again at Jan 1st, 2030 10:00 AM"),
        ];
        for (prompt, error) in cases {
            let run = codex_first_turn(&world, prompt);
            assert_eq!(run.status, 1, "{run:#?}");
            assert!(run.stdout.contains("turn.failed"), "{run:#?}");
            assert!(run.stdout.contains(error), "{prompt}: {run:#?}");
        }
        model.refuse();
        assert_eq!(codex_first_turn(&world, "hello").status, 1);
        model.accept();
        assert_eq!(codex_first_turn(&world, "hello").status, 0);
    });
}

/// Asserts that a program in a terminal draws the first part of a held answer, and draws the rest
/// when the answer is released.
fn assert_interactive(model: &Model, terminal: &mut Terminal) {
    model.wait_held("door");
    assert!(terminal.shows("holding door"), "the screen is:\n{}", terminal.contents());
    model.release("door");
    assert!(terminal.shows("turns=1"), "the screen is:\n{}", terminal.contents());
    let exchange = model.wait_answered("GAMMA");
    assert_eq!(exchange.user_texts(), ["GAMMA [[hold: door]]"]);
}

#[test]
fn claude_answers_in_a_terminal_without_asking_questions_first() {
    isolated(|| {
        let (world, model) = world_with(with_claude);
        let start = command(&world, "claude", ["GAMMA [[hold: door]]"]);
        let mut terminal = Terminal::start(&start, 40, 120);
        assert_interactive(&model, &mut terminal);
    });
}

#[test]
fn codex_answers_in_a_terminal_without_asking_questions_first() {
    isolated(|| {
        let (world, model) = world_with(with_codex);
        let start = command(&world, "codex", ["--no-daemon", "GAMMA [[hold: door]]"]);
        let mut terminal = Terminal::start(&start, 40, 120);
        assert_interactive(&model, &mut terminal);
        model.wait_for(|it| it.is_background && it.stage == AnswerStage::Whole);
    });
}

#[test]
fn model_notices_that_a_killed_client_has_disconnected() {
    isolated(|| {
        let (world, model) = world_with(with_claude);
        let mut run = command(&world, "claude", ["-p", "[[hang]]"]).spawn().unwrap();
        model.wait_for(|it| it.stage == AnswerStage::Hanging);
        run.kill().unwrap();
        run.wait().unwrap();
        model.wait_for(|it| it.stage == AnswerStage::Left);
    });
}

const HOOKS: &str = r#"{"hooks": {
    "SessionStart": [{"hooks": [{"type": "command", "command": "echo HOOK"}]}],
    "UserPromptSubmit": [{"hooks": [{"type": "command", "command": "echo HOOK"}]}]
}}"#;

#[test]
fn text_that_claude_adds_to_a_request_is_no_user_message() {
    isolated(|| {
        let (world, model) = world_with(with_claude);
        world.write("CLAUDE.md", "RULES");
        world.write("file", "CONTENT");
        let run = claude(&world, &["--settings", HOOKS, "look at @file"]);
        assert_eq!(run.status, 0, "{run:#?}");
        let asked = model.wait_answered("look");
        assert_eq!(asked.user_texts(), ["look at @file"]);
        assert_eq!(asked.turns.len(), 1);
        let all = asked.body.to_string();
        assert!(["HOOK", "RULES", "CONTENT"].iter().all(|added| all.contains(added)), "{all}");
    });
}

#[test]
fn text_that_codex_adds_to_a_request_is_no_user_message() {
    isolated(|| {
        let (world, model) = world_with(with_codex);
        world.write("AGENTS.md", "RULES");
        let run = codex_first_turn(&world, "look");
        assert_eq!(run.status, 0, "{run:#?}");
        let asked = model.wait_answered("look");
        assert_eq!(asked.user_texts(), ["look"]);
        assert_eq!(asked.turns.len(), 1);
        assert!(asked.body.to_string().contains("RULES"), "{:#}", asked.body);
    });
}

/// Pastes a message while a tool runs, and then lets the tool finish. Asserts that the model gets
/// it as a user message, no matter in which form the vendor sends it.
fn assert_sent_during_tool(model: &Model, world: &World, start: &Command) {
    let pipe = world.project().join("pipe");
    mknodat(CWD, &pipe, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
    let mut tool = OpenOptions::new().read(true).write(true).open(&pipe).unwrap();
    let mut terminal = Terminal::start(start, 40, 120);
    model.wait_answered("DELTA");
    terminal.write("\x1b[200~meanwhile EPSILON\x1b[201~");
    assert!(terminal.shows("EPSILON"), "the screen is:\n{}", terminal.contents());
    terminal.write("\r");
    tool.write_all(b"done\n").unwrap();
    // `shows` reads the terminal while it waits. A program blocks if its terminal's buffer is full.
    assert!(terminal.shows("turns=2"), "the screen is:\n{}", terminal.contents());
    let asked = model.wait_answered("EPSILON");
    assert_eq!(asked.user_texts(), [TOOL_THAT_WAITS, "meanwhile EPSILON"]);
    assert!(asked.texts(SpeakerRole::ToolResult)[0].contains("done"), "{:#?}", asked.turns);
}

/// The shell itself reads the pipe. If a program such as `head` read the file, Claude Code would
/// open it, too.
const TOOL_THAT_WAITS: &str = "DELTA [[tool: read line < pipe; echo $line]]";

#[test]
fn claude_sends_a_message_that_is_pasted_while_a_tool_runs() {
    isolated(|| {
        let (world, model) = world_with(with_claude);
        // Without this permission mode, Claude Code asks its service about each tool.
        let allowed =
            ["--permission-mode=default", "--allowedTools", "Bash", "--", TOOL_THAT_WAITS];
        let start = command(&world, "claude", allowed);
        assert_sent_during_tool(&model, &world, &start);
    });
}

#[test]
fn codex_sends_a_message_that_is_pasted_while_a_tool_runs() {
    isolated(|| {
        let (world, model) = world_with(with_codex);
        let all = ["--no-daemon", "-a", "never", "-s", "danger-full-access", TOOL_THAT_WAITS];
        assert_sent_during_tool(&model, &world, &command(&world, "codex", all));
    });
}
