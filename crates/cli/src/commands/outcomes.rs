//! What came of bringing sessions back, for `segue up` and `segue resume`.

use std::collections::BTreeSet;

use segue_core::api::{Outcome, PlanReport, RestoreReport};
use segue_core::{Kind, Result};

use crate::context::{Context, Ending};
use crate::render::sessions::counted;
use crate::render::style::Tone;
use crate::render::table::{Cell, Table};

/// Shows what came of each agent; the exit status says whether all are back.
pub(crate) fn show(report: &RestoreReport, context: &mut Context) -> Result<Ending> {
    if context.wants_json() {
        context.output.json(report)?;
    } else {
        let text = table(report).render(context.output.colour());
        context.output.text(&text)?;
        context.output.note(&summary(report));
    }
    Ok(ending(report.complete))
}

/// Says how a command ends that brought sessions back, or not all of them.
pub(crate) fn ending(complete: bool) -> Ending {
    if complete { Ending::Done } else { Ending::Told(Kind::Partial) }
}

/// Shows what would be done.
pub(crate) fn show_plan(report: &PlanReport, context: &mut Context) -> Result<Ending> {
    if context.wants_json() {
        context.output.json(report)?;
    } else {
        let text = plan_table(report).render(context.output.colour());
        context.output.text(&text)?;
        context.output.note("this is the plan; nothing was changed");
    }
    Ok(Ending::Done)
}

fn table(report: &RestoreReport) -> Table {
    let mut table = Table::new(&["NAME", "VENDOR", "OUTCOME", "NOTE"]);
    let mut said = BTreeSet::new();
    for agent in &report.agents {
        let note = agent.note.as_deref().unwrap_or_default();
        // What holds for many is said once.
        let again = !said.insert(note) && note.len() > AS_ABOVE.len();
        let note = if again { AS_ABOVE } else { note };
        table.row([
            Cell::toned(&agent.name, Tone::Strong),
            Cell::new(agent.vendor.as_str()),
            Cell::toned(agent.outcome.word().replace('_', " "), tone(agent.outcome)),
            Cell::new(note),
        ]);
    }
    table
}

/// Stands for a note that was shown before.
const AS_ABOVE: &str = "(as above)";

fn plan_table(report: &PlanReport) -> Table {
    let mut table = Table::new(&["NAME", "VENDOR", "CONVERSATION", "WHAT WOULD BE DONE"]);
    for agent in &report.plan {
        let conversation = agent.vendor_session_id.as_ref().map_or("-", |id| id.as_str());
        table.row([
            Cell::toned(&agent.name, Tone::Strong),
            Cell::new(agent.vendor.as_str()),
            Cell::new(conversation),
            Cell::new(&agent.decision),
        ]);
    }
    table
}

fn summary(report: &RestoreReport) -> String {
    let all = report.agents.len();
    if all == 0 {
        return "there was nothing to bring back".to_owned();
    }
    let waiting = report.agents.iter().filter(|agent| agent.outcome == Outcome::Waiting).count();
    if report.complete && waiting > 0 {
        return format!(
            "{}: all there, {waiting} of them ask you something",
            counted(all, "agent")
        );
    }
    if report.complete {
        return format!("{}: all there", counted(all, "agent"));
    }
    let refused = report.agents.iter().filter(|agent| agent.outcome == Outcome::Refused).count();
    let blank = report.agents.iter().filter(|agent| agent.outcome == Outcome::Fresh).count();
    format!("{}: not complete ({refused} refused, {blank} begun afresh)", counted(all, "agent"))
}

fn tone(outcome: Outcome) -> Tone {
    match outcome {
        Outcome::Refused => Tone::Bad,
        Outcome::Fresh | Outcome::Waiting => Tone::Attention,
        Outcome::Started
        | Outcome::Attached
        | Outcome::Resumed
        | Outcome::Restored
        | Outcome::Adopted
        | Outcome::HandedOver => Tone::Good,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::render::style::Colour;

    fn report(complete: bool) -> RestoreReport {
        serde_json::from_value(json!({ "complete": complete, "agents": [
            { "session": null, "name": "shop/coder", "vendor": "demo", "outcome": "resumed",
              "vendor_session_id": "abc", "note": null },
            { "session": null, "name": "shop/tester", "vendor": "demo", "outcome": "refused",
              "vendor_session_id": null, "note": "two conversations\nmight be it" },
            { "session": null, "name": "shop/writer", "vendor": "demo", "outcome": "handed_over",
              "vendor_session_id": null, "note": null },
        ] }))
        .unwrap()
    }

    #[test]
    fn each_agent_has_its_outcome() {
        let expected = "\
NAME         VENDOR  OUTCOME      NOTE
shop/coder   demo    resumed
shop/tester  demo    refused      two conversations might be it
shop/writer  demo    handed over
";
        assert_eq!(table(&report(false)).render(Colour::Off), expected);
    }

    #[test]
    fn what_holds_for_many_is_said_once() {
        let mut report = report(false);
        for number in [0, 2] {
            report.agents[number].note = Some("two conversations\nmight be it".to_owned());
        }
        let text = table(&report).render(Colour::Off);
        assert_eq!(text.matches("might be it").count(), 1, "{text}");
        assert_eq!(text.matches(AS_ABOVE).count(), 2, "{text}");
    }

    #[test]
    fn the_summary_says_whether_everybody_is_back() {
        assert_eq!(summary(&report(false)), "3 agents: not complete (1 refused, 0 begun afresh)");
        assert_eq!(summary(&report(true)), "3 agents: all there");
        let mut asking = report(true);
        asking.agents[0].outcome = Outcome::Waiting;
        assert_eq!(summary(&asking), "3 agents: all there, 1 of them ask you something");
        let nobody = RestoreReport { agents: Vec::new(), complete: true };
        assert_eq!(summary(&nobody), "there was nothing to bring back");
    }

    #[test]
    fn a_plan_names_the_conversation() {
        let report: PlanReport = serde_json::from_value(json!({ "plan": [
            { "session": null, "name": "shop/coder", "vendor": "demo",
              "decision": "resume", "vendor_session_id": "abc" },
            { "session": null, "name": "shop/new", "vendor": "demo",
              "decision": "start", "vendor_session_id": null },
        ] }))
        .unwrap();
        let expected = "\
NAME        VENDOR  CONVERSATION  WHAT WOULD BE DONE
shop/coder  demo    abc           resume
shop/new    demo    -             start
";
        assert_eq!(plan_table(&report).render(Colour::Off), expected);
    }
}
