//! `segue adopt`: creates sessions for conversations that were started without Segue.

use clap::Args;
use jiff::{SignedDuration, Timestamp};
use segue_core::api::{AdoptCandidate, AdoptReport, AdoptRequest};
use segue_core::{Error, Result};

use super::duration;
use crate::complete;
use crate::context::{CommandEnding, Context};
use crate::progress::{self, AwaitedWork, with_progress};
use crate::render::plain::one_line;
use crate::render::sessions::{DisplayContext, address, counted, place};
use crate::render::style::TextTone;
use crate::render::table::{CutPlace, TableCell, TextTable};
use crate::render::time::age;

/// Make sessions of conversations that were started without Segue
#[derive(Debug, Args)]
#[command(
    after_help = "Without an id, it lists the conversations that no session has, from every \
    folder. It starts nothing: `segue resume` brings an adopted conversation back, unless it is \
    open in a terminal.\n\n\
    Examples:\n  segue adopt\n  segue adopt demo:0198f9d2-0000-7000-8000-000000000001 --name fox\n  \
    segue adopt --all --since 7d"
)]
pub(crate) struct AdoptArguments {
    /// The vendor, and the vendor's id of the conversation
    #[arg(value_name = "VENDOR[:ID]", add = complete::vendors())]
    pub(crate) which: Option<String>,

    /// The name of the session [default: a generated name]
    #[arg(long, value_name = "NAME", conflicts_with = "all")]
    pub(crate) name: Option<String>,

    /// Make a session of every conversation that has none
    #[arg(long)]
    pub(crate) all: bool,

    /// Only conversations that changed in this time, such as 7d
    #[arg(long, value_name = "TIME", value_parser = duration::parse)]
    pub(crate) since: Option<SignedDuration>,
}

pub(crate) async fn run(arguments: AdoptArguments, context: &mut Context) -> Result<CommandEnding> {
    let request = request(arguments, context)?;
    let client = progress::connect(context).await?;
    let work = AwaitedWork::new("looking for conversations");
    let work = work
        .after_interrupt("the daemon continues", "run `segue ls` to see which sessions it made");
    let report = with_progress(context, work, client.adopt(&request)).await?;
    if context.wants_json() {
        context.output.json(&report)?;
    } else if request.id.is_some() || request.all {
        show_adopted(&report, context)?;
    } else {
        show_candidates(&report, context)?;
    }
    Ok(CommandEnding::Done)
}

fn request(arguments: AdoptArguments, context: &Context) -> Result<AdoptRequest> {
    let (vendor, id) = match arguments.which.as_deref().map(|which| which.split_once(':')) {
        Some(Some((vendor, id))) => (Some(vendor.to_owned()), Some(id.to_owned())),
        Some(None) => (arguments.which.clone(), None),
        None => (None, None),
    };
    if id.as_deref() == Some("") {
        return Err(Error::usage("there is no id after the colon")
            .hint("run `segue adopt` to see which conversations there are"));
    }
    if arguments.name.is_some() && id.is_none() {
        return Err(Error::usage("a name can be given to one conversation only")
            .hint("run `segue adopt VENDOR:ID --name NAME`"));
    }
    let now = context.display().now;
    let earliest = arguments.since.map(|age| now.checked_sub(age).unwrap_or(Timestamp::MIN));
    Ok(AdoptRequest {
        caller: context.caller(),
        vendor,
        id,
        name: arguments.name,
        all: arguments.all,
        since: earliest,
    })
}

fn show_candidates(report: &AdoptReport, context: &mut Context) -> Result<()> {
    let table = table(&report.candidates, context.display());
    context.output.table(&table)?;
    match report.candidates.first() {
        Some(first) => {
            let AdoptCandidate { vendor, vendor_session_id, .. } = first;
            context.output.hint(&format!("run `segue adopt {vendor}:{vendor_session_id}`"));
        }
        None => context.output.note("no conversation without a session was found"),
    }
    Ok(())
}

fn table(candidates: &[AdoptCandidate], display: DisplayContext<'_>) -> TextTable {
    let mut table = TextTable::new(&["CONVERSATION", "SINCE", "WHERE", "OPEN IN", "BEGINS"])
        .cutting(&[("BEGINS", CutPlace::End), ("WHERE", CutPlace::Front)]);
    for candidate in candidates {
        table.row([
            TableCell::new(format!("{}:{}", candidate.vendor, candidate.vendor_session_id)),
            TableCell::new(age(candidate.updated_at, display.now)),
            TableCell::new(place(&candidate.cwd, display.home)),
            TableCell::new(
                candidate.open_in.map(|pid| format!("process {pid}")).unwrap_or_default(),
            ),
            TableCell::new(one_line(candidate.begins.as_deref().unwrap_or_default())),
        ]);
    }
    table
}

fn show_adopted(report: &AdoptReport, context: &mut Context) -> Result<()> {
    let mut table = TextTable::new(&["NAME", "CONVERSATION", "WHERE"])
        .cutting(&[("WHERE", CutPlace::Front), ("CONVERSATION", CutPlace::End)]);
    for session in &report.adopted {
        let id = session.vendor_session_id.as_ref().map(ToString::to_string).unwrap_or_default();
        table.row([
            TableCell::toned(address(session), TextTone::Strong),
            TableCell::new(format!("{}:{id}", session.vendor)),
            TableCell::new(place(&session.cwd, context.display().home)),
        ]);
    }
    context.output.table(&table)?;
    for skipped in &report.skipped {
        let which = format!("{}:{}", skipped.vendor, skipped.vendor_session_id);
        context.output.note(&format!("not adopted: {which}: {}", skipped.why));
    }
    if let [only] = report.adopted.as_slice() {
        context.output.hint(&format!("run `segue resume {}` to bring it back", address(only)));
    } else {
        context.output.note(&format!("{} adopted", counted(report.adopted.len(), "conversation")));
    }
    Ok(())
}
