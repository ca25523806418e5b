//! `segue du`: what uses disk space.

use clap::Args;
use segue_core::Result;
use segue_core::api::{DiskItem, DiskReport, DiskRequest};
use segue_core::model::DiskLevel;
use segue_core::rules::display::byte_count;

use crate::context::{CommandEnding, Context};
use crate::progress::{self, AwaitedWork, with_progress};
use crate::render::style::TextTone;
use crate::render::table::{TableCell, TextTable};

/// Show what uses disk space: worktrees, clones, sessions, the archive
#[derive(Debug, Args)]
#[command(
    after_help = "Sizes are blocks on disk, as in `du`. SALVAGE is the part of a repository that \
    only salvages need. A folder that was not used since the last time is not read again, \
    except for added and removed files: use --exact after you have changed files there.\n\n\
    Examples:\n  segue du\n  segue du --repos\n  segue du --json"
)]
pub(crate) struct DuArguments {
    /// Show the repositories instead of their parts
    #[arg(long)]
    pub(crate) repos: bool,

    /// Examine every file again
    #[arg(long)]
    pub(crate) exact: bool,
}

pub(crate) async fn run(arguments: &DuArguments, context: &mut Context) -> Result<CommandEnding> {
    let client = progress::connect(context).await?;
    let request = DiskRequest { exact: arguments.exact };
    let work = AwaitedWork::new("measuring folders");
    let report = with_progress(context, work, client.disk(&request)).await?;
    if context.wants_json() {
        context.output.json(&report)?;
        return Ok(CommandEnding::Done);
    }
    let table = if arguments.repos { repositories(&report) } else { items(&report) };
    context.output.table(&table)?;
    for folder in &report.unreadable {
        context.output.note(&format!("`{folder}` cannot be read"));
    }
    if let Some(budget) = report.budget {
        let level = report.level.as_str();
        context.output.note(&format!("the budget is {} ({level})", byte_count(budget)));
    }
    if report.level.known() == Some(DiskLevel::Full) {
        context.output.hint("run `segue sweep --dry-run` to see what is old");
    }
    Ok(CommandEnding::Done)
}

fn items(report: &DiskReport) -> TextTable {
    let mut table = TextTable::new(&["SIZE", "WHAT", "NAME"]);
    for DiskItem { kind, name, bytes, .. } in &report.items {
        let cells = [byte_count(*bytes), kind.as_str().to_owned(), name.clone()];
        table.row(cells.map(|text| TableCell::toned(text, TextTone::Plain)));
    }
    let total = [byte_count(report.total), "total".to_owned(), String::new()];
    table.row(total.map(|text| TableCell::toned(text, TextTone::Strong)));
    table
}

fn repositories(report: &DiskReport) -> TextTable {
    let mut table = TextTable::new(&["SIZE", "CLONE", "WORKTREES", "SALVAGE", "REPOSITORY"]);
    for it in &report.repositories {
        let salvage = it.salvage.map_or_else(|| "-".to_owned(), byte_count);
        let cells = [
            byte_count(it.bytes),
            byte_count(it.clone),
            byte_count(it.worktrees),
            salvage,
            it.repository.clone(),
        ];
        table.row(cells.map(|text| TableCell::toned(text, TextTone::Plain)));
    }
    table
}

#[cfg(test)]
mod tests {
    use segue_core::api::{DiskItemKind, DiskRepository};

    use super::*;
    use crate::render::style::Colour;

    fn lines(table: &TextTable) -> Vec<String> {
        let text = table.render(Colour::Off, None);
        let words = |line: &str| line.split_whitespace().collect::<Vec<_>>().join(" ");
        text.lines().map(words).collect()
    }

    #[test]
    fn table_has_readable_sizes_and_ends_with_the_total() {
        let item = |kind: DiskItemKind, name: &str, bytes| DiskItem {
            kind: kind.into(),
            name: name.to_owned(),
            bytes,
            repository: None,
            session: None,
            path: None,
        };
        let repository = DiskRepository {
            repository: "https://example.org/app".to_owned(),
            bytes: 3000,
            clone: 1000,
            worktrees: 2000,
            salvage: None,
        };
        let report = DiskReport {
            total: 2_001_500,
            budget: None,
            level: DiskLevel::Normal.into(),
            items: vec![
                item(DiskItemKind::Worktree, "/w/fix", 2_000_000),
                item(DiskItemKind::Session, "shop/coder", 1500),
            ],
            repositories: vec![repository],
            unreadable: Vec::new(),
        };
        let expected =
            ["SIZE WHAT NAME", "2 MB worktree /w/fix", "1.5 kB session shop/coder", "2.0 MB total"];
        assert_eq!(lines(&items(&report)), expected);
        let expected =
            ["SIZE CLONE WORKTREES SALVAGE REPOSITORY", "3 kB 1 kB 2 kB - https://example.org/app"];
        assert_eq!(lines(&repositories(&report)), expected);
    }
}
