//! `segue vendors check`: checks the behaviour of installed vendors' programs.

use std::env;
use std::ffi::OsString;
use std::io::Write as _;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::Mutex;
use std::sync::PoisonError;
use std::sync::mpsc;
use std::thread;

use clap::Args;
use segue_conformance::expectation::is_report;
use segue_conformance::{
    BEHAVIOURS, Behaviour, BehaviourResult, BehaviourVerdict, Setting, isolation,
};
use segue_core::ports::{TrialSetup, Vendor};
use segue_core::rules::address;
use segue_core::{Error, Kind, Result};
use segue_server::vendors;

use super::matrix;
use crate::complete;
use crate::context::{CommandEnding, Context};
use crate::progress::{Counter, REDRAW_INTERVAL};
use crate::render::plain::plain;

/// Try installed agent programs against a scripted model
#[derive(Debug, Args)]
#[command(
    after_help = "Every behaviour is tried in a home and a network of its own. No account is \
    used, no settings are read, and nothing leaves the machine.\n\n\
    Examples:\n  segue vendors check\n  segue vendors check NAME --quick\n  \
    segue vendors check NAME --only mid-tool --only messages"
)]
pub(crate) struct VendorsCheckArguments {
    /// The vendors to try [default: all that are installed]
    #[arg(value_name = "VENDOR", add = complete::vendors())]
    pub(crate) vendors: Vec<String>,

    /// Try only this behaviour
    #[arg(long, value_name = "BEHAVIOUR")]
    pub(crate) only: Vec<String>,

    /// Try only the most important behaviours
    #[arg(long, conflicts_with = "only")]
    pub(crate) quick: bool,

    /// Print the table as Markdown
    #[arg(long, conflicts_with = "json")]
    pub(crate) markdown: bool,
}

type BehaviourTrial = (Arc<dyn Vendor>, &'static Behaviour);

pub(crate) fn run(
    arguments: &VendorsCheckArguments,
    context: &mut Context,
) -> Result<CommandEnding> {
    let vendors = chosen(&arguments.vendors, context)?;
    let behaviours = behaviours(arguments)?;
    isolation::check().map_err(|why| {
        Error::unavailable("agent programs cannot be tried safely on this machine").caused_by(why)
    })?;
    let segue = env::current_exe()
        .map_err(|error| Error::internal("cannot find this program").caused_by(error))?;
    // Not in TMPDIR, whose path can be long: the paths of sockets below this folder must be short.
    let folder = tempfile::tempdir_in("/tmp")
        .map_err(|error| Error::unavailable("cannot make a temporary folder").caused_by(error))?;
    let environment = context.local.environment().clone();
    let [shared, temporary] = [folder.path(); 2].map(Path::to_owned);
    let setting = Setting { segue, environment, shared, temporary };
    let tasks: Vec<BehaviourTrial> = vendors
        .iter()
        .flat_map(|vendor| behaviours.iter().map(|it| (Arc::clone(vendor), *it)))
        .collect();
    let cells = try_all(&setting, tasks, context);
    print_results(arguments, &vendors, &behaviours, &cells, context)
}

fn print_results(
    arguments: &VendorsCheckArguments,
    vendors: &[Arc<dyn Vendor>],
    behaviours: &[&'static Behaviour],
    cells: &[BehaviourResult],
    context: &mut Context,
) -> Result<CommandEnding> {
    let list = vendors::list(&context.local);
    let matrix = matrix::Matrix { vendors, behaviours, cells, reports: &list.vendors };
    if context.wants_json() {
        context.output.json(&matrix.json())?;
    } else if arguments.markdown {
        context.output.text(&matrix.markdown())?;
    } else {
        context.output.table(&matrix.table())?;
        for (vendor, behaviour, words) in matrix.failures() {
            context.output.text(&format!("\n{vendor}: {behaviour}\n{}\n", plain(words)))?;
        }
    }
    let has_failures = matrix.failures().next().is_some();
    Ok(CommandEnding::of_answer(has_failures, Kind::Vendor))
}

/// Returns the named vendors, or all installed vendors that can be checked. An error if a named
/// vendor cannot be checked, or if there is no vendor to check.
fn chosen(names: &[String], context: &Context) -> Result<Vec<Arc<dyn Vendor>>> {
    let reports = vendors::list(&context.local).vendors;
    let is_installed = |vendor: &dyn Vendor| {
        reports.iter().any(|report| report.name == vendor.id() && report.installed)
    };
    let all = vendors::all();
    if names.is_empty() {
        let mut ready = all;
        ready.retain(|vendor| can_be_tried(vendor.as_ref()) && is_installed(vendor.as_ref()));
        return if ready.is_empty() { Err(nothing_installed()) } else { Ok(ready) };
    }
    let find = |name: &String| {
        let ids: Vec<String> = all.iter().map(|vendor| vendor.id().to_string()).collect();
        let names: Vec<&str> = ids.iter().map(String::as_str).collect();
        let name = address::find_name(&names, name)
            .map_err(|unclear| unclear.explain(name, unknown(name)))?;
        let vendor = all.iter().find(|vendor| vendor.id().as_str() == name);
        let vendor = vendor.cloned().ok_or_else(|| unknown(name))?;
        if !can_be_tried(vendor.as_ref()) {
            return Err(Error::usage(format!("`{name}` cannot be tried against a scripted model"))
                .hint("run `segue vendors` to see what its support is based on"));
        }
        if !is_installed(vendor.as_ref()) {
            let install = vendor.support().install;
            return Err(Error::vendor(format!("`{name}` is not installed"))
                .hint(format!("install it: {install}")));
        }
        Ok(vendor)
    };
    names.iter().map(find).collect()
}

fn unknown(name: &str) -> Error {
    Error::not_found(format!("there is no vendor `{name}`"))
        .hint("run `segue vendors` to see all vendors")
}

fn nothing_installed() -> Error {
    Error::vendor("no agent program that can be tried is installed")
        .hint("run `segue vendors` to see how to install them")
}

fn can_be_tried(vendor: &dyn Vendor) -> bool {
    vendor.rehearsal(&TrialSetup::placeholder()).is_some()
}

fn behaviours(arguments: &VendorsCheckArguments) -> Result<Vec<&'static Behaviour>> {
    let named = |name: &String| {
        Behaviour::named(name).ok_or_else(|| {
            let names: Vec<&str> = BEHAVIOURS.iter().map(|it| it.name).collect();
            Error::usage(format!("`{name}` is not a behaviour that can be tried"))
                .hint(format!("use one of: {}", names.join(", ")))
        })
    };
    if arguments.only.is_empty() {
        Ok(BEHAVIOURS.iter().filter(|it| it.is_essential || !arguments.quick).collect())
    } else {
        arguments.only.iter().map(named).collect()
    }
}

/// Runs all checks, as many at a time as there are processors, and prints each result as it
/// arrives.
fn try_all(
    setting: &Setting,
    tasks: Vec<BehaviourTrial>,
    context: &Context,
) -> Vec<BehaviourResult> {
    let workers = thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let total = tasks.len();
    let (tasks, (sender, receiver)) = (Mutex::new(tasks.into_iter()), mpsc::channel());
    thread::scope(|scope| {
        for _ in 0..workers {
            let (tasks, sender) = (&tasks, sender.clone());
            scope.spawn(move || {
                let next = || tasks.lock().unwrap_or_else(PoisonError::into_inner).next();
                while let Some((vendor, behaviour)) = next() {
                    let cell = segue_conformance::check(setting, vendor.as_ref(), behaviour);
                    if sender.send(cell).is_err() {
                        break;
                    }
                }
            });
        }
        drop(sender);
        collect(&receiver, total, context)
    })
}

/// Receives and prints the results of the checks. Meanwhile a progress line shows their number.
fn collect(
    receiver: &mpsc::Receiver<BehaviourResult>,
    total: usize,
    context: &Context,
) -> Vec<BehaviourResult> {
    let (mut cells, mut counter) = (Vec::new(), Counter::new(context));
    loop {
        match receiver.recv_timeout(REDRAW_INTERVAL) {
            Ok(cell) => {
                counter.erase();
                context.output.note(&line(&cell));
                cells.push(cell);
            }
            Err(mpsc::RecvTimeoutError::Timeout) => {
                counter.show(|| format!("trying: {} of {total} done", cells.len()));
            }
            Err(mpsc::RecvTimeoutError::Disconnected) => return cells,
        }
    }
}

fn line(cell: &BehaviourResult) -> String {
    let BehaviourResult { vendor, behaviour, verdict, took } = cell;
    let seconds = took.as_secs_f32();
    match verdict {
        BehaviourVerdict::Pass => format!("{vendor} {behaviour}: pass ({seconds:.1} s)"),
        BehaviourVerdict::Fail(report) => {
            format!("{vendor} {behaviour}: FAIL ({seconds:.1} s)\n{report}")
        }
        BehaviourVerdict::NotApplicable(why) => {
            format!("{vendor} {behaviour}: not applicable: {why}")
        }
    }
}

/// Checks one behaviour of one vendor. Panics if the vendor's program does not behave as expected;
/// the panic hook prints on standard error what was seen instead.
pub(super) fn rehearse(arguments: &[OsString]) -> ExitCode {
    let [vendor, behaviour] = arguments else { return ExitCode::from(2) };
    let vendor = vendors::all().into_iter().find(|it| it.id().as_str() == vendor);
    let behaviour = behaviour.to_str().and_then(Behaviour::named);
    let (Some(vendor), Some(behaviour), Ok(segue)) = (vendor, behaviour, env::current_exe()) else {
        return ExitCode::from(2);
    };
    std::panic::set_hook(Box::new(|panic| {
        let words = panic.payload_as_str().unwrap_or("the trial panicked without a message");
        // A report is for users. Any other panic is a bug of the check, so its source location is
        // printed, too.
        let place = panic.location().filter(|_| !is_report(words));
        let place = place.map(|it| format!(" ({}:{})", it.file(), it.line()));
        let text = format!("{words}{}\n", place.unwrap_or_default());
        // If standard error cannot be written, there is no other place to report it.
        let _told = std::io::stderr().write_all(text.as_bytes());
    }));
    segue_conformance::check_here(&segue, vendor, behaviour);
    ExitCode::SUCCESS
}
