//! The starts of a session that were requested and not yet carried out.
//!
//! A start goes through these states. Only the steps between them run in the actor, so the actor
//! handles all other messages while a start waits.
//!
//! ```text
//! requested ──Begin──► prepared ──► at the gates ──Admitted──► launched
//!     │                   │               │                       │
//!     │                   ├─ nothing to start: answered           └─ failed: answered
//!     │                   ├─ not needed any more: dropped
//!     │                   └─ failed: answered
//!     └──────────────── stopped by a user, or refused by the account: answered
//! ```
//!
//! - Before the gates, the folder of the session's worktree is made again if it is gone, and its setup
//!   commands are run if they have not succeeded yet.
//! - At most one start is at the gates. Later starts begin after it, so that the second of two
//!   `resume` finds the process of the first and reports it.
//! - A request to stop the session answers and removes all starts. Dropping the wait returns its
//!   permits.
//! - The session can change while a start waits: it is renamed, configured, or its conversation is
//!   opened in another process. So the decision how to start is made after the wait.
//! - No launch of the session can begin while a start waits: every launch comes out of this queue.
//! - The queue is in memory only. If the daemon ends, nothing of a waiting start is recorded, and
//!   its caller gets an error.

use std::collections::VecDeque;
use std::future::poll_fn;
use std::pin::Pin;
use std::task::{Context, Poll};

use segue_core::Result;
use segue_core::api::{AgentOutcome, SessionView};
use segue_core::flows::launch::LaunchRequest;
use segue_core::flows::look::SelectionMode;
use segue_core::model::{Environment, LaunchId};

use super::super::accounts::StartTrigger;
use super::super::admission::StartPermits;
use super::{ConversationRenewal, LeftBehind, Reply, Start};

/// A requested start of the session's agent.
#[derive(Debug)]
pub(super) enum StartRequest {
    /// The first launch. The session is recorded together with it.
    First { start: Box<Start>, reply: FirstReply },
    /// Brings the session back.
    Resume {
        environment: Environment,
        selection: SelectionMode,
        /// `Some` starts a new conversation.
        fresh: Option<ConversationRenewal>,
        trigger: StartTrigger,
        /// What a new conversation leaves behind. Known when the start begins.
        left_behind: LeftBehind,
        reply: Reply<AgentOutcome>,
    },
    /// Starts the session with a conversation that a handoff brought to it.
    Handoff { launch: Box<LaunchRequest>, trigger: StartTrigger, reply: Reply<AgentOutcome> },
    /// Restarts a crashed agent, without a request of a user. `after` is the crashed launch.
    Restart { after: LaunchId, environment: Environment },
    /// Starts the next turn of a headless session, with its oldest queued message.
    NextTurn { environment: Environment },
    /// Ends the agent, and starts it in its conversation with the settings that the session has now.
    Reconfigured { environment: Environment },
}

impl StartRequest {
    /// Returns a request to bring the session back. What a new conversation leaves behind is set
    /// when the start begins.
    pub(super) fn resume(
        environment: Environment,
        (selection, fresh, trigger): (SelectionMode, Option<ConversationRenewal>, StartTrigger),
        reply: Reply<AgentOutcome>,
    ) -> Self {
        let left_behind = LeftBehind::Nothing;
        Self::Resume { environment, selection, fresh, trigger, left_behind, reply }
    }
}

/// The reply to the request for a first launch.
#[derive(Debug)]
pub(super) enum FirstReply {
    /// As soon as the process runs.
    Started(Reply<SessionView>),
    /// When the process has proven its conversation.
    Verified(Reply<AgentOutcome>),
}

/// Waits until a start is permitted.
pub(super) type PermitWait = Pin<Box<dyn Future<Output = Result<StartPermits>> + Send + Sync>>;

/// A start that waits at the gates.
struct PendingStart {
    request: StartRequest,
    admission: PermitWait,
}

/// The next step of a start.
#[derive(Debug)]
pub(super) enum StartStep {
    /// Prepare the start. Then it may have to wait at the gates.
    Begin(StartRequest),
    /// The wait is over: launch the agent, or answer with the error.
    Admitted { request: StartRequest, permits: Result<StartPermits> },
}

/// All starts of a session that are not carried out yet, in the order of their requests.
#[derive(Default)]
pub(super) struct StartQueue {
    at_gates: Option<PendingStart>,
    requested: VecDeque<StartRequest>,
}

impl StartQueue {
    pub(super) fn push(&mut self, request: StartRequest) {
        self.requested.push_back(request);
    }

    /// Lets a start wait at the gates. The caller has taken it out of the queue with
    /// [`StartStep::Begin`].
    pub(super) fn wait_at_gates(&mut self, request: StartRequest, admission: PermitWait) {
        self.at_gates = Some(PendingStart { request, admission });
    }

    pub(super) fn is_empty(&self) -> bool {
        self.at_gates.is_none() && self.requested.is_empty()
    }

    /// Returns whether all starts in the queue are restarts, which no user requested.
    pub(super) fn has_only_restarts(&self) -> bool {
        let waiting = self.at_gates.iter().map(|pending| &pending.request);
        waiting.chain(&self.requested).all(|it| matches!(it, StartRequest::Restart { .. }))
    }

    /// Removes all starts. The permits that they have are returned.
    pub(super) fn take_all(&mut self) -> Vec<StartRequest> {
        let waiting = self.at_gates.take().map(|pending| pending.request);
        waiting.into_iter().chain(self.requested.drain(..)).collect()
    }

    /// Waits for the next step of a start. Never returns if there is no start. Nothing is lost if
    /// the future is dropped.
    pub(super) async fn next_step(&mut self) -> StartStep {
        poll_fn(|context| self.poll_next_step(context)).await
    }

    fn poll_next_step(&mut self, context: &mut Context<'_>) -> Poll<StartStep> {
        let Some(PendingStart { request, mut admission }) = self.at_gates.take() else {
            // Nothing has to wake the actor if the queue is empty: only the actor itself adds a
            // start, and then it calls this function again.
            return self
                .requested
                .pop_front()
                .map_or(Poll::Pending, |request| Poll::Ready(StartStep::Begin(request)));
        };
        match admission.as_mut().poll(context) {
            Poll::Ready(permits) => Poll::Ready(StartStep::Admitted { request, permits }),
            Poll::Pending => {
                self.at_gates = Some(PendingStart { request, admission });
                Poll::Pending
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::task::Waker;

    use segue_core::Error;
    use tokio::sync::oneshot;

    use super::*;

    fn next_turn(word: &str) -> StartRequest {
        let mut environment = Environment::default();
        environment.set("WORD", word);
        StartRequest::NextTurn { environment }
    }

    fn word(request: &StartRequest) -> Option<&str> {
        match request {
            StartRequest::NextTurn { environment } => environment.get("WORD"),
            _ => None,
        }
    }

    fn step(queue: &mut StartQueue) -> Option<StartStep> {
        match queue.poll_next_step(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(step) => Some(step),
            Poll::Pending => None,
        }
    }

    fn begin(queue: &mut StartQueue) -> StartRequest {
        match step(queue) {
            Some(StartStep::Begin(request)) => request,
            other => panic!("not a start that begins: {other:?}"),
        }
    }

    /// Lets the next start wait. The returned sender ends the wait. It is closed if the wait is
    /// dropped.
    fn wait(queue: &mut StartQueue) -> oneshot::Sender<Result<StartPermits>> {
        let request = begin(queue);
        let (open, opened) = oneshot::channel();
        let gone = || Err(Error::internal("gone"));
        let admission = async move { opened.await.unwrap_or_else(|_| gone()) };
        queue.wait_at_gates(request, Box::pin(admission));
        open
    }

    fn permits() -> StartPermits {
        StartPermits { gates: Vec::new(), scout: None, worktree_was_gone: false }
    }

    #[test]
    fn later_start_begins_after_the_start_at_the_gates_is_admitted() {
        let mut queue = StartQueue::default();
        assert!(step(&mut queue).is_none());
        queue.push(next_turn("first"));
        queue.push(next_turn("second"));
        let open = wait(&mut queue);
        assert!(step(&mut queue).is_none(), "two starts at the same time");
        assert!(!queue.is_empty());
        open.send(Ok(permits())).unwrap();
        let Some(StartStep::Admitted { request, permits: Ok(_) }) = step(&mut queue) else {
            panic!("the start was not admitted");
        };
        assert_eq!(word(&request), Some("first"));
        assert_eq!(word(&begin(&mut queue)), Some("second"));
        assert!(queue.is_empty());
    }

    #[test]
    fn taking_all_starts_ends_the_wait_and_keeps_their_order() {
        let mut queue = StartQueue::default();
        queue.push(next_turn("first"));
        queue.push(next_turn("second"));
        let open = wait(&mut queue);
        let taken = queue.take_all();
        let is_dropped = open.is_closed();
        drop(open);
        assert!(is_dropped, "the wait is not dropped");
        assert_eq!(taken.iter().map(word).collect::<Vec<_>>(), [Some("first"), Some("second")]);
        assert!(queue.is_empty() && step(&mut queue).is_none());
    }

    #[test]
    fn has_only_restarts_is_false_if_another_start_is_queued() {
        let mut queue = StartQueue::default();
        assert!(queue.has_only_restarts());
        queue.push(StartRequest::Restart {
            after: "00000000-0000-0000-0000-000000000001".parse().unwrap(),
            environment: Environment::default(),
        });
        assert!(queue.has_only_restarts());
        queue.push(next_turn("first"));
        assert!(!queue.has_only_restarts());
    }
}
