//! `segue usage`: what the sessions have used.

use clap::{Args, ValueEnum};
use jiff::{SignedDuration, Timestamp};
use segue_core::Result;
use segue_core::api::{UsageList, UsageRequest, UsageRow};
use segue_core::model::{UsageGrouping, UsdAmount};

use super::duration;
use crate::context::{CommandEnding, Context};
use crate::progress;
use crate::render::style::TextTone;
use crate::render::table::{TableCell, TextTable};

/// Show how many tokens the sessions have used, and what they cost
#[derive(Debug, Args)]
#[command(
    after_help = "CACHED is the part of INPUT that the service had in its cache. COST is the \
    sum of the costs that the vendors report; most of them report none. Days are in UTC.\n\n\
    Examples:\n  segue usage\n  segue usage --since 7d --by day\n  segue usage --by vendor --json"
)]
pub(crate) struct UsageArguments {
    /// Only usage of the last time, such as 12h or 7d
    #[arg(long, value_name = "TIME", value_parser = duration::parse)]
    pub(crate) since: Option<SignedDuration>,

    /// What to add up
    #[arg(long, value_enum, value_name = "WHAT", default_value = "agent")]
    pub(crate) by: UsageGroupingArgument,
}

/// The words for [`UsageGrouping`] on the command line.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum UsageGroupingArgument {
    Agent,
    Vendor,
    Day,
}

impl From<UsageGroupingArgument> for UsageGrouping {
    fn from(argument: UsageGroupingArgument) -> Self {
        match argument {
            UsageGroupingArgument::Agent => Self::Agent,
            UsageGroupingArgument::Vendor => Self::Vendor,
            UsageGroupingArgument::Day => Self::Day,
        }
    }
}

pub(crate) async fn run(
    arguments: &UsageArguments,
    context: &mut Context,
) -> Result<CommandEnding> {
    let now = context.display().now;
    let since = arguments.since.map(|age| now.checked_sub(age).unwrap_or(Timestamp::MIN));
    let by = UsageGrouping::from(arguments.by);
    let client = progress::connect(context).await?;
    let list = client.usage(&UsageRequest { since, by }).await?;
    if context.wants_json() {
        context.output.json(&list)?;
        return Ok(CommandEnding::Done);
    }
    context.output.table(&table(&list, by))?;
    if list.usage.is_empty() {
        context.output.note("no usage was reported");
    }
    Ok(CommandEnding::Done)
}

fn table(list: &UsageList, by: UsageGrouping) -> TextTable {
    let title = by.word().to_uppercase();
    let mut table = TextTable::new(&[&title, "SESSIONS", "INPUT", "CACHED", "OUTPUT", "COST"]);
    for row in &list.usage {
        table.row(cells(&name(row), row, TextTone::Plain));
    }
    if !list.usage.is_empty() {
        table.row(cells("total", &list.total, TextTone::Strong));
    }
    table
}

fn cells<'name>(name: &'name str, row: &UsageRow, tone: TextTone) -> [TableCell<'name>; 6] {
    let cost = row.usage.cost_usd.map_or_else(|| "-".to_owned(), dollars);
    let number = |number: u64| TableCell::toned(grouped(number), tone);
    [
        TableCell::toned(name, tone),
        number(row.sessions as u64),
        number(row.usage.input),
        number(row.usage.cached),
        number(row.usage.output),
        TableCell::toned(cost, tone),
    ]
}

/// Returns what identifies a row.
fn name(row: &UsageRow) -> String {
    match row {
        UsageRow { day: Some(day), .. } => day.to_string(),
        UsageRow { vendor: Some(vendor), .. } => vendor.to_string(),
        UsageRow { fleet: Some(fleet), agent: Some(agent), .. } => format!("{fleet}/{agent}"),
        UsageRow { fleet: Some(fleet), .. } => format!("{fleet} (no agent)"),
        _ => "-".to_owned(),
    }
}

/// Returns a number with a comma before each group of three digits.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Returns an amount with cents, and a small amount with more digits.
fn dollars(amount: UsdAmount) -> String {
    let dollars = amount.dollars();
    if dollars >= 1.0 { format!("${dollars:.2}") } else { format!("${dollars:.4}") }
}

#[cfg(test)]
mod tests {
    use segue_core::model::{AgentName, FleetName, Usage};

    use super::*;
    use crate::render::style::Colour;

    #[test]
    fn numbers_and_amounts_are_readable() {
        let table = [(0, "0"), (999, "999"), (1000, "1,000"), (12_345_678, "12,345,678")];
        for (number, text) in table {
            assert_eq!(grouped(number), text);
        }
        for (amount, text) in [(12.345, "$12.35"), (0.5, "$0.5000"), (0.000_35, "$0.0003")] {
            let shown = dollars(UsdAmount::from_dollars(amount).unwrap());
            assert_eq!(shown, text);
        }
    }

    #[test]
    fn table_ends_with_the_sum_and_an_unknown_cost_is_a_dash() {
        let fleet = FleetName::parse("shop").ok();
        let usage = Usage { input: 1200, cached: 1000, output: 30, cost_usd: None };
        let row = UsageRow { fleet, sessions: 2, usage, ..UsageRow::default() };
        let coder = UsageRow { agent: AgentName::parse("coder").ok(), ..row.clone() };
        let total = UsageRow { sessions: 4, usage, ..UsageRow::default() };
        let list = UsageList { usage: vec![row, coder], total };
        let text = table(&list, UsageGrouping::Agent).render(Colour::Off, None);
        let lines: Vec<String> = text
            .lines()
            .map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "))
            .collect();
        let expected = [
            "AGENT SESSIONS INPUT CACHED OUTPUT COST",
            "shop (no agent) 2 1,200 1,000 30 -",
            "shop/coder 2 1,200 1,000 30 -",
            "total 4 1,200 1,000 30 -",
        ];
        assert_eq!(lines, expected);
    }
}
