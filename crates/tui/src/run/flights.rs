//! Requests that are on their way. Of each kind there is one at a time: many events cause at most one
//! request, and one more after it.

use std::collections::HashMap;

use tokio::task::JoinHandle;

use crate::update::UiEffect;

/// Requests of one kind replace each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum FlightKind {
    Sessions,
    Tasks,
    Worktrees,
    Usage,
    /// The data of the right side, with the number of their request.
    Detail(u64),
}

impl FlightKind {
    /// Returns the kind of an effect. `None` for an effect that is never dropped.
    pub(super) fn of(effect: &UiEffect) -> Option<Self> {
        match effect {
            UiEffect::LoadSessions => Some(Self::Sessions),
            UiEffect::LoadTasks { .. } => Some(Self::Tasks),
            UiEffect::LoadWorktrees => Some(Self::Worktrees),
            UiEffect::LoadUsage => Some(Self::Usage),
            UiEffect::LoadTalk { request, before: None, .. }
            | UiEffect::LoadMessages { request, .. }
            | UiEffect::LoadLog { request, .. }
            | UiEffect::LoadDiff { request, .. } => Some(Self::Detail(*request)),
            _ => None,
        }
    }
}

/// The requests that are on their way.
#[derive(Debug, Default)]
pub(super) struct Flights(HashMap<FlightKind, RequestFlight>);

#[derive(Debug)]
struct RequestFlight {
    task: Option<JoinHandle<()>>,
    /// The request that follows.
    next: Option<UiEffect>,
}

impl Flights {
    /// Registers a request. Returns false if one of its kind is on its way: it then follows.
    pub(super) fn begin(&mut self, kind: FlightKind, effect: &UiEffect) -> bool {
        if let FlightKind::Detail(_) = kind {
            // Requests for another session than the shown one are not needed any more.
            self.0.retain(|other, flight| {
                let is_kept = *other == kind || !matches!(other, FlightKind::Detail(_));
                if let Some(task) = flight.task.as_ref().filter(|_| !is_kept) {
                    task.abort();
                }
                is_kept
            });
        }
        if let Some(flight) = self.0.get_mut(&kind) {
            flight.next = Some(effect.clone());
            return false;
        }
        self.0.insert(kind, RequestFlight { task: None, next: None });
        true
    }

    pub(super) fn set_task(&mut self, kind: FlightKind, task: JoinHandle<()>) {
        if let Some(flight) = self.0.get_mut(&kind) {
            flight.task = Some(task);
        }
    }

    /// Ends a request. Returns the request that follows.
    pub(super) fn end(&mut self, kind: FlightKind) -> Option<UiEffect> {
        self.0.remove(&kind)?.next
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_requests_of_a_kind_are_one_and_one_more() {
        let mut flights = Flights::default();
        let effect = UiEffect::LoadSessions;
        assert!(flights.begin(FlightKind::Sessions, &effect));
        assert!(!flights.begin(FlightKind::Sessions, &effect));
        assert!(!flights.begin(FlightKind::Sessions, &effect));
        assert_eq!(flights.end(FlightKind::Sessions), Some(effect.clone()));
        assert!(flights.begin(FlightKind::Sessions, &effect));
        assert_eq!(flights.end(FlightKind::Sessions), None);
    }

    #[test]
    fn request_for_another_session_replaces_the_earlier_one() {
        let mut flights = Flights::default();
        let effect = UiEffect::LoadTasks { with_ended: false };
        assert!(flights.begin(FlightKind::Detail(1), &effect));
        assert!(flights.begin(FlightKind::Detail(2), &effect));
        assert!(flights.begin(FlightKind::Detail(1), &effect));
    }
}
