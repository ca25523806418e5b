//! Finds out whether the last turn of an agent may have had side effects.

use std::ops::ControlFlow;

use crate::error::Result;
use crate::flows::SessionState;
use crate::model::{Role, SessionId};
use crate::ports::Ports;

/// Returns whether the agent may have called a tool since the last message of the user. An agent
/// changes files only through tools, and records a call before it runs. Returns `true` if the
/// transcript cannot be read, because the agent may have acted then.
pub async fn may_have_acted(ports: &Ports, session: SessionId) -> bool {
    let Ok(state) = SessionState::load(ports, session).await else { return true };
    has_acted(ports, &state).unwrap_or(true)
}

fn has_acted(ports: &Ports, state: &SessionState) -> Result<bool> {
    let vendor = ports.vendors.of(&state.session)?;
    let (Some(transcripts), Some(id)) = (vendor.transcripts(), state.vendor_session()) else {
        return Ok(state.launches.iter().any(|launch| launch.agent.is_some()));
    };
    let (files, place) = (ports.files.as_ref(), state.place());
    if transcripts.length(files, &place, id).is_none() {
        return Ok(state.session.has_content);
    }
    let mut has_acted = false;
    let transcript = transcripts.transcript(files, &place, id);
    transcripts.turns_back(files, &transcript, &mut |turn| match turn.role {
        Role::User | Role::Summary => ControlFlow::Break(()),
        Role::Assistant => ControlFlow::Continue(()),
        Role::ToolCall | Role::ToolResult => {
            has_acted = true;
            ControlFlow::Break(())
        }
    })?;
    Ok(has_acted)
}
