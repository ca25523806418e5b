//! The state of the agent (running, ended), and the steps of a stop.

use std::time::Duration;

use segue_core::model::LaunchEnd;
use tokio::time::Instant;

/// Whether the agent runs or has ended.
#[derive(Clone, Copy, Debug)]
pub(super) enum AgentState {
    Running {
        stop: Option<PendingStop>,
    },
    /// The agent has ended. The holder is ending the processes that the agent has started.
    Sweeping {
        end: LaunchEnd,
        holder_exits: bool,
    },
    Ended {
        end: LaunchEnd,
        /// Whether the holder exits. Otherwise it stays to keep the environment.
        holder_exits: bool,
    },
}

impl AgentState {
    pub(super) fn running() -> Self {
        Self::Running { stop: None }
    }

    pub(super) fn stop(&self) -> Option<PendingStop> {
        match self {
            Self::Running { stop } => *stop,
            Self::Sweeping { .. } | Self::Ended { .. } => None,
        }
    }

    /// Returns how the agent ended. `None` until all processes that it has started are gone.
    pub(super) fn end(&self) -> Option<LaunchEnd> {
        match self {
            Self::Ended { end, .. } => Some(*end),
            Self::Running { .. } | Self::Sweeping { .. } => None,
        }
    }

    /// Returns whether the holder will exit: at once, or as soon as all processes that the agent has
    /// started are gone.
    pub(super) fn will_holder_exit(&self) -> bool {
        matches!(
            self,
            Self::Sweeping { holder_exits: true, .. } | Self::Ended { holder_exits: true, .. }
        )
    }

    /// Returns whether the holder may exit now.
    pub(super) fn may_holder_exit(&self) -> bool {
        matches!(self, Self::Ended { holder_exits: true, .. })
    }
}

/// A stop in progress.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct PendingStop {
    /// Whether a client requested the stop. Otherwise the machine shuts down.
    pub(super) is_requested: bool,
    pub(super) next: StopStep,
    /// When the next step is due.
    pub(super) at: Instant,
    /// When the agent is killed.
    deadline: Instant,
}

/// The next step of a stop. The agent has received SIGTERM before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum StopStep {
    /// Send SIGHUP. Interactive shells ignore SIGTERM but exit when their terminal hangs up. It is
    /// the second signal, because it would kill an agent that is still cleaning up after the first.
    HangUp,
    Kill,
}

impl PendingStop {
    pub(super) fn new(is_requested: bool, grace: Duration, now: Instant) -> Self {
        let deadline = now + grace;
        Self { is_requested, next: StopStep::HangUp, at: now + grace / 2, deadline }
    }

    /// Combines two stops. The earlier deadline counts, and executed steps are not repeated.
    pub(super) fn join(self, other: Self) -> Self {
        let earlier = if other.deadline < self.deadline { other } else { self };
        let next = if self.next == StopStep::Kill { StopStep::Kill } else { earlier.next };
        let at = if next == StopStep::Kill { earlier.deadline } else { earlier.at };
        Self { is_requested: self.is_requested || other.is_requested, next, at, ..earlier }
    }

    /// Returns the stop after its next step. `None` if that was the last step.
    pub(super) fn advance(self) -> Option<Self> {
        match self.next {
            StopStep::HangUp => Some(Self { next: StopStep::Kill, at: self.deadline, ..self }),
            StopStep::Kill => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stop_sends_sighup_halfway_and_sigkill_at_the_deadline() {
        let now = Instant::now();
        let stop = PendingStop::new(true, Duration::from_secs(8), now);
        assert_eq!((stop.next, stop.at), (StopStep::HangUp, now + Duration::from_secs(4)));
        let stop = stop.advance().unwrap();
        assert_eq!((stop.next, stop.at), (StopStep::Kill, now + Duration::from_secs(8)));
        assert_eq!(stop.advance(), None);
    }

    #[test]
    fn second_stop_can_only_shorten_the_deadline() {
        let now = Instant::now();
        let slow = PendingStop::new(false, Duration::from_secs(8), now);
        let quick = PendingStop::new(true, Duration::from_secs(2), now);
        for stop in [slow.join(quick), quick.join(slow)] {
            assert!(stop.is_requested);
            assert_eq!((stop.next, stop.at), (StopStep::HangUp, now + Duration::from_secs(1)));
        }
        let hung_up = slow.advance().unwrap().join(quick);
        assert_eq!((hung_up.next, hung_up.at), (StopStep::Kill, now + Duration::from_secs(2)));
    }
}
