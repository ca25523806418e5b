//! An agent that leads others: it starts three agents of different vendors with the tools of Segue,
//! gives them work, and gets their reports, while everything is killed twice.

use segue_testkit::model::{Exchange, SpeakerRole};
use segue_testkit::{Model, World, isolated, scene};

use crate::with_vendors;

/// The workers: names and vendors.
const WORKERS: [(&str, &str); 3] = [("one", "claude"), ("two", "codex"), ("three", "copilot")];

#[test]
fn supervisor_gets_the_reports_of_three_vendors_once_although_everything_is_killed_twice() {
    isolated(|| {
        let (mut world, model) = with_vendors(&["claude", "codex", "copilot"]);
        // The tests may run as root.
        world.set("IS_SANDBOX", "1");
        // The scripted model cannot search for tools.
        world.set("ENABLE_TOOL_SEARCH", "false");
        let run = ["run", "-d", "--vendor", "codex", "--permission", "auto", "--mcp", "--name"];
        let run = world.command(run.iter().chain(&["lead", &starts()])).output().unwrap();
        assert!(run.status.success(), "{run:?}");
        tool_results(&model, "LEAD", WORKERS.len());
        for (worker, _) in WORKERS {
            model.wait_answered(&format!("hello {worker}"));
        }
        kill_and_resume(&world);
        world.ok(["send", "lead", "--no-wait", &orders()]);
        for (worker, _) in WORKERS {
            let report = format!("REPORT-{worker}");
            model.wait_for(|it| {
                let is_worker = !it.is_background && !it.mentions("LEAD");
                is_worker && it.mentions(&report) && it.turns.iter().any(is_reported)
            });
        }
        // The lead is in the middle of a turn, so it has got none of the reports.
        model.wait_held("BUSY");
        assert_eq!(reports(&newest(&model)), [0; 3]);
        kill_and_resume(&world);
        model.wait_for(|it| !it.is_background && it.mentions("LEAD") && reports(it) == [1; 3]);
        scene::wait_session(&world, "lead", |session| {
            session["status"] == "idle" && session["queued_messages"] == 0
        });
        assert_eq!(reports(&newest(&model)), [1; 3]);
    });
}

/// The message with which the lead starts the workers.
fn starts() -> String {
    let start = |(name, vendor): (&str, &str)| {
        format!(
            "[[mcp: agent_start {{\"vendor\": \"{vendor}\", \"name\": \"{name}\", \
             \"permission\": \"auto\", \"mcp\": true, \"prompt\": \"hello {name}\"}}]]"
        )
    };
    format!("LEAD {}", WORKERS.map(start).join(" "))
}

/// The message with which the lead asks the workers for their reports, and then stays busy.
fn orders() -> String {
    let send = |(name, _): (&str, &str)| {
        let report = format!(
            "[[mcp: task_report {{\\\"state\\\": \\\"done\\\", \\\"text\\\": \\\"REPORT-{name}\\\"}}]]"
        );
        format!("[[mcp: agent_send {{\"session\": \"{name}\", \"text\": \"work {report}\"}}]]")
    };
    format!("orders {} [[hold: BUSY]]", WORKERS.map(send).join(" "))
}

/// Kills every process of the world, and brings all sessions back.
fn kill_and_resume(world: &World) {
    world.kill_everything();
    world.ok(["resume", "--all"]);
    for name in WORKERS.map(|(name, _)| name).into_iter().chain(["lead"]) {
        scene::wait_session(world, name, |session| session["status"] == "idle");
    }
}

/// Waits for a request with this many results of tools in the conversation with this message.
fn tool_results(model: &Model, message: &str, count: usize) {
    model.wait_for(|it| {
        let results = it.turns.iter().filter(|turn| turn.role == SpeakerRole::ToolResult);
        !it.is_background && it.mentions(message) && results.count() == count
    });
}

/// Returns whether a turn is the result of a report.
fn is_reported(turn: &segue_testkit::model::ExchangePart) -> bool {
    turn.role == SpeakerRole::ToolResult && turn.text.contains("\"reported\"")
}

/// Returns the newest request of the lead.
fn newest(model: &Model) -> Exchange {
    model.conversation_of("LEAD").unwrap()
}

/// Returns how many messages of a conversation have the report of each worker.
fn reports(exchange: &Exchange) -> [usize; 3] {
    WORKERS.map(|(worker, _)| {
        let report = format!("REPORT-{worker}");
        let is_report = |text: &str| text.contains(&report) && !text.contains("[[mcp");
        let messages = exchange.turns.iter().filter(|turn| turn.role == SpeakerRole::User);
        messages.filter(|turn| is_report(&turn.text)).count()
    })
}
