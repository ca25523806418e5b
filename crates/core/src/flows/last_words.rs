//! The last output of an agent before it ended.

use crate::flows::SessionState;
use crate::model::{LaunchEnd, LaunchId, Status, WaitingFor};
use crate::ports::Ports;
use crate::rules::last_words;
use crate::rules::restarts::Failures;

/// Returns the last output of a launch if it may explain the end of the launch.
pub fn of_launch(
    ports: &Ports,
    state: &SessionState,
    launch: LaunchId,
    end: LaunchEnd,
) -> Option<String> {
    let vendor = ports.vendors.of(&state.session).ok()?;
    // If the vendor never shows which conversation it is in, this evidence is missing in every
    // launch and indicates no failure.
    let can_show = vendor.signals().is_some();
    let has_shown = state.is_confirmed(launch) || !can_show;
    last_words::may_explain(end, has_shown).then(|| ports.folders.last_words(launch))?
}

/// Returns the last output of a session that does not run, if it may explain why.
pub fn of_session(ports: &Ports, state: &SessionState) -> Option<String> {
    let launch = state.launches.last()?;
    of_launch(ports, state, launch.id, launch.end?)
}

/// Returns the reasons why a session does not run, as causes of an error: that automatic restarts
/// were given up, and the last output of its agent.
pub fn why_not_running(ports: &Ports, state: &SessionState) -> Vec<String> {
    let gave_up = state.session.status == Status::Waiting(WaitingFor::Choice);
    let ended_at = state.launches.last().and_then(|launch| launch.end).map(|end| end.at);
    let now = ended_at.unwrap_or_else(|| ports.clock.now());
    let gave_up = gave_up.then(|| format!("it {}", Failures::count(&state.launches, now)));
    let output = of_session(ports, state).map(|output| last_words::cause(&output));
    gave_up.into_iter().chain(output).collect()
}
