//! Compares the store, launch folders, processes and transcripts, and fixes differences.

mod holders;

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::path::{Path, PathBuf};

use crate::api::{Finding, Severity};
use crate::error::Result;
use crate::flows::{archive, machines};
use crate::model::{
    AgentWorktree, EventKind, EventPayload, Exit, Fleet, FleetName, Launch, LaunchEnd, LaunchId,
    LaunchRecord, NewEvent, SessionId,
};
use crate::ports::{Change, Commit, EventQuery, Place, Ports, SessionQuery, WorktreeQuery};
use crate::rules::machines::other_machine;

/// Whether `segue doctor` only reports problems or also fixes them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    Look,
    Fix,
}

/// Checks for all known problems. With [`Mode::Fix`], fixes those that can be fixed.
pub async fn examine(ports: &Ports, mode: Mode) -> Result<Vec<Finding>> {
    let (records, unreadable) = ports.folders.read_all()?;
    let mut findings = unreadable_folders(&unreadable);
    findings.extend(unknown_sessions(ports, &records, mode).await?);
    findings.extend(holders::examine(ports, mode).await?);
    findings.extend(leftovers(ports, mode).await?);
    findings.extend(lost_transcripts(ports).await?);
    Ok(findings)
}

fn problem(severity: Severity, what: String, cure: &str) -> Finding {
    Finding { severity, what, cure: Some(cure.to_owned()), curable: false, fixed: false }
}

/// Returns a problem that [`Mode::Fix`] can fix.
fn curable(what: String, cure: &str) -> Finding {
    Finding { curable: true, ..problem(Severity::Problem, what, cure) }
}

fn unreadable_folders(unreadable: &[PathBuf]) -> Vec<Finding> {
    let finding = |path: &PathBuf| {
        let what = format!("the launch folder `{}` cannot be read", path.display());
        problem(Severity::Warning, what, "delete it if you do not need it")
    };
    unreadable.iter().map(finding).collect()
}

/// Finds launch folders of sessions that are missing in the store. The newest session comes first:
/// if several sessions had the same name, the newest one has it now.
async fn unknown_sessions(
    ports: &Ports,
    records: &[LaunchRecord],
    mode: Mode,
) -> Result<Vec<Finding>> {
    let mut findings = Vec::new();
    for (id, launches) in by_session(records).into_iter().rev() {
        if ports.store.session(id).await?.is_some() {
            continue;
        }
        let Some(newest) = launches.last() else { continue };
        let name = newest.session.address();
        let removed = was_removed(ports, id).await?;
        let (what, cure) = if removed {
            (format!("`{name}` was removed, but its launch folders exist"), "delete them")
        } else {
            (format!("`{name}` has launch folders, but is not in the store"), "add it to the store")
        };
        let mut finding = curable(what, cure);
        if mode == Mode::Fix {
            let cured = if removed {
                launches.iter().try_for_each(|it| ports.folders.remove(it.launch.id))
            } else {
                insert_session(ports, &launches).await
            };
            match cured {
                Ok(()) => finding.fixed = true,
                // If one session cannot be fixed, the others still are.
                Err(error) => finding.what = format!("{}: {error}", finding.what),
            }
        }
        findings.push(finding);
    }
    Ok(findings)
}

fn by_session(records: &[LaunchRecord]) -> BTreeMap<SessionId, Vec<&LaunchRecord>> {
    let mut sessions: BTreeMap<SessionId, Vec<&LaunchRecord>> = BTreeMap::new();
    for record in records {
        sessions.entry(record.session.id).or_default().push(record);
    }
    for launches in sessions.values_mut() {
        launches.sort_by_key(|record| record.launch.number);
    }
    sessions
}

async fn was_removed(ports: &Ports, id: SessionId) -> Result<bool> {
    let query = EventQuery { sessions: vec![id], limit: u32::MAX, ..EventQuery::default() };
    let events = ports.store.events(&query).await?;
    Ok(events.iter().any(|event| event.fact.payload.kind() == EventKind::SessionRemoved))
}

/// Rebuilds an empty store from the launch folders. Returns the number of rebuilt sessions and the
/// problems that remain.
pub async fn rebuild(ports: &Ports) -> Result<(usize, Vec<Finding>)> {
    let (records, unreadable) = ports.folders.read_all()?;
    let sessions = unknown_sessions(ports, &records, Mode::Fix).await?;
    let (inserted, mut problems): (Vec<_>, Vec<_>) = sessions.into_iter().partition(|it| it.fixed);
    problems.extend(unreadable_folders(&unreadable));
    Ok((inserted.len(), problems))
}

/// Writes a session, its launches and its bindings into the store. The session's data come from its
/// newest launch folder.
async fn insert_session(ports: &Ports, launches: &[&LaunchRecord]) -> Result<()> {
    let Some(newest) = launches.last() else { return Ok(()) };
    let session = newest.session.clone();
    let mut changes = fleet(ports, &session.fleet)?;
    changes.push(Change::CreateSession(Box::new(session)));
    for record in launches {
        let launch = Launch { end: None, ..record.launch.clone() };
        changes.push(Change::CreateLaunch(Box::new(launch)));
        changes.extend(
            known_end(ports, record, record.launch.id == newest.launch.id)?
                .map(|end| Change::EndLaunch { launch: record.launch.id, end }),
        );
    }
    let mut seen = BTreeSet::new();
    for binding in launches.iter().flat_map(|record| &record.bindings) {
        if seen.insert((binding.at, binding.vendor_session.clone(), binding.evidence.word())) {
            changes.push(Change::AddBinding(binding.clone()));
        }
    }
    if let Some(worktree) = unknown_worktree(ports, newest).await? {
        changes.push(Change::AddWorktree(Box::new(worktree)));
    }
    if newest.session.has_content {
        changes.push(Change::MarkHasContent { session: newest.session.id });
    }
    let events = vec![NewEvent {
        at: ports.clock.now(),
        session: Some(newest.session.id),
        launch: None,
        payload: EventPayload::StoreRebuilt {
            address: newest.session.address(),
            launch_folders: launches.len(),
        },
    }];
    ports.store.commit(Commit { changes, events }).await?;
    Ok(())
}

/// Returns the changes that create a fleet as recorded in its own file.
fn fleet(ports: &Ports, name: &FleetName) -> Result<Vec<Change>> {
    let record = ports.folders.read_fleet(name)?;
    let (folder, counts) = record.map(|it| (it.folder, it.counts)).unwrap_or_default();
    let mut changes = vec![Change::PutFleet(Fleet { name: name.clone(), folder })];
    changes.extend(counts.into_iter().map(|(agent, count)| {
        let fleet = name.clone();
        Change::SetCount { fleet, agent, count }
    }));
    Ok(changes)
}

/// Returns the end to record for a launch. The newest launch of a session stays open even if its
/// folder records an end: the next look at the session finds a live holder or the end, and sets the
/// matching status. A launch of another machine gets its recorded end, because this machine cannot
/// look at it.
fn known_end(ports: &Ports, record: &LaunchRecord, is_newest: bool) -> Result<Option<LaunchEnd>> {
    let is_here = other_machine(record.launch.machine, ports.machine.ids()).is_none();
    match (is_newest, is_here) {
        (true, true) => Ok(None),
        (true, false) => Ok(record.launch.end),
        (false, _) => end_of(ports, record).map(Some),
    }
}

/// Returns the worktree of a session, unless the store has a worktree with the same path or port.
async fn unknown_worktree(ports: &Ports, record: &LaunchRecord) -> Result<Option<AgentWorktree>> {
    let Some(worktree) = record.worktree.clone() else { return Ok(None) };
    let known = ports.store.worktrees(&WorktreeQuery::default()).await?;
    let is_new = known.iter().all(|it| it.path != worktree.path && it.port != worktree.port);
    let session = Some(record.session.id);
    Ok(is_new.then_some(AgentWorktree { session, ..worktree }))
}

/// Returns the end of a launch that has a successor. Such a launch is over, even if no end was
/// recorded.
fn end_of(ports: &Ports, LaunchRecord { launch, .. }: &LaunchRecord) -> Result<LaunchEnd> {
    let known = launch.end.or(ports.folders.end(launch.id)?);
    let unknown = LaunchEnd { exit: Exit::Unknown, is_requested: false, at: launch.created_at };
    Ok(known.unwrap_or(unknown))
}

/// Finds processes that are marked with the id of a launch of this machine that has ended.
async fn leftovers(ports: &Ports, mode: Mode) -> Result<Vec<Finding>> {
    let here = ports.machine.ids();
    let open = ports.store.open_launches(&here.all()).await?;
    let open: HashSet<LaunchId> = open.iter().map(|launch| launch.id).collect();
    let (records, _unreadable) = ports.folders.read_all()?;
    let is_here = |launch: &&Launch| other_machine(launch.machine, here).is_none();
    let known = records.iter().map(|record| &record.launch).filter(is_here);
    let known: HashSet<LaunchId> = known.map(|launch| launch.id).collect();
    let leftovers: Vec<(u32, LaunchId)> = ports
        .machine
        .marked()
        .into_iter()
        // A launch without a folder here belongs to another Segue home. Its processes must not be
        // ended.
        .filter(|(_, launch)| known.contains(launch) && !open.contains(launch))
        .collect();
    let mut findings: Vec<Finding> = leftovers
        .iter()
        .map(|(pid, launch)| {
            let command = ports.machine.describe(*pid).unwrap_or_default();
            let what = format!("process {pid} ({command}) is left over from launch {launch}");
            curable(what, "end it")
        })
        .collect();
    if mode == Mode::Fix && !leftovers.is_empty() {
        let dead: Vec<LaunchId> = leftovers.iter().map(|(_, launch)| *launch).collect();
        ports.machine.end_marked(&dead).await?;
        findings.iter_mut().for_each(|finding| finding.fixed = true);
    }
    Ok(findings)
}

/// Finds conversations whose transcript is missing.
async fn lost_transcripts(ports: &Ports) -> Result<Vec<Finding>> {
    let mut findings = Vec::new();
    for summary in ports.store.sessions(&SessionQuery::default()).await? {
        if machines::other_machine(ports, summary.open.as_ref()).is_some() {
            continue;
        }
        let Some(binding) = summary.binding.filter(|_| summary.session.has_content) else {
            continue;
        };
        let Ok(vendor) = ports.vendors.of(&summary.session) else { continue };
        let Some(transcripts) = vendor.transcripts() else { continue };
        let place = Place::of(&summary.session);
        let id = &binding.vendor_session;
        let (path, own) =
            (transcripts.transcript(ports.files.as_ref(), &place, id), vendor.transcript_files());
        let is_gone = match own {
            Some(_) => matches!(ports.files.facts(&path), Ok(None)),
            None => matches!(transcripts.conversation(ports.files.as_ref(), &place, id), Ok(None)),
        };
        if is_gone {
            let launches = ports.store.launches(summary.session.id).await?;
            let name = own.map(|own| own.restored_as(ports.files.as_ref(), &place, id));
            let guards =
                |name: &PathBuf| launches.iter().any(|it| ports.folders.has_guard(it.id, name));
            let guarded = name.as_ref().is_some_and(guards);
            let archive_key = archive::archive_key(&summary.session, id);
            let archived = !guarded && ports.archive.has(&archive_key);
            let copy = guarded.then_some("its guard").or(archived.then_some("the archive"));
            findings.push(lost(&summary.session.address(), &path, copy));
        }
    }
    Ok(findings)
}

fn lost(name: &str, path: &Path, copy: Option<&str>) -> Finding {
    let what = format!("the transcript of `{name}` is gone: `{}`", path.display());
    if let Some(copy) = copy {
        let cure = format!("{copy} has it: `segue resume {name}` restores it");
        problem(Severity::Warning, what, &cure)
    } else {
        let cure = format!("restore it from a backup, or run `segue resume {name} --fresh {name}`");
        problem(Severity::Problem, what, &cure)
    }
}
