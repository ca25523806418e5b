//! Carries out the actions that `rules::lifecycle` decides for an observation.

use std::time::Duration;

use crate::error::Result;
use crate::failpoint;
use crate::flows::state::TurnResult;
use crate::flows::{SessionState, conversation, last_output, usage};
use crate::model::{
    Activity, Binding, EventPayload, Evidence, Failure, LaunchEnd, LaunchId, Screen, Signal,
    Status, VendorSessionId, WaitingFor,
};
use crate::ports::{Change, Commit, Ports};
use crate::rules;
use crate::rules::lifecycle::{self, Action, EnvironmentKept, Observation};
use crate::rules::restarts::Failures;

/// How long an agent that started in the wrong conversation may take to exit.
const WRONG_CONVERSATION_GRACE: Duration = Duration::from_secs(2);

/// At most this many bytes at the end of standard error are read.
const MAX_ERROR_OUTPUT_BYTES: usize = 16 * 1024;

/// What the owner of the session must do after an observation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FollowUp {
    /// A binding was added. Copies of it, such as the fleet's file, must be written again.
    Bound,
    /// The launch started in another conversation and was ended.
    Refused {
        found: VendorSessionId,
    },
    RestartAfter(Duration),
    Ended,
}

/// Applies a signal of the launch's own process to the session.
pub async fn signal(
    ports: &Ports,
    state: &mut SessionState,
    launch: LaunchId,
    signal: Signal,
) -> Result<Vec<FollowUp>> {
    if let Signal::Cost { total } = signal {
        return usage::record_cost(ports, state, launch, total).await.map(|()| Vec::new());
    }
    if let Signal::TurnEnded { ok, text, failure } = &signal {
        let report = TurnResult { ok: *ok, text: text.clone(), failure: failure.clone() };
        let report = report.after(state.turn.as_ref());
        let known = state.turn.replace(report).and_then(|turn| turn.failure);
        // Two sources can report the same failure, and one source can report it twice. It is
        // recorded only once.
        let again = |known: Failure| failure.as_ref().is_some_and(|it| it.message == known.message);
        if known.is_some_and(again) {
            return Ok(Vec::new());
        }
    }
    // When the agent works again, the result of its previous turn is obsolete. A headless launch
    // has only one turn, so its result is kept.
    if matches!(signal, Signal::Activity { activity: Activity::Working, .. })
        && !state.session.headless
    {
        state.turn = None;
    }
    let source = match &signal {
        Signal::Activity { source, .. } => Some(*source),
        _ => None,
    };
    let follow_ups = apply(ports, state, launch, &Observation::Signal(signal)).await?;
    state.source = match (state.source, source) {
        (Some(known), Some(new)) if lifecycle::outranks(known, new) => Some(known),
        (known, new) => new.or(known),
    };
    Ok(follow_ups)
}

/// Applies the end of a launch to the session.
pub async fn ended(
    ports: &Ports,
    state: &mut SessionState,
    launch: LaunchId,
    end: LaunchEnd,
    environment: EnvironmentKept,
) -> Result<Vec<FollowUp>> {
    let is_open = state.open().is_some_and(|open| open.id == launch);
    let is_explained = state.is_confirmed(launch) || end.is_requested || end.exit.is_clean();
    if is_open && state.session.headless {
        complete_turn(ports, state, launch, end).await?;
    } else if is_open && !is_explained {
        read_failure_from_screen(ports, state, launch).await?;
    }
    let mut launches = state.launches.clone();
    launches.iter_mut().filter(|it| it.id == launch).for_each(|it| it.end = Some(end));
    let failures = Failures::count(&launches, ports.clock.now());
    apply(ports, state, launch, &Observation::Ended { end, environment, failures }).await
}

/// Completes the result of a headless turn if the output did not contain it: takes the answer from
/// the transcript, or the reason for a failed start from standard error.
async fn complete_turn(
    ports: &Ports,
    state: &mut SessionState,
    launch: LaunchId,
    end: LaunchEnd,
) -> Result<()> {
    let vendor = ports.vendors.of(&state.session)?;
    match (&state.turn, state.vendor_session()) {
        (Some(TurnResult { ok: true, text, .. }), Some(id)) if text.is_empty() => {
            let conversation = conversation::read(ports, vendor.as_ref(), &state.place(), id);
            // The turn succeeded, even if its transcript cannot be read.
            let answer = conversation.ok().flatten().and_then(|it| it.last_answer);
            if let (Some(turn), Some(answer)) = (&mut state.turn, answer) {
                turn.text = answer;
            }
        }
        (None, _) if !end.is_requested && !end.exit.is_clean() => {
            let errors = ports.files.tail(&ports.folders.errors(launch), MAX_ERROR_OUTPUT_BYTES);
            let errors = String::from_utf8_lossy(&errors.unwrap_or_default()).into_owned();
            if let Some(failure) = vendor.signals().and_then(|it| it.failure_in_output(&errors)) {
                let failure = Some(failure);
                let failed = Signal::TurnEnded { ok: false, text: String::new(), failure };
                signal(ports, state, launch, failed).await?;
            }
        }
        _ => {}
    }
    Ok(())
}

/// Reads from the screen why an agent ended before it showed its conversation.
async fn read_failure_from_screen(
    ports: &Ports,
    state: &mut SessionState,
    launch: LaunchId,
) -> Result<()> {
    // Without the holder, the last screen is unknown.
    let Ok(Some(screen)) = ports.holders.screen(launch).await else { return Ok(()) };
    let vendor = ports.vendors.of(&state.session)?;
    let Some(sources) = vendor.signals() else { return Ok(()) };
    if let Some(failure) = sources.failure_in_output(&lines(&screen)) {
        let failed = Signal::TurnEnded { ok: false, text: String::new(), failure: Some(failure) };
        signal(ports, state, launch, failed).await?;
    }
    Ok(())
}

/// Returns the text of a screen. Rows that the terminal wrapped are joined to one line.
fn lines(screen: &Screen) -> String {
    let length = |row: &String| row.chars().count();
    let longest = screen.rows.iter().map(length).max().unwrap_or(0);
    let ended = |row: &String| match longest - length(row) {
        0 => row.clone(),
        // Rows have no trailing spaces: this row was full, and its last character was a space.
        1 => format!("{row} "),
        _ => format!("{row}\n"),
    };
    screen.rows.iter().map(ended).collect()
}

async fn apply(
    ports: &Ports,
    state: &mut SessionState,
    launch: LaunchId,
    observation: &Observation,
) -> Result<Vec<FollowUp>> {
    let actions = lifecycle::next(&state.lifecycle_facts(), launch, observation);
    if actions.contains(&Action::EndLeftovers) {
        end_leftovers(ports, state, launch).await?;
    }
    if actions.iter().any(|action| matches!(action, Action::RefuseConversation { .. })) {
        // The process is ended before the refusal is recorded, because it is not checked again
        // after that.
        ports.holders.stop(launch, WRONG_CONVERSATION_GRACE).await?;
        failpoint::hit("observe.refuse.after");
    }
    let mut commit = Commit::default();
    for action in &actions {
        add_to_commit(ports, state, launch, action, &mut commit);
    }
    if !commit.changes.is_empty() || !commit.events.is_empty() {
        failpoint::hit("observe.commit.before");
        state.commit(ports, commit).await?;
        failpoint::hit("observe.commit.after");
    }
    let mut follow_ups = Vec::new();
    for action in actions {
        follow_ups.extend(follow_up(ports, state, launch, action).await?);
    }
    Ok(follow_ups)
}

async fn end_leftovers(ports: &Ports, state: &mut SessionState, launch: LaunchId) -> Result<()> {
    let ended = ports.machine.end_marked(&[launch]).await?;
    if ended.is_empty() {
        return Ok(());
    }
    let processes = ended.into_iter().map(Into::into).collect();
    let payload = EventPayload::LeftoversEnded { of: Some(launch), processes };
    let events = vec![state.event(ports, payload)];
    state.commit(ports, Commit { changes: Vec::new(), events }).await
}

/// Adds the changes and events of an action to the commit.
fn add_to_commit(
    ports: &Ports,
    state: &SessionState,
    launch: LaunchId,
    action: &Action,
    commit: &mut Commit,
) {
    match action {
        Action::SetStatus(status) => {
            let (change, event) = state.status_change(ports, *status);
            commit.changes.push(change);
            commit.events.push(event);
        }
        Action::SetActivity { status, source } => {
            let (change, mut event) = state.status_change(ports, *status);
            let (status, source) = (*status, Some(*source));
            event.payload = EventPayload::StatusChanged { status, source, note: None };
            commit.changes.push(change);
            commit.events.push(event);
        }
        Action::Bind { id, evidence } => {
            let (vendor_session, evidence) = (id.clone(), *evidence);
            let payload = EventPayload::Bound { vendor_session, evidence };
            commit.events.push(state.event(ports, payload));
            commit.changes.push(Change::AddBinding(binding(ports, state, launch, (id, evidence))));
        }
        Action::RefuseConversation { found } => {
            let (wanted, found) = (state.vendor_session().cloned(), found.clone());
            let payload = EventPayload::BindingRefused { wanted, found };
            commit.events.push(state.event(ports, payload));
            let (change, event) = state.status_change(ports, Status::Waiting(WaitingFor::Choice));
            commit.changes.push(change);
            commit.events.push(event);
        }
        Action::CloseLaunch { end } => {
            commit.changes.push(Change::EndLaunch { launch, end: *end });
            let output = last_output::of_launch(ports, state, launch, *end);
            let cause = output.as_deref().map(rules::last_output::cause);
            let LaunchEnd { exit, is_requested, .. } = *end;
            let payload =
                EventPayload::LaunchEnded { exit, is_requested, cause, start_error: None };
            commit.events.push(state.event(ports, payload));
        }
        Action::GiveUp { failures } => {
            let (reason, resumable) = (failures.to_string(), Some(state.session.address()));
            commit.events.push(state.event(ports, EventPayload::GaveUp { reason, resumable }));
        }
        Action::Restart { after } => {
            let after_ms = u64::try_from(after.as_millis()).unwrap_or(u64::MAX);
            commit.events.push(state.event(ports, EventPayload::RestartPlanned { after_ms }));
        }
        Action::NoteTurn { .. } => {
            let failure = state.turn.as_ref().and_then(|turn| turn.failure.as_ref());
            let event = |Failure { class, message, .. }: &Failure| {
                let (class, message) = (*class, message.clone());
                state.event(ports, EventPayload::TurnFailed { class, message })
            };
            commit.events.extend(failure.map(event));
        }
        Action::EndLeftovers | Action::ReleaseHolder => {}
    }
}

fn binding(
    ports: &Ports,
    state: &SessionState,
    launch: LaunchId,
    (id, evidence): (&VendorSessionId, Evidence),
) -> Binding {
    Binding {
        session: state.session.id,
        launch: Some(launch),
        vendor_session: id.clone(),
        evidence,
        at: ports.clock.now(),
    }
}

async fn follow_up(
    ports: &Ports,
    state: &SessionState,
    launch: LaunchId,
    action: Action,
) -> Result<Option<FollowUp>> {
    Ok(match action {
        Action::Bind { .. } => {
            state.write_record(ports)?;
            failpoint::hit("observe.record.after");
            Some(FollowUp::Bound)
        }
        Action::RefuseConversation { found } => Some(FollowUp::Refused { found }),
        Action::CloseLaunch { .. } => Some(FollowUp::Ended),
        Action::ReleaseHolder => {
            ports.holders.release(launch).await?;
            None
        }
        Action::Restart { after } => Some(FollowUp::RestartAfter(after)),
        Action::SetStatus(_)
        | Action::SetActivity { .. }
        | Action::NoteTurn { .. }
        | Action::EndLeftovers
        | Action::GiveUp { .. } => None,
    })
}
