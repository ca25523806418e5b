//! `segue sweep`: removes what is old.

use clap::Args;
use segue_core::api::{FailedTarget, SweepReport, SweepRequest, SweptItem};
use segue_core::{Kind, Result};

use crate::context::{CommandEnding, Context};
use crate::progress::{self, AwaitedWork, with_progress};

/// Remove worktrees, clones, launch folders and copies that are old
#[derive(Debug, Args)]
#[command(
    after_help = "The daemon does this once a day. The ages are under `[sweep]` in config.toml. \
    Nothing that is in use is removed, and every worktree is salvaged before.\n\n\
    Examples:\n  segue sweep --dry-run\n  segue sweep"
)]
pub(crate) struct SweepArguments {
    /// Show what would be removed, and remove nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
}

pub(crate) async fn run(
    arguments: &SweepArguments,
    context: &mut Context,
) -> Result<CommandEnding> {
    let client = progress::connect(context).await?;
    let request = SweepRequest { dry_run: arguments.dry_run };
    let work = AwaitedWork::new("removing old things")
        .showing_changed()
        .after_interrupt("the daemon continues", "run `segue log` to see what was removed");
    let report = with_progress(context, work, client.sweep(&request)).await?;
    if context.wants_json() {
        context.output.json(&report)?;
    } else {
        print(&report, context)?;
    }
    Ok(CommandEnding::of_answer(!report.failed.is_empty(), Kind::Partial))
}

fn print(report: &SweepReport, context: &mut Context) -> Result<()> {
    if report.removed.is_empty() && report.failed.is_empty() {
        context.output.note("nothing is old");
    }
    for item in &report.removed {
        context.output.text(&line(item, report.dry_run))?;
    }
    for FailedTarget { error, .. } in &report.failed {
        context.output.failure_on_stderr(error);
    }
    Ok(())
}

/// Returns the line about something that was removed, or would be removed.
fn line(SweptItem { kind, name, reason, salvage }: &SweptItem, dry_run: bool) -> String {
    let verb = if dry_run { "would remove" } else { "removed" };
    let salvage = salvage.as_ref().map(|it| format!("; everything is in {it}")).unwrap_or_default();
    format!("{verb} {} {name}: {reason}{salvage}\n", kind.as_str())
}

#[cfg(test)]
mod tests {
    use segue_core::model::{HousekeepingKind, RefName};

    use super::*;

    #[test]
    fn line_names_the_reason_and_the_salvage() {
        let mut item = SweptItem {
            kind: HousekeepingKind::Worktree.into(),
            name: "/w/fix".to_owned(),
            reason: "it has no session and was not used for 14 days".to_owned(),
            salvage: None,
        };
        let reason = "it has no session and was not used for 14 days";
        assert_eq!(line(&item, true), format!("would remove worktree /w/fix: {reason}\n"));
        item.salvage = RefName::parse("refs/segue/salvage/x/1").ok();
        let expected =
            format!("removed worktree /w/fix: {reason}; everything is in refs/segue/salvage/x/1\n");
        assert_eq!(line(&item, false), expected);
    }
}
