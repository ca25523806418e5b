//! Converts sessions into the form that users and scripts see.

use crate::api::{MessageView, SessionRef, SessionView};
use crate::error::Result;
use crate::flows::SessionState;
use crate::model::{Failure, FleetMember, FleetName, FleetRecord, How, Message, Session, Status};
use crate::ports::{
    LeasedWorktree, OpenLaunch, Ports, SessionActivity, SessionQuery, SessionSummary,
};
use crate::rules::bringing_back::{BringingBack, LastSeen, bringing_back};
use crate::rules::{attention, redaction};

/// Returns one session as `segue ls --json` shows it.
pub fn session(summary: &SessionSummary) -> SessionView {
    let SessionSummary { session, binding, open, launches, queued_messages, worktree, usage } =
        summary;
    let pid = |of: fn(&OpenLaunch) -> Option<u32>| open.as_ref().and_then(of);
    SessionView {
        session: session.id,
        id: session.id,
        name: session.name.clone(),
        fleet: session.fleet.clone(),
        address: session.address(),
        agent: session.agent.clone(),
        vendor: session.vendor.clone(),
        vendor_session_id: binding.as_ref().map(|it| it.vendor_session.clone()),
        evidence: binding.as_ref().map(|it| it.evidence),
        status: session.status.kind().into(),
        waiting_for: session.status.waiting_for().map(Into::into),
        status_detail: session.status.detail().or_else(|| repetition_detail(session)),
        open_in: None,
        goes_on_as: None,
        dialog: None,
        last_failure: attention::current_failure(session.status, None),
        repetition: session.repetition.clone(),
        missing_variables: Vec::new(),
        comes_back: comes_back(summary),
        cwd: session.cwd.clone(),
        worktree: worktree.as_ref().map(|it| it.path.clone()),
        branch: worktree.as_ref().map(|it| it.branch.to_string()),
        task: None,
        headless: session.headless,
        model: session.model.clone(),
        permission: Some(session.permission.into()),
        settings_outdated: open
            .as_ref()
            .is_some_and(|open| session.has_new_settings_since(open.created_at)),
        pid: pid(|open| open.agent.as_ref().map(|it| it.pid)),
        holder_pid: pid(|open| open.holder.as_ref().map(|it| it.pid)),
        launches: *launches,
        queued_messages: *queued_messages,
        usage: *usage,
        created_at: session.created_at,
        updated_at: session.updated_at,
    }
}

/// Returns whether the session comes back without being named. [`add_successor`] denies it for a
/// session whose conversation continues elsewhere.
fn comes_back(summary: &SessionSummary) -> bool {
    let seen = LastSeen {
        status: summary.session.status,
        is_open: summary.open.is_some(),
        // Only of interest while a launch is open.
        is_on_other_machine: false,
        was_launched: summary.launches > 0,
        is_headless: summary.session.headless,
        has_messages: summary.queued_messages > 0,
        has_successor: false,
    };
    bringing_back(&seen) == BringingBack::Due
}

/// Returns what a person should know about work that repeats itself.
fn repetition_detail(session: &Session) -> Option<String> {
    let repetition = session.repetition.as_ref().filter(|it| it.needs_person().is_some())?;
    Some(format!("loop: {}", repetition.summary()))
}

/// Adds why the last turn of a session failed, as its process reported it.
pub fn add_failure(view: &mut SessionView, status: Status, known: Option<&Failure>) {
    let failure = attention::current_failure(status, known);
    if let (None, Some(failure)) = (&view.status_detail, &failure) {
        view.status_detail = Some(How::Failed(failure.class).to_string());
    }
    view.last_failure = failure.map(|failure| Failure {
        message: redaction::redact(&failure.message).into_owned(),
        ..failure
    });
}

/// A status detail names at most this many variables.
const MAX_NAMED_VARIABLES: usize = 5;

/// Adds the names of the variables that a restart lacks to the view of a session that waits for
/// them.
pub fn add_missing_variables(view: &mut SessionView, names: &[String]) {
    view.missing_variables = names.to_vec();
    let mut shown: Vec<String> = names.iter().take(MAX_NAMED_VARIABLES).cloned().collect();
    let more = names.len().saturating_sub(MAX_NAMED_VARIABLES);
    if more > 0 {
        shown.push(format!("{more} more"));
    }
    if let (Some(detail), false) = (&mut view.status_detail, shown.is_empty()) {
        *detail = format!("{detail}: {}", shown.join(", "));
    }
}

/// Adds the session in which the conversation continues to the view of a handed-over session.
pub fn add_successor(view: &mut SessionView, successor: &Session) {
    let next = successor.address();
    let details = view.status_detail.take().into_iter();
    let details: Vec<String> = details.chain([format!("goes on as {next}")]).collect();
    view.status_detail = Some(details.join("; "));
    view.goes_on_as = Some(next);
    view.comes_back = false;
}

/// Creates the summary of a session from its state in memory.
pub fn summary(state: &SessionState) -> SessionSummary {
    SessionSummary {
        session: state.session.clone(),
        binding: state.bound().cloned(),
        open: state.open().map(|launch| OpenLaunch {
            id: launch.id,
            machine: launch.machine,
            created_at: launch.created_at,
            holder: launch.holder.clone(),
            agent: launch.agent.clone(),
        }),
        launches: u32::try_from(state.launches.len()).unwrap_or(u32::MAX),
        queued_messages: u32::try_from(state.outbox.len()).unwrap_or(u32::MAX),
        worktree: state.worktree.as_ref().map(|worktree| LeasedWorktree {
            path: worktree.path.clone(),
            branch: worktree.branch.clone(),
        }),
        usage: state.usage,
    }
}

/// Updates `fleets/<name>.json` if its content has changed. Deletes the file if it would list no
/// session.
pub async fn write_fleet(ports: &Ports, name: &FleetName) -> Result<()> {
    let folder = ports.store.fleet(name).await?.and_then(|fleet| fleet.folder);
    let members = members(ports, name).await?;
    if members.is_empty() {
        return ports.folders.remove_fleet(name);
    }
    let written_at = ports.clock.now();
    let counts = ports.store.counts(name).await?;
    let record = FleetRecord { fleet: name.clone(), folder, agents: members, counts, written_at };
    let written = ports.folders.read_fleet(name)?;
    let written = written.map(|written| FleetRecord { written_at, ..written });
    if written.as_ref() == Some(&record) { Ok(()) } else { ports.folders.write_fleet(&record) }
}

/// Returns the sessions for the fleet's file: sessions of agents and unsettled sessions. Other
/// sessions are left out because a fleet can have thousands of them.
async fn members(ports: &Ports, fleet: &FleetName) -> Result<Vec<FleetMember>> {
    let agents = SessionQuery { has_agent: true, ..SessionQuery::fleet(fleet) };
    let unsettled =
        SessionQuery { activity: Some(SessionActivity::Unsettled), ..SessionQuery::fleet(fleet) };
    let mut sessions = ports.store.sessions(&agents).await?;
    let others = ports.store.sessions(&unsettled).await?;
    sessions.extend(others.into_iter().filter(|it| it.session.agent.is_none()));
    sessions.sort_by_key(|it| (it.session.created_at, it.session.id));
    Ok(sessions.iter().map(member).collect())
}

fn member(summary: &SessionSummary) -> FleetMember {
    FleetMember {
        name: summary.session.name.clone(),
        agent: summary.session.agent.clone(),
        vendor: summary.session.vendor.clone(),
        session: summary.session.id,
        session_id: summary.binding.as_ref().map(|it| it.vendor_session.clone()),
    }
}

/// Returns a message as `segue messages --json` shows it.
pub fn message(session: &Session, message: &Message) -> MessageView {
    MessageView {
        id: message.id,
        of: SessionRef::of(session),
        state: message.state.kind().into(),
        text: message.text.clone(),
        created_at: message.created_at,
        updated_at: message.updated_at,
    }
}
