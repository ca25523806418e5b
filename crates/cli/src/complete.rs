//! Completion: a shell asks this program which words are possible.
//!
//! The script that `segue completions` prints sets [`VARIABLE`] and gives the words of the command
//! line. Nothing is started for an answer, and nothing but candidates is ever printed.

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::process::ExitCode;
use std::time::Duration;

use clap::CommandFactory as _;
use clap_complete::engine::{ArgValueCandidates, ArgValueCompleter, CompletionCandidate};
use clap_complete::env::{CompleteEnv, Shells};
use segue_core::api::SessionView;
use segue_core::model::Status;
use segue_server::completion;
use segue_server::wiring::Local;

use crate::args::Arguments;
use crate::commands::duration;
use crate::render::sessions::{asks, status};

/// Names the shell that asks.
pub(crate) const VARIABLE: &str = "SEGUE_COMPLETE";

const PROGRAM: &str = "segue";

/// Says how long the names of sessions may take.
const WAIT: &str = "SEGUE_COMPLETE_WAIT";

/// A person who waits for a name longer than this types it.
const LONGEST_WAIT: Duration = Duration::from_millis(300);

/// Answers a shell.
pub(crate) fn answer(words: impl IntoIterator<Item = OsString>) -> ExitCode {
    let folder = std::env::current_dir().ok();
    let environment =
        CompleteEnv::with_factory(Arguments::command).var(VARIABLE).bin(PROGRAM).completer(PROGRAM);
    match environment.try_complete(words, folder.as_deref()) {
        Ok(_) => ExitCode::SUCCESS,
        // Whatever went wrong, a line that is being typed is no place to report it.
        Err(_) => ExitCode::FAILURE,
    }
}

/// Returns the script for a shell, if there is one.
pub(crate) fn script(shell: &str) -> Option<String> {
    let mut script = Vec::new();
    let shells = Shells::builtins();
    let written = shells.completer(shell)?.write_registration(
        VARIABLE,
        PROGRAM,
        PROGRAM,
        PROGRAM,
        &mut script,
    );
    written.ok()?;
    String::from_utf8(script).ok()
}

/// Completes sessions.
pub(crate) fn sessions() -> ArgValueCompleter {
    ArgValueCompleter::new(|word: &OsStr| names(word, Fleets::LeftOut, |_| true))
}

/// Completes sessions and fleets.
pub(crate) fn sessions_and_fleets() -> ArgValueCompleter {
    ArgValueCompleter::new(|word: &OsStr| names(word, Fleets::Included, |_| true))
}

/// Completes sessions that run, and fleets.
pub(crate) fn running() -> ArgValueCompleter {
    ArgValueCompleter::new(|word: &OsStr| names(word, Fleets::Included, is_running))
}

/// Completes sessions whose terminal can be opened.
pub(crate) fn terminals() -> ArgValueCompleter {
    let is_open = |session: &SessionView| is_running(session) && !session.headless;
    ArgValueCompleter::new(move |word: &OsStr| names(word, Fleets::LeftOut, is_open))
}

/// Completes sessions that ask something, and fleets.
pub(crate) fn asking() -> ArgValueCompleter {
    ArgValueCompleter::new(|word: &OsStr| names(word, Fleets::Included, asks))
}

/// Completes answers that every question of two choices has.
pub(crate) fn answers() -> ArgValueCandidates {
    ArgValueCandidates::new(|| ["yes", "no"].into_iter().map(CompletionCandidate::new).collect())
}

/// Completes fleets.
pub(crate) fn fleets() -> ArgValueCandidates {
    ArgValueCandidates::new(|| {
        let known = known();
        let fleets: BTreeSet<&str> = known.iter().map(|it| it.fleet.as_str()).collect();
        fleets.into_iter().map(CompletionCandidate::new).collect()
    })
}

/// Completes agents of the project file.
pub(crate) fn agents() -> ArgValueCandidates {
    ArgValueCandidates::new(agent_candidates)
}

/// Completes vendors.
pub(crate) fn vendors() -> ArgValueCandidates {
    ArgValueCandidates::new(vendor_candidates)
}

/// Completes vendors and agents of the project file.
pub(crate) fn vendors_and_agents() -> ArgValueCandidates {
    ArgValueCandidates::new(|| {
        vendor_candidates().into_iter().chain(agent_candidates()).collect::<Vec<_>>()
    })
}

/// Completes the words of statuses.
pub(crate) fn statuses() -> ArgValueCandidates {
    ArgValueCandidates::new(|| Status::WORDS.into_iter().map(CompletionCandidate::new).collect())
}

fn vendor_candidates() -> Vec<CompletionCandidate> {
    completion::vendors().into_iter().map(CompletionCandidate::new).collect()
}

fn agent_candidates() -> Vec<CompletionCandidate> {
    let Ok(folder) = std::env::current_dir() else { return Vec::new() };
    let agents: BTreeSet<String> = completion::agents(&folder).into_iter().collect();
    agents.into_iter().map(CompletionCandidate::new).collect()
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fleets {
    Included,
    LeftOut,
}

fn known() -> Vec<SessionView> {
    let Ok(local) = Local::here() else { return Vec::new() };
    let wanted = local.environment().get(WAIT).and_then(|text| duration::parse(text).ok());
    let wanted = wanted.and_then(|wanted| Duration::try_from(wanted).ok());
    completion::sessions(&local, wanted.unwrap_or(LONGEST_WAIT))
}

fn is_running(session: &SessionView) -> bool {
    session.holder_pid.is_some()
}

/// Returns the names that begin like a word; addresses as soon as the word has a `/` in it.
fn names(
    word: &OsStr,
    fleets: Fleets,
    is_meant: impl Fn(&SessionView) -> bool,
) -> Vec<CompletionCandidate> {
    let Some(word) = word.to_str() else { return Vec::new() };
    let known = known();
    let meant: Vec<&SessionView> = known.iter().filter(|it| is_meant(it)).collect();
    let name = |session: &SessionView| match word.contains('/') {
        true => session.address.clone(),
        false => session.name.to_string(),
    };
    let candidate = |session: &&SessionView| {
        let help = crate::render::plain::one_line(&status(session));
        CompletionCandidate::new(name(session)).help(Some(help.into()))
    };
    let mut seen = BTreeSet::new();
    let sessions = meant.iter().filter(|it| name(it).starts_with(word));
    let sessions = sessions.filter(|it| seen.insert(name(it))).map(candidate);
    let mut found: Vec<CompletionCandidate> = sessions.collect();
    if fleets == Fleets::Included {
        let fleets: BTreeSet<&str> = meant.iter().map(|it| it.fleet.as_str()).collect();
        let fleets = fleets.into_iter().filter(|fleet| fleet.starts_with(word));
        let new = fleets.filter(|fleet| !seen.contains(*fleet));
        found.extend(new.map(|fleet| CompletionCandidate::new(fleet).help(Some("fleet".into()))));
    }
    found
}
