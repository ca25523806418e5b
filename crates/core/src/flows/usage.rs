//! Counts the tokens that sessions have used, and adds them up.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use jiff::Timestamp;

use crate::api::{UsageList, UsageRequest};
use crate::error::{Error, Result};
use crate::failpoint;
use crate::flows::SessionState;
use crate::flows::select::reachable;
use crate::model::{
    LaunchId, Principal, Session, SessionId, StoredUsageCursor, Usage, UsageCursor, UsageIncrement,
    UsageSource, UsdAmount, VendorSessionId,
};
use crate::ports::{Change, Commit, Conflict, Place, Ports, UsageQuery, UsageReports};
use crate::rules::scope::RestrictedAction;
use crate::rules::usage::{CountingStart, count, count_cost, grouped};

/// The name of the source that is the transcript itself. Its file may be renamed.
const TRANSCRIPT_SOURCE: &str = "transcript";

/// Reads the new reports of a session's conversations, the oldest conversation first. Reads only the
/// new part of each source. A source that cannot be read is skipped; its error is returned.
pub fn read(
    ports: &Ports,
    session: &Session,
    conversations: &[VendorSessionId],
    known: Vec<StoredUsageCursor>,
) -> Result<UsageScan> {
    failpoint::hit("usage.read.before");
    let mut scan = UsageScan::default();
    let vendor = ports.vendors.of(session)?;
    let Some(reports) = vendor.usage() else { return Ok(scan) };
    let mut cursors = KnownCursors::new(known);
    for id in conversations {
        for (source, path) in sources(ports, reports, session, id) {
            match increment(ports, reports, (session, &cursors), (source, &path)) {
                Ok(Some(increment)) => {
                    cursors.update(&increment);
                    scan.increments.push(increment);
                }
                Ok(None) => {}
                Err(error) => scan.error = Some(error),
            }
        }
    }
    Ok(scan)
}

/// What a scan of a session's sources has found.
#[derive(Debug, Default)]
pub struct UsageScan {
    pub increments: Vec<UsageIncrement>,
    /// The error of the last source that could not be read.
    pub error: Option<Error>,
}

/// The cursors of a session's sources.
struct KnownCursors(BTreeMap<UsageSource, UsageCursor>);

impl KnownCursors {
    fn new(known: Vec<StoredUsageCursor>) -> Self {
        Self(known.into_iter().map(|it| (it.source, it.cursor)).collect())
    }

    fn update(&mut self, increment: &UsageIncrement) {
        self.0.insert(increment.source.clone(), increment.to.clone());
    }

    /// Returns the time of the newest report that was counted in another conversation.
    fn newest_elsewhere(&self, conversation: &VendorSessionId) -> Option<Timestamp> {
        let others = self.0.iter().filter(|(source, _)| source.conversation != *conversation);
        others.filter_map(|(_, cursor)| cursor.newest).max()
    }
}

/// Returns the sources of a conversation with their paths.
fn sources(
    ports: &Ports,
    reports: &dyn UsageReports,
    session: &Session,
    conversation: &VendorSessionId,
) -> Vec<(UsageSource, PathBuf)> {
    let paths = reports.usage_sources(ports.files.as_ref(), &Place::of(session), conversation);
    let name = |index: usize, path: &Path| match index {
        0 => TRANSCRIPT_SOURCE.to_owned(),
        _ => path.file_name().unwrap_or_default().to_string_lossy().into_owned(),
    };
    let paths = paths.into_iter().enumerate();
    let conversation = |index, path: &Path| UsageSource {
        conversation: conversation.clone(),
        name: name(index, path),
    };
    paths.map(|(index, path)| (conversation(index, &path), path)).collect()
}

/// Counts the new reports of a source. `None` if the source has not changed.
fn increment(
    ports: &Ports,
    reports: &dyn UsageReports,
    (session, cursors): (&Session, &KnownCursors),
    (source, path): (UsageSource, &Path),
) -> Result<Option<UsageIncrement>> {
    let known = cursors.0.get(&source);
    let from = known.map(|cursor| cursor.position);
    let reading = reports.read_usage(ports.files.as_ref(), path, from)?;
    if reading.position == from.unwrap_or_default() {
        return Ok(None);
    }
    let start = CountingStart {
        session_began: session.created_at,
        counted_elsewhere: cursors.newest_elsewhere(&source.conversation),
    };
    let (to, counted) = count(known, reading, start);
    let from = known.cloned();
    Ok(Some(UsageIncrement { session: session.id, source, from, to, counted }))
}

/// Returns whether a file with reports of this conversation has grown since it was counted.
pub fn is_behind(
    ports: &Ports,
    session: &Session,
    id: &VendorSessionId,
    cursors: &[StoredUsageCursor],
) -> bool {
    let Ok(vendor) = ports.vendors.of(session) else { return false };
    let reports = vendor.usage().filter(|_| vendor.transcript_files().is_some());
    let Some(reports) = reports else { return false };
    sources(ports, reports, session, id).iter().any(|(source, path)| {
        let known =
            cursors.iter().find(|known| known.session == session.id && known.source == *source);
        let offset = known.map_or(0, |known| known.cursor.position.offset);
        let facts = ports.files.facts(path).ok().flatten();
        facts.is_some_and(|facts| facts.length != offset)
    })
}

/// Records what was read. Does nothing if another scan has counted it meanwhile.
pub async fn record(
    ports: &Ports,
    state: &mut SessionState,
    increments: Vec<UsageIncrement>,
) -> Result<()> {
    if increments.is_empty() {
        return Ok(());
    }
    let changes = increments.into_iter().map(|it| Change::AddUsage(Box::new(it))).collect();
    failpoint::hit("usage.commit.before");
    let committed = state.commit(ports, Commit { changes, events: Vec::new() }).await;
    failpoint::hit("usage.commit.after");
    match committed {
        Err(error) if is_counted_already(&error) => Ok(()),
        committed => committed,
    }
}

/// Records what the process of a launch has cost since its start. The same cost is counted once, also
/// if a later daemon reads the output of the process again. A cost is counted for the conversation
/// of the launch; before that is known, it is ignored.
pub async fn record_cost(
    ports: &Ports,
    state: &mut SessionState,
    launch: LaunchId,
    total: UsdAmount,
) -> Result<()> {
    let Some(conversation) = state.vendor_session().cloned() else { return Ok(()) };
    let session = state.session.id;
    let source = UsageSource { conversation, name: format!("output of {launch}") };
    let known = ports.store.usage_cursors(&[session]).await?;
    let from = known.into_iter().find(|it| it.source == source).map(|it| it.cursor);
    let (to, counted) = count_cost(from.as_ref(), total, ports.clock.now());
    if counted.is_empty() {
        return Ok(());
    }
    record(ports, state, vec![UsageIncrement { session, source, from, to, counted }]).await
}

fn is_counted_already(error: &Error) -> bool {
    matches!(error.conflict.as_deref(), Some(Conflict::UsageIsCounted { .. }))
}

/// Returns what a session has used so far. `None` if nothing was reported.
pub async fn of_session(ports: &Ports, session: SessionId) -> Result<Option<Usage>> {
    let query = UsageQuery { sessions: Some(vec![session]), ..UsageQuery::default() };
    sum(ports, &query).await
}

/// Returns the sum of the usage that a query describes. `None` if there is none.
pub async fn sum(ports: &Ports, query: &UsageQuery) -> Result<Option<Usage>> {
    let found = ports.store.usage(query).await?;
    Ok(Usage::sum(found.into_iter().map(|it| it.usage)))
}

/// Returns what the sessions have used that the caller may reach. Only a person sees the usage of
/// sessions that were removed.
pub async fn list(
    ports: &Ports,
    principal: &Principal,
    request: &UsageRequest,
) -> Result<UsageList> {
    let sessions = match principal {
        Principal::Agent(_) => {
            let reachable = ports.store.sessions(&reachable(principal)).await?;
            Some(reachable.into_iter().map(|it| it.session.id).collect())
        }
        Principal::User | Principal::Token(_) => {
            principal.allow(RestrictedAction::ReadAll)?;
            None
        }
    };
    let query = UsageQuery { sessions, since: request.since, until: None };
    Ok(grouped(&ports.store.usage(&query).await?, request.by))
}
