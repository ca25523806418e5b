//! Prints the results of `segue up`, `segue resume` and `segue scale`, which bring sessions back: a
//! table with the outcome of each agent, and a summary.

pub(crate) mod left_alone;
pub(crate) mod plan;
mod reasons;

use std::collections::BTreeMap;

use segue_core::api::{AgentOutcome, Outcome, OutcomeNote, RestoreReport, SurplusSession};
use segue_core::{Kind, Result};

use super::targets;
use crate::context::{CommandEnding, Context};
use crate::render::sessions::counted;
use crate::render::style::TextTone;
use crate::render::table::{CutPlace, TableCell, TextTable};

/// Prints the outcome of each agent. The exit status reports whether all of them are back.
/// `command` is the command that the user typed, for hints.
pub(crate) fn show(
    report: &RestoreReport,
    command: &str,
    context: &mut Context,
) -> Result<CommandEnding> {
    if context.wants_json() {
        context.output.json(report)?;
    } else {
        let explained = report.agents.iter().filter(|agent| is_explained(agent));
        let explained = explained.map(|agent| (&*agent.of.address, &agent.note));
        reasons::print_table_and_notes(&table(report), explained, context)?;
        context.output.note(&summary(report));
        left_alone::print(&report.left_alone, command, context);
        for session in &report.surplus {
            context.output.note(&surplus(session));
            context.output.hint(&format!("run `{}` to end it", session.stop));
        }
    }
    targets::report(&report.failed, context);
    Ok(ending(report.complete))
}

/// Returns the ending of a command that brings sessions back. `complete` means that all are back.
pub(crate) fn ending(complete: bool) -> CommandEnding {
    CommandEnding::of_answer(!complete, Kind::Partial)
}

fn surplus(session: &SurplusSession) -> String {
    let SurplusSession { address, agent, .. } = session;
    format!("{address} runs, and the project file has no agent `{agent}` any more")
}

fn table(report: &RestoreReport) -> TextTable {
    let mut table =
        TextTable::new(&["NAME", "VENDOR", "OUTCOME", "NOTE"]).cutting(&[("NOTE", CutPlace::End)]);
    let mut shown: BTreeMap<&str, &str> = BTreeMap::new();
    let mut above = "";
    for agent in &report.agents {
        let own = if is_explained(agent) { "" } else { text(&agent.note) };
        let first = shown.entry(own).or_insert(&agent.of.address);
        let note = or_reference(own, above, (*first != agent.of.address).then_some(first));
        above = own;
        table.row([
            TableCell::toned(&agent.of.address, TextTone::Strong),
            TableCell::new(agent.vendor.as_str()),
            TableCell::toned(agent.outcome.word().replace('_', " "), tone(agent.outcome)),
            TableCell::new(note),
        ]);
    }
    table
}

fn text(note: &OutcomeNote) -> &str {
    note.text.as_deref().unwrap_or_default()
}

/// Returns whether the note of a session is printed below the table. The user has to act on such a
/// note, and a cell of the table can be cut.
fn is_explained(agent: &AgentOutcome) -> bool {
    let needs_person =
        matches!(agent.outcome, Outcome::Refused | Outcome::Waiting | Outcome::Fresh);
    !text(&agent.note).is_empty() && (needs_person || !agent.note.hints.is_empty())
}

/// Replaces a note that is the same as in the row above.
const AS_ABOVE: &str = "(as above)";

/// Returns a note. If an earlier row has the same note, returns a reference to that row (the row
/// above, or the row of session `first`), if the reference is shorter.
fn or_reference(own: &str, above: &str, first: Option<&str>) -> String {
    let reference = match first {
        None => return own.to_owned(),
        Some(_) if own == above => AS_ABOVE.to_owned(),
        Some(first) => format!("(as for {first})"),
    };
    if reference.len() < own.len() { reference } else { own.to_owned() }
}

fn summary(report: &RestoreReport) -> String {
    let all = report.agents.len();
    if all == 0 {
        return "there was nothing to bring back".to_owned();
    }
    let with = |outcome| report.agents.iter().filter(|agent| agent.outcome == outcome).count();
    if report.complete {
        let ran = match with(Outcome::Running) {
            0 => String::new(),
            ran if ran == all => ", and ran already".to_owned(),
            ran => format!(", {ran} of them ran already"),
        };
        let asking = match with(Outcome::Waiting) {
            0 => String::new(),
            1 => ", 1 of them asks a question".to_owned(),
            asking => format!(", {asking} of them ask a question"),
        };
        return format!("{}: all there{ran}{asking}", counted(all, "agent"));
    }
    let (refused, fresh) = (with(Outcome::Refused), with(Outcome::Fresh));
    format!(
        "{}: not complete ({refused} refused, {fresh} with a new conversation)",
        counted(all, "agent")
    )
}

fn tone(outcome: Outcome) -> TextTone {
    match outcome {
        Outcome::Refused => TextTone::Bad,
        Outcome::Fresh | Outcome::Waiting => TextTone::Attention,
        Outcome::Started
        | Outcome::Running
        | Outcome::Resumed
        | Outcome::Restored
        | Outcome::Adopted
        | Outcome::HandedOver => TextTone::Good,
    }
}

#[cfg(test)]
pub(super) mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::render::style::Colour;

    /// Makes the JSON of an agent in a report, with these other fields.
    pub(super) fn agent(name: &str, rest: &Value) -> Value {
        let mut agent = json!({
            "session": null, "name": name, "fleet": "shop", "address": format!("shop/{name}"),
            "vendor": "demo", "vendor_session_id": null, "note": null,
        });
        let fields = rest.as_object().into_iter().flatten();
        fields.for_each(|(field, value)| agent[field] = value.clone());
        agent
    }

    fn report(complete: bool) -> RestoreReport {
        serde_json::from_value(json!({ "complete": complete, "agents": [
            agent("coder", &json!({ "outcome": "resumed", "vendor_session_id": "abc" })),
            agent("tester", &json!({
                "outcome": "refused", "note": "two conversations\nmight be it",
            })),
            agent("writer", &json!({ "outcome": "handed_over" })),
        ] }))
        .unwrap()
    }

    #[test]
    fn table_has_the_outcome_of_each_agent() {
        let expected = "\
NAME         VENDOR  OUTCOME      NOTE
shop/coder   demo    resumed
shop/tester  demo    refused
shop/writer  demo    handed over
";
        assert_eq!(table(&report(false)).render(Colour::Off, None), expected);
    }

    fn explained(report: &RestoreReport) -> String {
        let explained = report.agents.iter().filter(|agent| is_explained(agent));
        reasons::text(explained.map(|agent| (&*agent.of.address, &agent.note)), Colour::Off)
    }

    #[test]
    fn narrow_terminal_cuts_neither_reasons_nor_hints() {
        let mut report = report(false);
        let why = "cannot resume `shop/tester`: the transcript of conversation \
                   019f6f9c-0000-7000-8000-000000000001 is gone, and neither a guard nor the \
                   archive has it";
        let fresh =
            "run `segue resume shop/tester --fresh shop/tester` to begin a new conversation";
        let note = OutcomeNote::new(why).hint(fresh).hint("run `segue adopt demo` to see others");
        report.agents[1].note = note;
        let table = table(&report).render(Colour::Off, Some(40));
        assert!(table.contains("shop/tester  demo    refused\n"), "{table}");
        let hint = "  hint: run `segue adopt demo` to see others\n";
        let expected = format!("shop/tester: {why}\n  hint: {fresh}\n{hint}");
        assert_eq!(explained(&report), expected);
    }

    #[test]
    fn sessions_with_the_same_reason_share_one_line() {
        let mut report = report(false);
        report.agents[0].outcome = Outcome::Fresh;
        report.agents[0].note = OutcomeNote::new("two conversations\nmight be it");
        assert_eq!(explained(&report), "shop/coder, shop/tester: two conversations might be it\n");
        let table = table(&report).render(Colour::Off, None);
        assert!(!table.contains("might be it"), "{table}");
    }

    #[test]
    fn note_with_a_command_and_without_a_hint_stays_in_the_table() {
        let mut report = report(false);
        report.agents[0].note = OutcomeNote::new("`segue ls` ran in it");
        report.agents.truncate(1);
        assert_eq!(explained(&report), "");
        let table = table(&report).render(Colour::Off, None);
        assert!(table.contains("`segue ls` ran in it"), "{table}");
    }

    #[test]
    fn note_that_is_repeated_in_the_next_row_becomes_as_above() {
        let mut report = report(false);
        for agent in &mut report.agents {
            agent.outcome = Outcome::Resumed;
            agent.note = OutcomeNote::new("two conversations\nmight be it");
        }
        let text = table(&report).render(Colour::Off, None);
        assert_eq!(text.matches("might be it").count(), 1, "{text}");
        assert_eq!(text.matches(AS_ABOVE).count(), 2, "{text}");
    }

    #[test]
    fn note_that_is_repeated_later_refers_to_the_first_session_with_it() {
        let mut report = report(false);
        let note = OutcomeNote::new("the account is refused: sign in again");
        report.agents[0].note = note.clone();
        report.agents[2].note = note;
        let expected = "\
NAME         VENDOR  OUTCOME      NOTE
shop/coder   demo    resumed      the account is refused: sign in again
shop/tester  demo    refused
shop/writer  demo    handed over  (as for shop/coder)
";
        assert_eq!(table(&report).render(Colour::Off, None), expected);
    }

    #[test]
    fn summary_reports_whether_all_agents_are_back_and_how_many_ask() {
        assert_eq!(
            summary(&report(false)),
            "3 agents: not complete (1 refused, 0 with a new conversation)"
        );
        assert_eq!(summary(&report(true)), "3 agents: all there");
        let mut asking = report(true);
        asking.agents[0].outcome = Outcome::Waiting;
        assert_eq!(summary(&asking), "3 agents: all there, 1 of them asks a question");
        asking.agents[1].outcome = Outcome::Waiting;
        assert_eq!(summary(&asking), "3 agents: all there, 2 of them ask a question");
        let empty = RestoreReport::new(Vec::new(), Vec::new(), Vec::new());
        assert_eq!(summary(&empty), "there was nothing to bring back");
    }

    #[test]
    fn summary_counts_agents_that_ran_already() {
        let mut some = report(true);
        some.agents[0].outcome = Outcome::Running;
        assert_eq!(summary(&some), "3 agents: all there, 1 of them ran already");
        some.agents.truncate(1);
        assert_eq!(summary(&some), "1 agent: all there, and ran already");
    }
}
