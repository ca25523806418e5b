//! `segue deliveries`: the webhook requests that forges have sent, and what became of them.

use clap::{Args, Subcommand, ValueEnum};
use segue_core::Result;
use segue_core::api::{DeliveriesRequest, DeliveryReport, DeliveryView};
use segue_core::model::{DeliveryStateKind, SourceName};
use segue_core::rules::display::plain;

use super::messages::shortest;
use crate::context::{CommandEnding, Context};
use crate::progress;
use crate::render::style::TextTone;
use crate::render::table::{CutPlace, TableCell, TextTable};
use crate::render::time::age;

/// List, show or replay the deliveries of forges
#[derive(Debug, Args)]
#[command(after_help = "DELIVERY is an id, or at least four characters of its beginning.\n\n\
    Examples:\n  segue deliveries ls\n  segue deliveries show 0198f9d2\n  \
    segue deliveries replay 0198f9d2")]
pub(crate) struct DeliveriesArguments {
    #[command(subcommand)]
    action: DeliveriesAction,
}

#[derive(Debug, Subcommand)]
enum DeliveriesAction {
    Ls(DeliveriesLsArguments),
    /// Print a delivery: what it did, its headers and its body
    #[command(after_help = "Examples:\n  segue deliveries show 0198f9d2")]
    Show(DeliveryName),
    /// Compare a delivery with the rules again; tasks that exist are not added twice
    #[command(after_help = "Examples:\n  segue deliveries replay 0198f9d2")]
    Replay(DeliveryName),
}

/// List the newest deliveries
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  segue deliveries ls\n  segue deliveries ls --state failed")]
struct DeliveriesLsArguments {
    /// Only deliveries of this source
    #[arg(long, value_name = "SOURCE", value_parser = parse_source)]
    source: Option<SourceName>,

    /// Only deliveries in this state
    #[arg(long, value_enum, value_name = "STATE")]
    state: Option<DeliveryStateArgument>,

    /// At most this many deliveries
    #[arg(long, value_name = "COUNT", default_value_t = 100)]
    limit: u32,
}

#[derive(Debug, Args)]
struct DeliveryName {
    /// The id of the delivery, or its beginning
    #[arg(value_name = "DELIVERY")]
    delivery: String,
}

/// The words for [`DeliveryStateKind`] on the command line.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum DeliveryStateArgument {
    Received,
    Processed,
    Ignored,
    Failed,
}

impl From<DeliveryStateArgument> for DeliveryStateKind {
    fn from(argument: DeliveryStateArgument) -> Self {
        match argument {
            DeliveryStateArgument::Received => Self::Received,
            DeliveryStateArgument::Processed => Self::Processed,
            DeliveryStateArgument::Ignored => Self::Ignored,
            DeliveryStateArgument::Failed => Self::Failed,
        }
    }
}

/// Parses the name of a source.
pub(super) fn parse_source(text: &str) -> std::result::Result<SourceName, String> {
    SourceName::parse(text).map_err(|error| error.to_string())
}

pub(crate) async fn run(
    arguments: DeliveriesArguments,
    context: &mut Context,
) -> Result<CommandEnding> {
    match arguments.action {
        DeliveriesAction::Ls(arguments) => list(arguments, context).await,
        DeliveriesAction::Show(name) => show(&name.delivery, context).await,
        DeliveriesAction::Replay(name) => replay(&name.delivery, context).await,
    }
}

async fn list(arguments: DeliveriesLsArguments, context: &mut Context) -> Result<CommandEnding> {
    let DeliveriesLsArguments { source, state, limit } = arguments;
    let state = state.map(DeliveryStateKind::from);
    let client = progress::connect(context).await?;
    let list = client.deliveries(&DeliveriesRequest { source, state, limit: Some(limit) }).await?;
    if context.wants_json() {
        context.output.json(&list)?;
        return Ok(CommandEnding::Done);
    }
    let now = context.display().now;
    let mut table = TextTable::new(&["ID", "SOURCE", "EVENT", "STATE", "AGE", "WHAT"])
        .cutting(&[("WHAT", CutPlace::End)]);
    let ids = shortest(list.deliveries.iter().map(|it| it.id.to_string()).collect());
    for (delivery, id) in list.deliveries.iter().zip(ids) {
        let is_failed = delivery.state.known() == Some(DeliveryStateKind::Failed);
        let tone = if is_failed { TextTone::Strong } else { TextTone::Plain };
        table.row([
            TableCell::new(id),
            TableCell::new(delivery.source.as_str()),
            TableCell::new(delivery.event.as_deref().unwrap_or("-")),
            TableCell::toned(delivery.state.as_str(), tone),
            TableCell::new(age(delivery.received_at, now)),
            TableCell::new(plain(&what(delivery)).replace('\n', " ")),
        ]);
    }
    context.output.table(&table)?;
    if list.deliveries.is_empty() {
        context.output.note("no deliveries yet");
    }
    Ok(CommandEnding::Done)
}

/// Returns what a delivery did, or why it did nothing.
fn what(delivery: &DeliveryView) -> String {
    let actions: Vec<String> = delivery.actions.iter().map(ToString::to_string).collect();
    delivery.reason.clone().unwrap_or_else(|| actions.join("; "))
}

async fn show(delivery: &str, context: &mut Context) -> Result<CommandEnding> {
    let client = progress::connect(context).await?;
    let report = client.delivery(delivery).await?;
    if context.wants_json() {
        context.output.json(&report)?;
        return Ok(CommandEnding::Done);
    }
    context.output.text(&plain(&shown(&report)))?;
    Ok(CommandEnding::Done)
}

fn shown(DeliveryReport { delivery, headers, body }: &DeliveryReport) -> String {
    let mut lines = vec![
        format!("delivery  {}", delivery.id),
        format!("source    {}", delivery.source),
        format!("event     {}", delivery.event.as_deref().unwrap_or("-")),
        format!("received  {}", delivery.received_at),
        format!("state     {}", delivery.state),
    ];
    lines.extend(delivery.forge_id.iter().map(|id| format!("forge id  {id}")));
    lines.extend(delivery.reason.iter().map(|reason| format!("reason    {reason}")));
    lines.extend(delivery.actions.iter().map(|it| format!("action    {it}")));
    if !delivery.has_content {
        lines.push("content   removed, because the delivery is old".to_owned());
        return lines.join("\n") + "\n";
    }
    lines.push(String::new());
    lines.extend(headers.iter().map(|(name, value)| format!("{name}: {value}")));
    lines.push(String::new());
    lines.push(pretty(body));
    lines.join("\n") + "\n"
}

/// Returns JSON with line breaks. Any other text stays as it is.
fn pretty(body: &str) -> String {
    let value: Option<serde_json::Value> = serde_json::from_str(body).ok();
    value.and_then(|it| serde_json::to_string_pretty(&it).ok()).unwrap_or_else(|| body.to_owned())
}

async fn replay(delivery: &str, context: &mut Context) -> Result<CommandEnding> {
    let client = progress::connect(context).await?;
    let view = client.replay_delivery(delivery).await?;
    if context.wants_json() {
        context.output.json(&view)?;
        return Ok(CommandEnding::Done);
    }
    let id = view.id;
    context.output.text(&format!("delivery {id} is compared with the rules again\n"))?;
    context.output.hint(&format!("run `segue deliveries show {id}` to see what it did"));
    Ok(CommandEnding::Done)
}
