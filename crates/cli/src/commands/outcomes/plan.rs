//! Prints the plan of `segue resume --plan`: what would be done with each session.

use segue_core::Result;
use segue_core::api::{PlanReport, PlannedDecision, PlannedOutcome};

use super::{ending, left_alone, reasons};
use crate::commands::targets;
use crate::context::{CommandEnding, Context};
use crate::render::sessions::counted;
use crate::render::style::TextTone;
use crate::render::table::{CutPlace, TableCell, TextTable};

/// Prints the plan of `segue resume --plan`.
pub(crate) fn show(
    report: &PlanReport,
    command: &str,
    context: &mut Context,
) -> Result<CommandEnding> {
    if context.wants_json() {
        context.output.json(report)?;
    } else {
        let explained = report.plan.iter().filter(|agent| short_form(agent).is_some());
        let explained = explained.map(|agent| (&*agent.of.address, &agent.note));
        reasons::print_table_and_notes(&table(report), explained, context)?;
        let sessions = counted(report.to_bring_back, "session");
        context.output.note(&format!("{sessions} would be brought back; nothing was changed"));
        left_alone::print(&report.left_alone, command, context);
    }
    targets::report(&report.failed, context);
    Ok(ending(report.failed.is_empty()))
}

fn table(report: &PlanReport) -> TextTable {
    let mut table = TextTable::new(&["NAME", "VENDOR", "CONVERSATION", "WHAT WOULD BE DONE"])
        .cutting(&[("CONVERSATION", CutPlace::End)]);
    for agent in &report.plan {
        let conversation = agent.vendor_session_id.as_ref().map_or("-", |id| id.as_str());
        table.row([
            TableCell::toned(&agent.of.address, TextTone::Strong),
            TableCell::new(agent.vendor.as_str()),
            TableCell::new(conversation),
            TableCell::new(short_form(agent).unwrap_or(super::text(&agent.note))),
        ]);
    }
    table
}

/// Returns the short form of a decision whose reason is printed below the table. `None` for the
/// other decisions.
fn short_form(agent: &PlannedOutcome) -> Option<&'static str> {
    match agent.decision {
        PlannedDecision::Waiting => Some("runs and waits"),
        PlannedDecision::Fresh => Some("begin a new conversation"),
        PlannedDecision::Refuse => Some("refuse"),
        PlannedDecision::Running
        | PlannedDecision::Rest
        | PlannedDecision::Resume
        | PlannedDecision::Restore
        | PlannedDecision::Adopt
        | PlannedDecision::Start => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::tests::agent;
    use super::*;
    use crate::render::style::Colour;

    #[test]
    fn plan_table_has_the_conversation_and_the_decision() {
        let report: PlanReport = serde_json::from_value(json!({ "plan": [
            agent("coder", &json!({
                "decision": "resume", "note": "resume", "vendor_session_id": "abc",
            })),
            agent("new", &json!({ "decision": "start", "note": "start: nothing was said yet" })),
            agent("old", &json!({
                "decision": "refuse", "note": "refuse: the folder it works in is gone",
            })),
        ] }))
        .unwrap();
        let expected = "\
NAME        VENDOR  CONVERSATION  WHAT WOULD BE DONE
shop/coder  demo    abc           resume
shop/new    demo    -             start: nothing was said yet
shop/old    demo    -             refuse
";
        assert_eq!(table(&report).render(Colour::Off, None), expected);
    }
}
