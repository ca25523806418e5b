//! `segue handoff`: continues a conversation with another vendor.

use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use segue_core::Result;
use segue_core::api::{DryRun, HandoffReport, HandoffRequest};
use segue_core::rules::handoff::HandoffMode;
use segue_server::conversation::Numbered;
use segue_server::wiring::Size;

use super::trust;
use crate::complete;
use crate::context::{CommandEnding, Context};
use crate::progress::{self, AwaitedWork, with_progress};
use crate::render::plain;
use crate::render::sessions::counted;
use crate::render::turns::{self, TurnStyle};

/// Continue a conversation with another vendor
#[derive(Debug, Args)]
#[command(
    after_help = "The old agent stops at the end of its turn. The new agent continues in the same \
    folder, in a session of its own. If the conversation goes back to a session that it came from, \
    only the turns since then are carried. Secrets are removed from carried turns.\n\n\
    Mode `native` writes the conversation in the other vendor's own format, so that its model gets \
    the earlier turns. Mode `digest` sends the new agent one message about the conversation. Mode \
    `auto` is `native` if the other vendor supports it, and `digest` otherwise.\n\n\
    Examples:\n  segue handoff coder --to VENDOR\n  segue handoff coder --to reviewer --dry-run\n  \
    segue handoff VENDOR:ID --to VENDOR --name fox"
)]
pub(crate) struct HandoffArguments {
    /// The session, or a conversation that was started without Segue
    #[arg(value_name = "SESSION|VENDOR:ID", add = complete::sessions())]
    pub(crate) from: String,

    /// The vendor, or the agent of segue.toml, that continues the conversation
    #[arg(long, value_name = "VENDOR|AGENT", add = complete::vendors_and_agents())]
    pub(crate) to: String,

    /// The name of the new session; with it, the conversation never returns to an earlier session
    #[arg(long, value_name = "NAME")]
    pub(crate) name: Option<String>,

    /// How the conversation is carried
    #[arg(long, value_name = "MODE", default_value = "auto", value_parser = modes())]
    pub(crate) mode: HandoffMode,

    /// The largest number of characters to carry; the oldest turns are left out first
    #[arg(long, value_name = "CHARS")]
    pub(crate) budget: Option<usize>,

    /// Do not wait for the end of the old agent's turn
    #[arg(long)]
    pub(crate) interrupt: bool,

    #[command(flatten)]
    pub(crate) dry_run: DryRunArguments,
}

#[derive(Clone, Copy, Debug, Args)]
pub(crate) struct DryRunArguments {
    /// Show the turns that would be carried and how many secrets were removed; change nothing
    #[arg(long)]
    pub(crate) dry_run: bool,

    /// With --dry-run: print exactly what the other vendor would get
    #[arg(long, requires = "dry_run")]
    pub(crate) raw: bool,
}

impl DryRunArguments {
    fn kind(self) -> DryRun {
        match (self.dry_run, self.raw) {
            (false, _) => DryRun::No,
            (true, false) => DryRun::Turns,
            (true, true) => DryRun::Raw,
        }
    }
}

fn modes() -> impl TypedValueParser<Value = HandoffMode> {
    PossibleValuesParser::new(HandoffMode::ALL.iter().map(|it| it.word()))
        .try_map(|word| HandoffMode::parse(&word))
}

pub(crate) async fn run(
    arguments: HandoffArguments,
    context: &mut Context,
) -> Result<CommandEnding> {
    let HandoffArguments { from, to, name, mode, budget, interrupt, dry_run } = arguments;
    let caller = context.caller();
    let kind = dry_run.kind();
    let request = HandoffRequest { caller, from, to, name, mode, budget, interrupt, dry_run: kind };
    let client = progress::connect(context).await?;
    let work = AwaitedWork::new(format!("handing over {}", request.from)).showing_changed();
    let work = work.after_interrupt("the handoff continues", "run `segue ls` to see its result");
    let attempt = async || with_progress(context, work.clone(), client.handoff(&request)).await;
    let report = trust::ask_and_retry(&client, context, context.cwd(), attempt).await?;
    if context.wants_json() {
        context.output.json(&report)?;
    } else {
        show(&report, dry_run, context)?;
    }
    Ok(CommandEnding::Done)
}

fn show(report: &HandoffReport, dry_run: DryRunArguments, context: &mut Context) -> Result<()> {
    match &report.content {
        Some(content) => {
            let end = if content.ends_with('\n') { "" } else { "\n" };
            context.output.text(&format!("{}{end}", plain::plain(content)))?;
        }
        None => show_turns(report, context)?,
    }
    if let Some(note) = &report.note.text {
        context.output.note(note);
    }
    let HandoffReport { from, to, mode, .. } = report;
    let amount = amount(report);
    if dry_run.dry_run {
        context.output.note(&format!("would carry {amount} from {from} to {to} ({mode})"));
        context.output.note(&removed(report));
        return Ok(());
    }
    context.output.note(&format!("{from} goes on as {to} ({mode}): {amount}"));
    if !report.redacted.is_empty() {
        context.output.note(&removed(report));
    }
    let next = if report.headless { format!("send {to} TEXT") } else { format!("attach {to}") };
    context.output.hint(&format!("run `segue {next}`"));
    Ok(())
}

/// Prints the turns of a dry run in the format of `segue show`.
fn show_turns(report: &HandoffReport, context: &mut Context) -> Result<()> {
    let style = TurnStyle {
        colour: context.output.colour(),
        clock: context.clock().clone(),
        columns: Size::of_output().map(|size| size.columns),
        full: true,
    };
    for (number, turn) in (1..).zip(&report.turns) {
        let numbered = Numbered { index: Some(number), turn: turn.to_turn() };
        context.output.text(&turns::block(&numbered, &style))?;
    }
    Ok(())
}

/// Returns a note with the number of secrets that were removed, by kind.
fn removed(report: &HandoffReport) -> String {
    let total = usize::try_from(report.redacted.values().sum::<u64>()).unwrap_or(usize::MAX);
    if total == 0 {
        return "no secrets were found in it".to_owned();
    }
    let kinds: Vec<String> =
        report.redacted.iter().map(|(kind, count)| format!("{count} {kind}")).collect();
    format!("removed {}: {}", counted(total, "secret"), kinds.join(", "))
}

/// Describes how much of the conversation is carried, and how much is left out.
fn amount(report: &HandoffReport) -> String {
    let carried = usize::try_from(report.turns_carried).unwrap_or(usize::MAX);
    let left_out = match report.turns_left_out {
        Some(0) => String::new(),
        Some(count) => format!(", {count} left out"),
        None => ", older ones left out".to_owned(),
    };
    format!("{}, {} characters{left_out}", counted(carried, "turn"), report.chars)
}
