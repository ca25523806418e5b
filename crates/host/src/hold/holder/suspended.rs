//! Resumes an agent that was suspended (SIGSTOP, ^Z): sends SIGCONT, because there is no shell to do
//! it.
//!
//! The kernel reports that the agent itself was suspended, but not a process below the agent. So the
//! foreground process group of the terminal is resumed shortly after a user pressed ^Z.

use std::collections::VecDeque;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process_group};
use rustix::termios::tcgetpgrp;
use tokio::time::Instant;

use super::agent::AgentStream;
use super::agent_state::AgentState;
use super::{Holder, log};

/// An agent that suspends itself repeatedly is resumed at most once in this time.
const MIN_INTERVAL: Duration = Duration::from_secs(1);
/// The foreground process group is resumed at these times after ^Z. A program may clean up before it
/// suspends itself.
const AFTER_KEY: [Duration; 2] = [Duration::from_millis(200), Duration::from_millis(1500)];
/// ^Z as terminals send it: as a control character, and in the two encodings that send keys as
/// numbers.
const SUSPEND_KEYS: [&[u8]; 3] = [b"\x1a", b"\x1b[122;5u", b"\x1b[27;5;122~"];

/// The times at which processes must be resumed.
#[derive(Debug, Default)]
pub(super) struct Suspended {
    /// When the suspended agent is resumed.
    agent: Option<Instant>,
    /// When the foreground process group is resumed, earliest first.
    foreground: VecDeque<Instant>,
    /// When processes were last resumed.
    last: Option<Instant>,
}

impl Suspended {
    /// Returns when the next action is due. `None` if there is none.
    pub(super) fn due(&self) -> Option<Instant> {
        self.agent.into_iter().chain(self.foreground.front().copied()).min()
    }

    /// Schedules a resume if a user typed the suspend key.
    pub(super) fn typed(&mut self, bytes: &[u8], now: Instant) {
        let has = |key: &&[u8]| bytes.windows(key.len()).any(|part| part == *key);
        if SUSPEND_KEYS.iter().any(has) {
            self.foreground = AFTER_KEY.map(|wait| now + wait).into();
        }
    }

    /// Schedules a resume of the suspended agent.
    fn agent_suspended(&mut self, now: Instant) {
        let at = self.last.map_or(now, |last| (last + MIN_INTERVAL).max(now));
        self.agent.get_or_insert(at);
    }

    /// Returns whether processes must be resumed now.
    fn take_due(&mut self, now: Instant) -> bool {
        let mut is_due = self.agent.take_if(|at| *at <= now).is_some();
        while self.foreground.pop_front_if(|at| *at <= now).is_some() {
            is_due = true;
        }
        if is_due {
            self.last = Some(now);
        }
        is_due
    }
}

impl Holder {
    /// Handles a suspended child. A child that is not the agent was adopted when its parent ended. It
    /// may be a background job that is suspended for a reason, so it is not resumed.
    pub(super) fn child_suspended(&mut self, pid: Pid) {
        if self.is_agent(pid) {
            log("the agent was suspended; it is resumed");
            let now = Instant::now();
            self.suspended.agent_suspended(now);
            self.resume_suspended(now);
        }
    }

    /// Resumes the agent's process group and the foreground process group of its terminal, if that
    /// is due.
    pub(super) fn resume_suspended(&mut self, now: Instant) {
        if !self.suspended.take_due(now) || !matches!(self.agent_state, AgentState::Running { .. })
        {
            return;
        }
        // Until its exit status is collected, the agent's process id cannot be reused.
        let agent = i32::try_from(self.live.agent.pid).ok().and_then(Pid::from_raw);
        let foreground = match &self.stream {
            Some(AgentStream::Terminal { master, .. }) => tcgetpgrp(master.get_ref()).ok(),
            Some(AgentStream::Pipes { .. }) | None => None,
        };
        for group in agent.into_iter().chain(foreground.filter(|group| Some(*group) != agent)) {
            // The foreground process group may have ended.
            let _gone = kill_process_group(group, Signal::CONT);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: fn(u64) -> Duration = Duration::from_millis;

    #[test]
    fn suspended_agent_is_resumed_at_once_and_then_once_a_second() {
        let now = Instant::now();
        let mut suspended = Suspended::default();
        assert_eq!(suspended.due(), None);
        suspended.agent_suspended(now);
        assert!(suspended.take_due(now));
        suspended.agent_suspended(now + MS(10));
        assert!(!suspended.take_due(now + MS(10)));
        assert_eq!(suspended.due(), Some(now + MIN_INTERVAL));
        assert!(suspended.take_due(now + MIN_INTERVAL));
        assert_eq!(suspended.due(), None);
    }

    #[test]
    fn suspend_key_is_recognized_in_every_encoding() {
        let now = Instant::now();
        for typed in [&b"\x1a"[..], b"ab\x1ac", b"\x1b[122;5u", b"\x1b[27;5;122~"] {
            let mut suspended = Suspended::default();
            suspended.typed(typed, now);
            assert_eq!(suspended.due(), Some(now + MS(200)), "{typed:?}");
            assert!(suspended.take_due(now + MS(200)));
            assert_eq!(suspended.due(), Some(now + MS(1500)), "{typed:?}");
        }
        for typed in [&b"z"[..], b"", b"\x1b[122;1u"] {
            let mut suspended = Suspended::default();
            suspended.typed(typed, now);
            assert_eq!(suspended.due(), None, "{typed:?}");
        }
    }
}
