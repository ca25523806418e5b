//! The last output of an agent before it ended.

use crate::flows::SessionState;
use crate::model::{LaunchEnd, LaunchId, Status, WaitingFor};
use crate::ports::Ports;
use crate::rules::last_output;
use crate::rules::restarts::Failures;

/// Returns the last output of a launch if it may explain the end of the launch.
pub fn of_launch(
    ports: &Ports,
    state: &SessionState,
    launch: LaunchId,
    end: LaunchEnd,
) -> Option<String> {
    let vendor = ports.vendors.of(&state.session).ok()?;
    // Some vendors never show which conversation a process is in. For them, a launch that has not
    // shown it is no failed start.
    let can_show = vendor.signals().is_some();
    let has_shown = state.is_confirmed(launch) || !can_show;
    last_output::may_explain(end, has_shown).then(|| ports.folders.last_output(launch))?
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
    let output = of_session(ports, state).map(|output| last_output::cause(&output));
    gave_up.into_iter().chain(output).collect()
}
