//! `segue doctor`: compares the store, the processes and the files, and repairs differences.

use clap::Args;
use segue_core::api::{DoctorReport, Finding, Severity};
use segue_core::{Kind, Result};

use crate::context::{CommandEnding, Context};
use crate::progress::{self, AwaitedWork, with_progress};
use crate::render::plain::one_line;
use crate::render::style::{Colour, TextTone};

/// Compare store, processes and files; report each difference and how to repair it
#[derive(Debug, Args)]
#[command(after_help = "The exit status is 0 if nothing is wrong or everything was repaired.\n\n\
    Examples:\n  segue doctor\n  segue doctor --fix")]
pub(crate) struct DoctorArguments {
    /// Repair what can be repaired without losing anything
    #[arg(long)]
    pub(crate) fix: bool,
}

pub(crate) async fn run(
    arguments: &DoctorArguments,
    context: &mut Context,
) -> Result<CommandEnding> {
    let client = progress::connect(context).await?;
    let work = AwaitedWork::new("comparing store, processes and files");
    let work = work.after_interrupt("the daemon continues", "run `segue doctor` again");
    let report = with_progress(context, work, client.doctor(arguments.fix)).await?;
    if context.wants_json() {
        context.output.json(&report)?;
    } else {
        let text = text(&report, context.output.colour());
        context.output.text(&text)?;
    }
    let has_open_findings = report.findings.iter().any(is_open);
    if !arguments.fix && report.findings.iter().any(|it| is_open(it) && it.curable) {
        context.output.hint("run `segue doctor --fix` to repair what can be repaired");
    }
    Ok(CommandEnding::of_answer(has_open_findings, Kind::Internal))
}

/// Returns whether a finding still needs an action: it is not a note and not fixed.
fn is_open(finding: &Finding) -> bool {
    finding.severity != Severity::Note && !finding.fixed
}

fn text(report: &DoctorReport, colour: Colour) -> String {
    let is_note = |finding: &Finding| finding.severity == Severity::Note;
    let is_well = report.findings.iter().all(is_note);
    let verdict = if is_well { "nothing is wrong\n" } else { "" };
    let findings = report.findings.iter().map(|finding| entry(finding, colour));
    std::iter::once(verdict.to_owned()).chain(findings).collect()
}

fn entry(finding: &Finding, colour: Colour) -> String {
    let (word, tone) = label(finding);
    let what = format!("{} {}\n", colour.paint(tone, word), one_line(&finding.what));
    match &finding.cure {
        Some(cure) if !finding.fixed => format!("{what}  cure: {}\n", one_line(cure)),
        _ => what,
    }
}

fn label(finding: &Finding) -> (&'static str, TextTone) {
    match finding.severity {
        _ if finding.fixed => ("fixed:", TextTone::Good),
        Severity::Note => ("note:", TextTone::Faint),
        Severity::Warning => ("warning:", TextTone::Attention),
        Severity::Problem => ("problem:", TextTone::Bad),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn finding(severity: Severity, what: &str, cure: Option<&str>, fixed: bool) -> Finding {
        let (what, cure) = (what.to_owned(), cure.map(str::to_owned));
        Finding { severity, what, cure, curable: true, fixed }
    }

    #[test]
    fn finding_is_shown_with_its_cure_until_it_is_fixed() {
        let findings = vec![
            finding(Severity::Problem, "the store is\ngone", Some("rebuild it"), false),
            finding(Severity::Warning, "a launch folder is torn", None, false),
            finding(Severity::Problem, "a process is left over", Some("end it"), true),
            finding(Severity::Note, "logout ends the daemon", Some("run `enable-linger`"), false),
        ];
        let expected = "\
problem: the store is gone
  cure: rebuild it
warning: a launch folder is torn
fixed: a process is left over
note: logout ends the daemon
  cure: run `enable-linger`
";
        assert_eq!(text(&DoctorReport { findings }, Colour::Off), expected);
        assert_eq!(text(&DoctorReport { findings: vec![] }, Colour::Off), "nothing is wrong\n");
    }

    #[test]
    fn notes_and_fixed_findings_are_not_open() {
        assert!(is_open(&finding(Severity::Problem, "x", None, false)));
        assert!(is_open(&finding(Severity::Warning, "x", None, false)));
        assert!(!is_open(&finding(Severity::Problem, "x", None, true)));
        assert!(!is_open(&finding(Severity::Note, "x", None, false)));
    }
}
