//! `segue vendors`: lists the supported vendors and their installed programs.

mod check;
mod matrix;

use std::ffi::OsString;
use std::process::ExitCode;

use clap::{Args, Subcommand};
use segue_core::Result;
use segue_core::api::VendorReport;
use segue_server::vendors;

use crate::context::{CommandEnding, Context};
use crate::render::sessions::place;
use crate::render::style::TextTone;
use crate::render::table::{CutPlace, TableCell, TextTable};

/// List the agent programs: which are installed, and how well each is supported
#[derive(Debug, Args)]
#[command(after_help = "It starts no program.\n\n\
    Examples:\n  segue vendors\n  segue vendors check NAME\n  \
    segue vendors check NAME --only two-at-once")]
pub(crate) struct VendorsArguments {
    #[command(subcommand)]
    pub(crate) action: Option<VendorsAction>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum VendorsAction {
    Check(check::VendorsCheckArguments),
}

pub(crate) fn run(arguments: &VendorsArguments, context: &mut Context) -> Result<CommandEnding> {
    match &arguments.action {
        Some(VendorsAction::Check(arguments)) => check::run(arguments, context),
        None => list(context),
    }
}

/// Checks one behaviour of one vendor in this process. `segue vendors check` starts such processes.
pub(crate) fn rehearse(arguments: &[OsString]) -> ExitCode {
    check::rehearse(arguments)
}

fn list(context: &mut Context) -> Result<CommandEnding> {
    let list = vendors::list(&context.local);
    if context.wants_json() {
        context.output.json(&list)?;
        return Ok(CommandEnding::Done);
    }
    let mut table = TextTable::new(&["VENDOR", "INSTALLED", "TRIED", "SUPPORT", "PROGRAM"])
        .cutting(&[("PROGRAM", CutPlace::Front), ("SUPPORT", CutPlace::End)]);
    for vendor in &list.vendors {
        table.row(row(vendor, context));
    }
    context.output.table(&table)?;
    for vendor in list.vendors.iter().filter(|vendor| vendor.newer_than_tried) {
        context.output.note(&newer(vendor));
        context.output.hint(&format!("run `segue vendors check {}` to try it", vendor.name));
    }
    for vendor in list.vendors.iter().filter(|vendor| !vendor.installed) {
        context.output.note(&format!("{} is not installed: {}", vendor.title, vendor.install));
    }
    Ok(CommandEnding::Done)
}

/// Returns the note about an installed version that is newer than all tested versions.
fn newer(vendor: &VendorReport) -> String {
    let installed = vendor.version.as_deref().unwrap_or_default();
    let tried = vendor.versions_tried.last().map_or("", String::as_str);
    format!("{} {installed} is newer than {tried}, the newest version that was tried", vendor.title)
}

fn row<'vendor>(vendor: &'vendor VendorReport, context: &Context) -> [TableCell<'vendor>; 5] {
    let tone = match (vendor.installed, vendor.newer_than_tried) {
        (true, true) => TextTone::Attention,
        (true, false) => TextTone::Good,
        (false, _) => TextTone::Faint,
    };
    let installed = match (&vendor.version, vendor.installed) {
        (Some(version), _) if vendor.newer_than_tried => format!("{version} (newer)"),
        (Some(version), _) => version.clone(),
        (None, true) => "yes".to_owned(),
        (None, false) => "no".to_owned(),
    };
    let home = context.display().home;
    let program = vendor.path.as_ref().map(|path| place(path, home)).unwrap_or_default();
    [
        TableCell::toned(vendor.name.as_str(), TextTone::Strong),
        TableCell::toned(installed, tone),
        TableCell::new(vendor.versions_tried.last().map_or("", String::as_str)),
        TableCell::new(support(vendor)),
        TableCell::new(program),
    ]
}

/// Returns the vendor's supported capabilities, and the kind of proof for them.
fn support(vendor: &VendorReport) -> String {
    let can: Vec<&str> = vendor
        .capabilities
        .iter()
        .filter(|(_, can)| **can)
        .map(|(name, _)| name.as_str())
        .collect();
    format!("{} ({})", can.join(", "), vendor.proof)
}
