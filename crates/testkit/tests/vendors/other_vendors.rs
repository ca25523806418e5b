//! Gemini CLI, Copilot CLI, `OpenCode` and Pi.

use std::fs;
use std::io::{Seek as _, Write as _};

use segue_testkit::model::AnswerStage;
use segue_testkit::vendors::{command, with_copilot, with_gemini, with_opencode, with_pi};
use segue_testkit::{CommandOutcome, Model, Terminal, World, isolated};
use serde_json::{Value, json};

use crate::{ID, LIMIT, TOOL, assert_carried, assert_tool_ran, world_with};

/// A session id in the format of `OpenCode`.
const OPENCODE_ID: &str = "ses_preset00000000000000000001";

fn gemini(world: &World, arguments: &[&str], prompt: &str) -> CommandOutcome {
    let all = [&["-o", "stream-json"], arguments, &["-p", prompt]].concat();
    CommandOutcome::of(&mut command(world, "gemini", all))
}

fn copilot(world: &World, arguments: &[&str], prompt: &str) -> CommandOutcome {
    let all = [&["--output-format", "json"], arguments, &["-p", prompt]].concat();
    CommandOutcome::of(&mut command(world, "copilot", all))
}

/// Runs `opencode run` with the prompt on standard input, because `OpenCode` adds quotes to an
/// argument that has a space in it.
fn opencode(world: &World, arguments: &[&str], prompt: &str) -> CommandOutcome {
    let mut input = tempfile::tempfile().unwrap();
    input.write_all(prompt.as_bytes()).and_then(|()| input.rewind()).unwrap();
    let all = ["run", "--format", "json"].iter().chain(arguments);
    CommandOutcome::of(command(world, "opencode", all).stdin(input))
}

fn pi(world: &World, arguments: &[&str], prompt: &str) -> CommandOutcome {
    let all = [&["-p"], arguments, &[prompt]].concat();
    CommandOutcome::of(&mut command(world, "pi", all))
}

/// Returns the last event of this type in an output of JSON lines.
fn event(outcome: &CommandOutcome, kind: &str) -> Value {
    let events = outcome.stdout.lines().filter_map(|it| serde_json::from_str::<Value>(it).ok());
    let found = events.rev().find(|it| it["type"] == kind);
    found.unwrap_or_else(|| panic!("no {kind}: {outcome:#?}"))
}

/// Asserts that both turns succeeded, and that the request of the second turn also has the first
/// turn.
fn assert_both_carried(model: &Model, outcomes: [&CommandOutcome; 2]) {
    for outcome in outcomes {
        assert_eq!(outcome.status, 0, "{outcome:#?}");
    }
    let answer = "turns=2 first=<<first ALPHA>> last=<<second BETA>>";
    assert!(outcomes[1].stdout.contains(answer), "{:#?}", outcomes[1]);
    assert_carried(model);
}

#[test]
fn gemini_sends_the_first_turn_again_after_a_resume() {
    isolated(|| {
        let (world, model) = world_with(with_gemini);
        let first = gemini(&world, &["--session-id", ID], "first ALPHA");
        assert_eq!(event(&first, "init")["session_id"], ID);
        let second = gemini(&world, &["--resume", ID], "second BETA");
        assert_eq!(event(&second, "init")["session_id"], ID);
        assert_eq!(event(&second, "result")["status"], "success");
        assert_both_carried(&model, [&first, &second]);
        assert_eq!(gemini(&world, &["--resume", &ID.replace('6', "7")], "x").status, 42);
    });
}

#[test]
fn copilot_sends_the_first_turn_again_after_a_resume() {
    isolated(|| {
        let (world, model) = world_with(with_copilot);
        let first = copilot(&world, &["--session-id", ID], "first ALPHA");
        assert_eq!(event(&first, "result")["sessionId"], ID);
        let second = copilot(&world, &[&format!("--resume={ID}")], "second BETA");
        assert_eq!(event(&second, "result")["sessionId"], ID);
        assert_both_carried(&model, [&first, &second]);
        let unknown = format!("--resume={}", ID.replace('6', "7"));
        assert_eq!(copilot(&world, &[&unknown], "x").status, 1);
    });
}

/// Imports an empty conversation with the id `OPENCODE_ID` into `OpenCode`.
fn import_empty(world: &World) {
    let info = json!({
        "id": OPENCODE_ID, "slug": "preset", "directory": world.project(), "title": "preset",
        "version": "1.18.33", "projectID": "global", "time": {"created": 1, "updated": 1},
    });
    let file = world.root().join("preset.json");
    fs::write(&file, json!({"info": info, "messages": []}).to_string()).unwrap();
    let import = ["import", file.to_str().unwrap()];
    let import = CommandOutcome::of(&mut command(world, "opencode", import));
    assert_eq!(import.status, 0, "{import:#?}");
}

#[test]
fn opencode_sends_the_first_turn_again_after_a_resume() {
    isolated(|| {
        let (world, model) = world_with(with_opencode);
        import_empty(&world);
        let project = world.project().to_str().unwrap().to_owned();
        let run = |prompt| opencode(&world, &["--dir", &project, "-s", OPENCODE_ID], prompt);
        let (first, second) = (run("first ALPHA"), run("second BETA"));
        assert_both_carried(&model, [&first, &second]);
        assert_eq!(event(&second, "text")["sessionID"], OPENCODE_ID);
        assert_eq!(model.conversation_of("BETA").unwrap().session.as_deref(), Some(OPENCODE_ID));
        let unknown = opencode(&world, &["--dir", &project, "-s", "ses_unknown"], "x");
        assert_eq!(unknown.status, 1, "{unknown:#?}");
    });
}

#[test]
fn opencode_sends_a_background_request_for_a_title() {
    isolated(|| {
        let (world, model) = world_with(with_opencode);
        let run = opencode(&world, &[], "first ALPHA");
        assert_eq!(run.status, 0, "{run:#?}");
        assert_eq!(model.conversations().len(), 1, "{:#?}", model.exchanges());
        let title = model.wait_for(|it| it.is_background && it.stage == AnswerStage::Whole);
        assert_eq!(title.user_texts(), ["first ALPHA"]);
    });
}

#[test]
fn pi_sends_the_first_turn_again_after_a_resume() {
    isolated(|| {
        let (world, model) = world_with(with_pi);
        let file = world.root().join("pi.jsonl");
        let time = "2026-11-16T00:00:00.000Z";
        let head = json!({"type": "session", "version": 3, "id": ID, "timestamp": time, "cwd": world.project()});
        fs::write(&file, format!("{head}\n")).unwrap();
        let session = ["--session", file.to_str().unwrap()];
        let first = pi(&world, &session, "first ALPHA");
        let second = pi(&world, &session, "second BETA");
        assert_both_carried(&model, [&first, &second]);
        let json = pi(&world, &["--mode", "json", session[0], session[1]], "third");
        assert_eq!(event(&json, "session")["id"], ID);
        assert_eq!(pi(&world, &["--session", "unknown"], "x").status, 1);
    });
}

#[test]
fn gemini_runs_a_tool_and_sends_its_result() {
    isolated(|| {
        let (world, model) = world_with(with_gemini);
        let run = gemini(&world, &["--approval-mode", "yolo"], TOOL);
        assert_tool_ran(&model, &world, &run);
    });
}

#[test]
fn copilot_runs_a_tool_and_sends_its_result() {
    isolated(|| {
        let (world, model) = world_with(with_copilot);
        let run = copilot(&world, &["--allow-all-tools"], TOOL);
        assert_tool_ran(&model, &world, &run);
    });
}

#[test]
fn opencode_runs_a_tool_and_sends_its_result() {
    isolated(|| {
        let (world, model) = world_with(with_opencode);
        let run = opencode(&world, &["--auto"], TOOL);
        assert_tool_ran(&model, &world, &run);
    });
}

#[test]
fn pi_runs_a_tool_and_sends_its_result() {
    isolated(|| {
        let (world, model) = world_with(with_pi);
        let run = pi(&world, &[], TOOL);
        assert_tool_ran(&model, &world, &run);
    });
}

#[test]
fn gemini_reports_failures_of_the_model() {
    isolated(|| {
        let (world, model) = world_with(with_gemini);
        let cases = [
            ("[[status: 400]]", 144, "refused by the script"),
            ("[[status: 401]]", 145, "UNAUTHENTICATED"),
            ("[[status: 429]]", 173, "Resource has been exhausted"),
            ("[[status: 500]]", 244, "INTERNAL"),
            (LIMIT, 173, "exhausted your daily quota"),
            ("[[cut]]", 1, "terminated"),
        ];
        for (prompt, status, error) in cases {
            let run = gemini(&world, &[], prompt);
            assert_eq!(run.status, status, "{run:#?}");
            let result = event(&run, "result");
            assert_eq!(result["status"], "error", "{result:#}");
            let message = result["error"]["message"].as_str().unwrap();
            assert!(message.contains(error), "{prompt}: {result:#}");
        }
        model.refuse();
        assert_eq!(gemini(&world, &[], "hello").status, 1);
        model.accept();
        assert_eq!(gemini(&world, &[], "hello").status, 0);
    });
}

#[test]
fn copilot_reports_failures_of_the_model() {
    isolated(|| {
        let (world, _model) = world_with(with_copilot);
        for (prompt, code) in [
            ("[[status: 400]]", json!(400)),
            ("[[status: 401]]", json!(401)),
            ("[[status: 429]]", json!(429)),
            (LIMIT, json!(429)),
            ("[[cut]]", Value::Null),
        ] {
            let run = copilot(&world, &[], prompt);
            assert_eq!(run.status, 1, "{run:#?}");
            assert_eq!(event(&run, "session.error")["data"]["statusCode"], code, "{run:#?}");
            assert_eq!(event(&run, "result")["exitCode"], 1, "{run:#?}");
        }
    });
}

#[test]
fn opencode_reports_failures_that_it_does_not_retry() {
    isolated(|| {
        let (world, _model) = world_with(with_opencode);
        for status in [400, 401] {
            let run = opencode(&world, &[], &format!("[[status: {status}]]"));
            assert_eq!(run.status, 1, "{run:#?}");
            assert_eq!(event(&run, "error")["error"]["data"]["statusCode"], status);
        }
    });
}

#[test]
fn opencode_keeps_retrying_after_a_rate_limit() {
    isolated(|| {
        let (world, model) = world_with(with_opencode);
        let mut run = command(&world, "opencode", ["run", "--format", "json", "[[status: 429]]"]);
        let mut run = run.stdout(std::process::Stdio::piped()).spawn().unwrap();
        model.wait_for(|it| !it.is_background && it.number > 4);
        assert_eq!(run.try_wait().unwrap(), None);
        run.kill().unwrap();
        assert!(run.wait_with_output().unwrap().stdout.is_empty());
    });
}

#[test]
fn pi_reports_failures_of_the_model() {
    isolated(|| {
        let (world, model) = world_with(with_pi);
        let cases = [
            ("[[status: 400]]", "400 refused by the script"),
            ("[[status: 401]]", "401 Incorrect API key"),
            ("[[status: 429]]", "429 Rate limit reached"),
            ("[[status: 500]]", "500 The server had an error"),
            (LIMIT, "429 You exceeded your current quota"),
            ("[[cut]]", "terminated"),
        ];
        for (prompt, error) in cases {
            let run = pi(&world, &[], prompt);
            assert_eq!(run.status, 1, "{run:#?}");
            assert!(run.stderr.contains(error), "{run:#?}");
        }
        let json = pi(&world, &["--mode", "json"], "[[status: 401]]");
        assert_eq!(json.status, 0, "{json:#?}");
        assert_eq!(event(&json, "message_end")["message"]["stopReason"], "error");
        model.refuse();
        assert_eq!(pi(&world, &[], "hello").status, 1);
        model.accept();
        assert_eq!(pi(&world, &[], "hello").status, 0);
    });
}

/// Pastes a message of two lines into a program that waits for input. Asserts that the model gets
/// both lines as one message, and that the program draws the first part of a held answer, and the
/// rest when the answer is released.
fn assert_pasted(model: &Model, mut terminal: Terminal, ready: &str) {
    assert!(terminal.shows(ready), "the screen is:\n{}", terminal.contents());
    terminal.write("\x1b[200~GAMMA [[hold: door]]\nDELTA\x1b[201~");
    assert!(terminal.shows("DELTA"), "the screen is:\n{}", terminal.contents());
    terminal.write("\r");
    assert!(terminal.shows("holding door"), "the screen is:\n{}", terminal.contents());
    model.wait_held("door");
    model.release("door");
    assert!(terminal.shows("turns=1"), "the screen is:\n{}", terminal.contents());
    let exchange = model.wait_answered("GAMMA");
    assert_eq!(exchange.user_texts(), ["GAMMA [[hold: door]]\nDELTA"]);
}

#[test]
fn gemini_accepts_a_message_that_is_pasted_during_an_answer() {
    isolated(|| {
        let (world, model) = world_with(with_gemini);
        let arguments = ["--session-id", ID, "-i", "GAMMA [[slow: 2]]"];
        let mut terminal = Terminal::start(&command(&world, "gemini", arguments), 40, 120);
        assert!(terminal.shows("piece 2 of"), "the screen is:\n{}", terminal.contents());
        terminal.write("\x1b[200~DELTA\nEPSILON\x1b[201~");
        assert!(terminal.shows("EPSILON"), "the screen is:\n{}", terminal.contents());
        // For a short time after a paste, Gemini CLI treats the return key as a line break. The
        // slow answer takes longer than that.
        assert!(terminal.shows("turns=1"), "the screen is:\n{}", terminal.contents());
        terminal.write("\r");
        assert!(terminal.shows("turns=2"), "the screen is:\n{}", terminal.contents());
        let asked = model.wait_answered("DELTA");
        assert_eq!(asked.user_texts(), ["GAMMA [[slow: 2]]", "DELTA\nEPSILON"]);
    });
}

#[test]
fn copilot_accepts_a_pasted_message_of_two_lines_in_a_terminal() {
    isolated(|| {
        let (world, model) = world_with(with_copilot);
        let start = command(&world, "copilot", ["--session-id", ID]);
        assert_pasted(&model, Terminal::start(&start, 40, 120), "? help");
    });
}

#[test]
fn opencode_accepts_a_pasted_message_of_two_lines_in_a_terminal() {
    isolated(|| {
        let (world, model) = world_with(with_opencode);
        let start = command(&world, "opencode", [""; 0]);
        assert_pasted(&model, Terminal::start(&start, 40, 120), "Ask anything");
    });
}

#[test]
fn pi_accepts_a_pasted_message_of_two_lines_in_a_terminal() {
    isolated(|| {
        let (world, model) = world_with(with_pi);
        let start = command(&world, "pi", [""; 0]);
        assert_pasted(&model, Terminal::start(&start, 40, 120), "scripted-1");
    });
}

#[test]
fn gemini_and_copilot_ask_whether_to_trust_an_untrusted_folder() {
    isolated(|| {
        let model = Model::start();
        let mut world = World::new("/bin/false");
        with_gemini(&mut world, &model).distrust(&world.project());
        with_copilot(&mut world, &model).distrust(&world.project());
        for (program, asks) in [("gemini", "trust"), ("copilot", "Confirm folder trust")] {
            let mut terminal = Terminal::start(&command(&world, program, [""; 0]), 40, 120);
            assert!(terminal.shows(asks), "the screen is:\n{}", terminal.contents());
        }
        assert_eq!(gemini(&world, &[], "hello").status, 55);
    });
}
