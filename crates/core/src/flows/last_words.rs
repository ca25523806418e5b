//! What an agent printed before it ended.

use crate::flows::SessionState;
use crate::model::{LaunchEnd, LaunchId, Status, WaitingFor};
use crate::ports::Ports;
use crate::rules::last_words;
use crate::rules::restarts::Failures;

/// Returns the last output of a launch if that explains its end.
pub fn of_launch(
    ports: &Ports,
    state: &SessionState,
    launch: LaunchId,
    end: LaunchEnd,
) -> Option<String> {
    let vendor = ports.vendors.of(&state.session).ok()?;
    // Where nothing ever shows a conversation, its absence means nothing.
    let can_show = vendor.capabilities().evidence_within.is_some();
    let has_shown = state.is_confirmed(launch) || !can_show;
    last_words::explain(end, has_shown).then(|| ports.folders.last_words(launch))?
}

/// Returns the last output of a session that does not run, if that explains why.
pub fn of_session(ports: &Ports, state: &SessionState) -> Option<String> {
    let launch = state.launches.last()?;
    of_launch(ports, state, launch.id, launch.end?)
}

/// Says why a session does not run, as causes of an error: that automatic attempts ended, and what
/// its agent printed last.
pub fn why_not_running(ports: &Ports, state: &SessionState) -> Vec<String> {
    let gave_up = state.session.status == Status::Waiting(WaitingFor::Choice);
    let ended_at = state.launches.last().and_then(|launch| launch.end).map(|end| end.at);
    let now = ended_at.unwrap_or_else(|| ports.clock.now());
    let gave_up = gave_up.then(|| format!("it {}", Failures::count(&state.launches, now)));
    let output = of_session(ports, state).map(|output| last_words::cause(&output));
    gave_up.into_iter().chain(output).collect()
}
