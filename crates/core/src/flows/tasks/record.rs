//! The commit of a change of a task: the new record together with its event.

use crate::model::{EventPayload, NewEvent, Task, TaskStateKind};
use crate::ports::{Change, Commit, Ports};

/// Returns the commit that replaces a task. `from` is the state that the task has now; if another
/// request has changed it meanwhile, the commit fails. `reason` is part of the event.
pub fn change(ports: &Ports, task: &Task, from: TaskStateKind, reason: Option<String>) -> Commit {
    let change = Change::SetTask { task: Box::new(task.clone()), from };
    Commit { changes: vec![change], events: vec![event(ports, task, reason)] }
}

/// Returns the event about the current state of a task.
pub(crate) fn event(ports: &Ports, task: &Task, reason: Option<String>) -> NewEvent {
    let state = task.state.kind();
    let payload = EventPayload::TaskChanged { task: task.id, state, reason };
    NewEvent { at: ports.clock.now(), session: task.session, launch: None, payload }
}
