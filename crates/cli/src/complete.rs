//! Shell completion: the shell runs this program to get the candidates for a word.
//!
//! The script that `segue completions` prints sets [`VARIABLE`] and passes the words of the command
//! line. Completion starts no daemon and no agent, and prints only candidates.

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::process::ExitCode;
use std::time::Duration;

use clap::CommandFactory as _;
use clap_complete::engine::{ArgValueCandidates, ArgValueCompleter, CompletionCandidate};
use clap_complete::env::{CompleteEnv, Shells};
use segue_core::api::SessionView;
use segue_core::model::StatusKind;
use segue_server::completion;
use segue_server::wiring::Local;

use crate::args::SegueArguments;
use crate::commands::duration;
use crate::render::sessions::{asks, status};

/// The environment variable that requests completion. Its value is the name of the shell.
pub(crate) const VARIABLE: &str = "SEGUE_COMPLETE";

const PROGRAM: &str = "segue";

/// The environment variable that overrides [`DEFAULT_WAIT`], with a value such as `2s`.
const WAIT_VARIABLE: &str = "SEGUE_COMPLETE_WAIT";

/// How long completion waits for the daemon to return the sessions. A user who has to wait longer
/// types the name instead.
const DEFAULT_WAIT: Duration = Duration::from_millis(300);

/// Handles a completion request of a shell.
pub(crate) fn run(words: impl IntoIterator<Item = OsString>) -> ExitCode {
    let folder = std::env::current_dir().ok();
    let environment = CompleteEnv::with_factory(SegueArguments::command)
        .var(VARIABLE)
        .bin(PROGRAM)
        .completer(PROGRAM);
    match environment.try_complete(words, folder.as_deref()) {
        Ok(_) => ExitCode::SUCCESS,
        // Prints no error: it would appear in the command line that the user is typing.
        Err(_) => ExitCode::FAILURE,
    }
}

/// Returns the completion script for a shell. `None` if the shell is not supported.
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

/// Completes running sessions, and their fleets.
pub(crate) fn running() -> ArgValueCompleter {
    ArgValueCompleter::new(|word: &OsStr| names(word, Fleets::Included, is_running))
}

/// Completes sessions whose terminal can be opened.
pub(crate) fn terminals() -> ArgValueCompleter {
    let is_open = |session: &SessionView| is_running(session) && !session.headless;
    ArgValueCompleter::new(move |word: &OsStr| names(word, Fleets::LeftOut, is_open))
}

/// Completes sessions that ask a question, and their fleets.
pub(crate) fn asking() -> ArgValueCompleter {
    ArgValueCompleter::new(|word: &OsStr| names(word, Fleets::Included, asks))
}

/// Completes the answers `yes` and `no`, which every question with two choices accepts.
pub(crate) fn answers() -> ArgValueCandidates {
    ArgValueCandidates::new(|| ["yes", "no"].into_iter().map(CompletionCandidate::new).collect())
}

/// Completes fleets.
pub(crate) fn fleets() -> ArgValueCandidates {
    ArgValueCandidates::new(|| {
        let known = known_sessions();
        let fleets: BTreeSet<&str> = known.iter().map(|it| it.fleet.as_str()).collect();
        fleets.into_iter().map(CompletionCandidate::new).collect()
    })
}

/// Completes agents of the project file.
pub(crate) fn agents() -> ArgValueCandidates {
    ArgValueCandidates::new(agent_candidates)
}

/// Completes plans.
pub(crate) fn plans() -> ArgValueCandidates {
    ArgValueCandidates::new(|| {
        let Some((local, wait)) = daemon_and_wait() else { return Vec::new() };
        let names: BTreeSet<String> = completion::plans(&local, wait).into_iter().collect();
        names.into_iter().map(CompletionCandidate::new).collect()
    })
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

/// Completes the names of statuses.
pub(crate) fn statuses() -> ArgValueCandidates {
    ArgValueCandidates::new(|| {
        StatusKind::ALL.iter().map(|it| CompletionCandidate::new(it.word())).collect()
    })
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

fn known_sessions() -> Vec<SessionView> {
    let Some((local, wait)) = daemon_and_wait() else { return Vec::new() };
    completion::sessions(&local, wait)
}

/// Returns where the daemon is, and how long completion waits for it.
fn daemon_and_wait() -> Option<(Local, Duration)> {
    let local = Local::here().ok()?;
    let wait = local.environment().get(WAIT_VARIABLE).and_then(|text| duration::parse(text).ok());
    let wait = wait.and_then(|wait| Duration::try_from(wait).ok());
    Some((local, wait.unwrap_or(DEFAULT_WAIT)))
}

fn is_running(session: &SessionView) -> bool {
    session.holder_pid.is_some()
}

/// Returns the names that begin with `word`, each once: names of the selected sessions, and of
/// their fleets if `fleets` includes them. If the word contains a `/`, sessions are completed by
/// address (`fleet/name`).
fn names(
    word: &OsStr,
    fleets: Fleets,
    is_wanted: impl Fn(&SessionView) -> bool,
) -> Vec<CompletionCandidate> {
    let Some(word) = word.to_str() else { return Vec::new() };
    let known = known_sessions();
    let wanted: Vec<&SessionView> = known.iter().filter(|it| is_wanted(it)).collect();
    let name = |session: &SessionView| match word.contains('/') {
        true => session.address.clone(),
        false => session.name.to_string(),
    };
    let candidate = |session: &&SessionView| {
        let help = crate::render::plain::one_line(&status(session));
        CompletionCandidate::new(name(session)).help(Some(help.into()))
    };
    let mut seen = BTreeSet::new();
    let sessions = wanted.iter().filter(|it| name(it).starts_with(word));
    let sessions = sessions.filter(|it| seen.insert(name(it))).map(candidate);
    let mut found: Vec<CompletionCandidate> = sessions.collect();
    if fleets == Fleets::Included {
        let fleets: BTreeSet<&str> = wanted.iter().map(|it| it.fleet.as_str()).collect();
        let fleets = fleets.into_iter().filter(|fleet| fleet.starts_with(word));
        let new = fleets.filter(|fleet| !seen.contains(*fleet));
        found.extend(new.map(|fleet| CompletionCandidate::new(fleet).help(Some("fleet".into()))));
    }
    found
}
