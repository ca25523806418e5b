//! The results of `segue vendors check` as a table: a row per behaviour, a column per vendor.

use std::fmt::Write as _;
use std::sync::Arc;

use segue_conformance::{Behaviour, BehaviourResult, BehaviourVerdict};
use segue_core::api::VendorReport;
use segue_core::ports::Vendor;
use serde_json::{Value, json};

use crate::render::style::TextTone;
use crate::render::table::{self, TextTable};

/// The text before the table in the Markdown file.
const INTRODUCTION: &str = "# What every vendor's program does\n\n\
    Each cell is a run of the real program against a scripted model, in a home and a network of its \
    own: `make conformance` writes this file, `segue vendors check` tries what you have installed.\n\n";

/// The results (cells) of the checks, and the behaviours (rows) and vendors (columns) that they are
/// about.
pub(super) struct Matrix<'a> {
    pub(super) vendors: &'a [Arc<dyn Vendor>],
    pub(super) behaviours: &'a [&'static Behaviour],
    pub(super) cells: &'a [BehaviourResult],
    pub(super) reports: &'a [VendorReport],
}

impl Matrix<'_> {
    pub(super) fn table(&self) -> TextTable {
        let names: Vec<String> = self.vendors.iter().map(|it| it.id().to_string()).collect();
        let mut heading = vec!["BEHAVIOUR"];
        heading.extend(names.iter().map(String::as_str));
        let mut table = TextTable::new(&heading);
        for behaviour in self.behaviours {
            let name = table::TableCell::new(behaviour.name);
            let verdicts = names.iter().map(|vendor| {
                let (word, tone) = word(self.verdict(vendor, behaviour.name));
                table::TableCell::toned(word, tone)
            });
            table.row(std::iter::once(name).chain(verdicts));
        }
        table
    }

    pub(super) fn json(&self) -> Value {
        let cell = |cell: &BehaviourResult| {
            let (word, _) = word(Some(&cell.verdict));
            let BehaviourResult { vendor, behaviour, verdict, took } = cell;
            let (seconds, note) = (took.as_secs_f64(), note(verdict));
            json!({
                "vendor": vendor, "behaviour": behaviour, "verdict": word, "note": note,
                "seconds": seconds,
            })
        };
        json!({"cells": self.cells.iter().map(cell).collect::<Vec<_>>()})
    }

    /// Returns the failed checks: the vendor, the behaviour, and a text about what was seen
    /// instead.
    pub(super) fn failures(&self) -> impl Iterator<Item = (&str, &str, &str)> {
        self.cells.iter().filter_map(|cell| match &cell.verdict {
            BehaviourVerdict::Fail(words) => {
                Some((cell.vendor.as_str(), cell.behaviour, words.as_str()))
            }
            BehaviourVerdict::Pass | BehaviourVerdict::NotApplicable(_) => None,
        })
    }

    /// Returns the table as Markdown, followed by the reason of each result that is not a pass.
    pub(super) fn markdown(&self) -> String {
        let mut text = format!("{INTRODUCTION}{}", self.heading());
        for behaviour in self.behaviours {
            let _infallible = write!(text, "| `{}`: {} |", behaviour.name, behaviour.description);
            for vendor in self.vendors {
                let (word, _) = word(self.verdict(vendor.id().as_str(), behaviour.name));
                let _infallible = write!(text, " {word} |");
            }
            text.push('\n');
        }
        text.push_str(&self.reasons());
        text
    }

    fn heading(&self) -> String {
        let (mut names, mut line) = ("| behaviour |".to_owned(), "|---|".to_owned());
        for vendor in self.vendors {
            let report = self.reports.iter().find(|report| report.name == vendor.id());
            let version = report.and_then(|report| report.version.as_deref()).unwrap_or("?");
            let _infallible = write!(names, " {} {version} |", vendor.support().title);
            line.push_str("---|");
        }
        format!("{names}\n{line}\n")
    }

    fn reasons(&self) -> String {
        let mut text = String::new();
        for cell in self.cells.iter().filter(|cell| cell.verdict != BehaviourVerdict::Pass) {
            let (word, _) = word(Some(&cell.verdict));
            let first = note(&cell.verdict).unwrap_or_default().lines().next().unwrap_or_default();
            let BehaviourResult { vendor, behaviour, .. } = cell;
            let _infallible = writeln!(text, "- {vendor}, `{behaviour}`, {word}: {first}");
        }
        if text.is_empty() { text } else { format!("\n{text}") }
    }

    fn verdict(&self, vendor: &str, behaviour: &str) -> Option<&BehaviourVerdict> {
        let found = self.cells.iter().find(|it| it.vendor == vendor && it.behaviour == behaviour);
        found.map(|cell| &cell.verdict)
    }
}

fn word(verdict: Option<&BehaviourVerdict>) -> (&'static str, TextTone) {
    match verdict {
        Some(BehaviourVerdict::Pass) => ("pass", TextTone::Good),
        Some(BehaviourVerdict::Fail(_)) => ("FAIL", TextTone::Bad),
        Some(BehaviourVerdict::NotApplicable(_)) => ("n/a", TextTone::Faint),
        None => ("", TextTone::Plain),
    }
}

fn note(verdict: &BehaviourVerdict) -> Option<&str> {
    match verdict {
        BehaviourVerdict::Pass => None,
        BehaviourVerdict::Fail(words) => Some(words),
        BehaviourVerdict::NotApplicable(why) => Some(why),
    }
}
