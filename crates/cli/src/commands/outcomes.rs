//! Prints the results of `segue up`, `segue resume` and `segue scale`, which bring sessions back.

use std::collections::BTreeMap;

use segue_core::api::{
    AgentOutcome, LeftAlone, Outcome, PlanReport, PlannedDecision, PlannedOutcome, RestoreReport,
    SurplusSession,
};
use segue_core::rules::bringing_back::LeftAloneReason;
use segue_core::{Kind, Result};

use super::targets;
use crate::context::{CommandEnding, Context};
use crate::render::plain::one_line;
use crate::render::sessions::{NAMED_SESSIONS, counted};
use crate::render::style::{Colour, TextTone};
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
        let table = table(report);
        context.output.table(&table)?;
        let explained = report.agents.iter().filter(|agent| is_explained(agent));
        let explained = explained.map(|agent| (&*agent.of.address, own_note(agent)));
        let reasons = reasons(explained, context.output.colour());
        context.output.text(&reasons)?;
        context.output.note(&summary(report));
        show_left_alone(&report.left_alone, command, context);
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
    if complete { CommandEnding::Done } else { CommandEnding::Reported(Kind::Partial) }
}

/// Prints the plan of `segue resume --plan`.
pub(crate) fn show_plan(
    report: &PlanReport,
    command: &str,
    context: &mut Context,
) -> Result<CommandEnding> {
    if context.wants_json() {
        context.output.json(report)?;
    } else {
        let table = plan_table(report);
        context.output.table(&table)?;
        let explained = report.plan.iter().filter(|agent| short_plan(agent).is_some());
        let explained = explained.map(|agent| (&*agent.of.address, &*agent.note));
        let reasons = reasons(explained, context.output.colour());
        context.output.text(&reasons)?;
        let sessions = counted(report.to_bring_back, "session");
        context.output.note(&format!("{sessions} would be brought back; nothing was changed"));
        show_left_alone(&report.left_alone, command, context);
    }
    targets::report(&report.failed, context);
    Ok(ending(report.failed.is_empty()))
}

fn show_left_alone(sessions: &[LeftAlone], command: &str, context: &mut Context) {
    if let Some(note) = left_alone(sessions) {
        context.output.note(&note);
    }
    if let Some(hint) = start_hint(sessions, command) {
        context.output.hint(&hint);
    }
}

fn surplus(session: &SurplusSession) -> String {
    let SurplusSession { address, agent, .. } = session;
    format!("{address} runs, and the project file has no agent `{agent}` any more")
}

/// Returns the note about sessions that were left alone, with the reasons. It names at most
/// [`NAMED_SESSIONS`] sessions. `None` if there are none.
pub(crate) fn left_alone(sessions: &[LeftAlone]) -> Option<String> {
    let describe = |it: &LeftAlone| match &it.goes_on_as {
        Some(next) => format!("{} (goes on as {next})", it.address),
        None => format!("{} ({})", it.address, it.why.as_str().replace('_', " ")),
    };
    let mut named: Vec<String> = sessions.iter().take(NAMED_SESSIONS).map(describe).collect();
    if sessions.len() > NAMED_SESSIONS {
        named.push(format!("and {} more", sessions.len() - NAMED_SESSIONS));
    }
    (!named.is_empty()).then(|| format!("left alone: {}", named.join(", ")))
}

/// Returns a hint with the command that starts the sessions that were left alone. `None` if there
/// are none, or if all of them go on in other sessions or run on other machines.
fn start_hint(sessions: &[LeftAlone], command: &str) -> Option<String> {
    let is_startable = |it: &&LeftAlone| {
        it.goes_on_as.is_none() && it.why.known() != Some(LeftAloneReason::OtherMachine)
    };
    let ended: Vec<&LeftAlone> = sessions.iter().filter(is_startable).collect();
    // `--stopped` does not start sessions that never ran here. The user has to name them.
    let never_ran = |it: &&&LeftAlone| it.why.known() == Some(LeftAloneReason::NeverRan);
    let named = ended.iter().all(|it| never_ran(&it));
    let first = ended.iter().find(|it| !never_ran(it)).or(ended.first())?;
    let one = if command.starts_with("up") {
        format!("segue {command} {}", first.name)
    } else {
        format!("segue resume {}", first.address)
    };
    Some(match ended.len() {
        1 => format!("run `{one}` to start it all the same"),
        _ if named => format!("name the ones that are to start, such as `{one}`"),
        _ => {
            format!("run `segue {command} --stopped` to start those as well, or name one: `{one}`")
        }
    })
}

fn table(report: &RestoreReport) -> TextTable {
    let mut table =
        TextTable::new(&["NAME", "VENDOR", "OUTCOME", "NOTE"]).cutting(&[("NOTE", CutPlace::End)]);
    let mut shown: BTreeMap<&str, &str> = BTreeMap::new();
    let mut above = "";
    for agent in &report.agents {
        let own = if is_explained(agent) { "" } else { own_note(agent) };
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

fn own_note(agent: &AgentOutcome) -> &str {
    agent.note.as_deref().unwrap_or_default()
}

/// Returns whether the note of a session is printed below the table. The user has to act on such a
/// note, and a cell of the table can be cut.
fn is_explained(agent: &AgentOutcome) -> bool {
    let note = own_note(agent);
    let needs_person =
        matches!(agent.outcome, Outcome::Refused | Outcome::Waiting | Outcome::Fresh);
    !note.is_empty() && (needs_person || note.contains(COMMAND))
}

/// A note that contains this text has a command for the user to copy.
const COMMAND: &str = "`segue ";
/// Begins the first hint of a note. The hints are separated by `; `.
const HINT: &str = "; run `segue ";

/// Returns the reasons of the notes, one per line, each with its hints below it. Sessions with the
/// same note share a line.
fn reasons<'a>(notes: impl Iterator<Item = (&'a str, &'a str)>, colour: Colour) -> String {
    let mut grouped: Vec<(&str, Vec<&str>)> = Vec::new();
    for (address, note) in notes {
        match grouped.iter_mut().find(|(known, _)| *known == note) {
            Some((_, addresses)) => addresses.push(address),
            None => grouped.push((note, vec![address])),
        }
    }
    let text = |(note, addresses): &(&str, Vec<&str>)| {
        let names = addresses[..addresses.len().min(NAMED_SESSIONS)].join(", ");
        let names = match addresses.len().checked_sub(NAMED_SESSIONS) {
            None | Some(0) => names,
            Some(more) => format!("{names} and {more} more"),
        };
        let note = one_line(note);
        let (reason, hints) = match note.find(HINT) {
            Some(at) => (&note[..at], &note[at..]),
            None => (&*note, ""),
        };
        let label = colour.paint(TextTone::Help, "hint:");
        let hints = hints.split("; ").filter(|hint| !hint.is_empty());
        let hints: String = hints.map(|hint| format!("  {label} {hint}\n")).collect();
        format!("{}: {reason}\n{hints}", colour.paint(TextTone::Strong, &names))
    };
    grouped.iter().map(text).collect()
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

fn plan_table(report: &PlanReport) -> TextTable {
    let mut table = TextTable::new(&["NAME", "VENDOR", "CONVERSATION", "WHAT WOULD BE DONE"])
        .cutting(&[("CONVERSATION", CutPlace::End)]);
    for agent in &report.plan {
        let conversation = agent.vendor_session_id.as_ref().map_or("-", |id| id.as_str());
        table.row([
            TableCell::toned(&agent.of.address, TextTone::Strong),
            TableCell::new(agent.vendor.as_str()),
            TableCell::new(conversation),
            TableCell::new(short_plan(agent).unwrap_or(&agent.note)),
        ]);
    }
    table
}

/// Returns the short form of a decision whose reason is printed below the table. `None` for the
/// other decisions.
fn short_plan(agent: &PlannedOutcome) -> Option<&'static str> {
    match agent.decision {
        PlannedDecision::Waiting => Some("runs and waits"),
        PlannedDecision::Fresh => Some("begin afresh"),
        PlannedDecision::Refuse => Some("refuse"),
        PlannedDecision::Running
        | PlannedDecision::Rest
        | PlannedDecision::Resume
        | PlannedDecision::Restore
        | PlannedDecision::Adopt
        | PlannedDecision::Start => None,
    }
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
            1 => ", 1 of them asks you something".to_owned(),
            asking => format!(", {asking} of them ask you something"),
        };
        return format!("{}: all there{ran}{asking}", counted(all, "agent"));
    }
    let (refused, blank) = (with(Outcome::Refused), with(Outcome::Fresh));
    format!("{}: not complete ({refused} refused, {blank} begun afresh)", counted(all, "agent"))
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
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn agent(name: &str, rest: &Value) -> Value {
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
        reasons(explained.map(|agent| (&*agent.of.address, own_note(agent))), Colour::Off)
    }

    #[test]
    fn narrow_terminal_cuts_neither_reasons_nor_hints() {
        let mut report = report(false);
        let why = "cannot resume `shop/tester`: the transcript of conversation \
                   019f6f9c-0000-7000-8000-000000000001 is gone, and neither a guard nor the \
                   archive has it";
        let fresh = "run `segue resume shop/tester --fresh shop/tester` to begin anew";
        let note = format!("{why}; {fresh}; run `segue adopt demo` to see others");
        report.agents[1].note = Some(note);
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
        report.agents[0].note = Some("two conversations\nmight be it".to_owned());
        assert_eq!(explained(&report), "shop/coder, shop/tester: two conversations might be it\n");
        let table = table(&report).render(Colour::Off, None);
        assert!(!table.contains("might be it"), "{table}");
    }

    #[test]
    fn reason_of_many_sessions_names_the_first_and_counts_the_others() {
        let addresses: Vec<String> = (0..7).map(|number| format!("shop/a{number}")).collect();
        let notes = addresses.iter().map(|address| (&**address, "the account is refused"));
        let expected = "shop/a0, shop/a1, shop/a2, shop/a3, shop/a4 and 2 more: \
                        the account is refused\n";
        assert_eq!(reasons(notes, Colour::Off), expected);
    }

    #[test]
    fn semicolon_in_a_reason_does_not_begin_a_hint() {
        let notes = [("shop/a", "asks for permission: `ls; pwd`; run `segue answer shop/a yes`")];
        let expected = "shop/a: asks for permission: `ls; pwd`\n  \
                        hint: run `segue answer shop/a yes`\n";
        assert_eq!(reasons(notes.into_iter(), Colour::Off), expected);
    }

    #[test]
    fn note_that_is_repeated_in_the_next_row_becomes_as_above() {
        let mut report = report(false);
        for agent in &mut report.agents {
            agent.outcome = Outcome::Resumed;
            agent.note = Some("two conversations\nmight be it".to_owned());
        }
        let text = table(&report).render(Colour::Off, None);
        assert_eq!(text.matches("might be it").count(), 1, "{text}");
        assert_eq!(text.matches(AS_ABOVE).count(), 2, "{text}");
    }

    #[test]
    fn note_that_is_repeated_later_refers_to_the_first_session_with_it() {
        let mut report = report(false);
        report.agents[0].note = Some("the account is refused: sign in again".to_owned());
        report.agents[2].note = Some("the account is refused: sign in again".to_owned());
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
        assert_eq!(summary(&report(false)), "3 agents: not complete (1 refused, 0 begun afresh)");
        assert_eq!(summary(&report(true)), "3 agents: all there");
        let mut asking = report(true);
        asking.agents[0].outcome = Outcome::Waiting;
        assert_eq!(summary(&asking), "3 agents: all there, 1 of them asks you something");
        asking.agents[1].outcome = Outcome::Waiting;
        assert_eq!(summary(&asking), "3 agents: all there, 2 of them ask you something");
        let nobody = RestoreReport::new(Vec::new(), Vec::new(), Vec::new());
        assert_eq!(summary(&nobody), "there was nothing to bring back");
    }

    #[test]
    fn summary_counts_agents_that_ran_already() {
        let mut some = report(true);
        some.agents[0].outcome = Outcome::Running;
        assert_eq!(summary(&some), "3 agents: all there, 1 of them ran already");
        some.agents.truncate(1);
        assert_eq!(summary(&some), "1 agent: all there, and ran already");
    }

    fn resting(name: &str, why: &str, goes_on_as: Option<&str>) -> LeftAlone {
        serde_json::from_value(json!({
            "session": "0198f9d2-0000-7000-8000-000000000001", "name": name, "fleet": "shop",
            "address": format!("shop/{name}"), "vendor": "demo", "why": why,
            "goes_on_as": goes_on_as,
        }))
        .unwrap()
    }

    #[test]
    fn left_alone_sessions_are_named_with_the_command_that_starts_them() {
        assert_eq!((left_alone(&[]), start_hint(&[], "up")), (None, None));
        let one = [resting("coder", "stopped", None)];
        assert_eq!(left_alone(&one).unwrap(), "left alone: shop/coder (stopped)");
        assert_eq!(
            start_hint(&one, "up").unwrap(),
            "run `segue up coder` to start it all the same"
        );
        let resumed = "run `segue resume shop/coder` to start it all the same";
        assert_eq!(start_hint(&one, "resume --all").unwrap(), resumed);
        let two = [resting("coder", "stopped", None), resting("tester", "quit", None)];
        let hint = "run `segue resume --all --stopped` to start those as well, or name one: \
                    `segue resume shop/coder`";
        assert_eq!(start_hint(&two, "resume --all").unwrap(), hint);
        let adopted = [resting("a", "never_ran", None), resting("b", "never_ran", None)];
        assert_eq!(left_alone(&adopted[..1]).unwrap(), "left alone: shop/a (never ran)");
        let hint = "name the ones that are to start, such as `segue resume shop/a`";
        assert_eq!(start_hint(&adopted, "resume").unwrap(), hint);
        let gone_on = [resting("old", "handed_over", Some("shop/new"))];
        assert_eq!(left_alone(&gone_on).unwrap(), "left alone: shop/old (goes on as shop/new)");
        assert_eq!(start_hint(&gone_on, "up"), None);
        let many: Vec<LeftAlone> =
            (0..7).map(|number| resting(&format!("a{number}"), "stopped", None)).collect();
        assert!(left_alone(&many).unwrap().ends_with("shop/a4 (stopped), and 2 more"));
    }

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
        assert_eq!(plan_table(&report).render(Colour::Off, None), expected);
    }
}
