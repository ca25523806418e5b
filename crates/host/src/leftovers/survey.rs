//! One look at every process of the machine, shared by everybody who asked before it began.
//!
//! When a whole fleet comes back, each of its sessions has to know that nothing of its dead
//! launches is left. A look for each would cost the square of their number.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use segue_core::model::LaunchId;
use segue_core::{Error, Result};
use tokio::sync::oneshot;

use super::{mark_in, member_of};
use crate::process::{self, EnvironmentNow};

/// What one look at all processes shows.
#[derive(Debug, Default)]
pub(super) struct Survey {
    /// Every process but this one that is in the cgroup of a launch, or carries its mark.
    pub(super) marked: Vec<(u32, LaunchId)>,
    /// Some process was just being replaced by another program, and showed no environment.
    pub(super) blurred: bool,
}

/// Whoever waits for a look.
type Waiting = Vec<oneshot::Sender<Arc<Survey>>>;

/// Who waits for the next look, and whether somebody is there to take it. There is one machine to
/// look at, hence one queue.
struct Queue {
    waiting: Waiting,
    served: bool,
}

static QUEUE: Mutex<Queue> = Mutex::new(Queue { waiting: Vec::new(), served: false });

fn queue() -> MutexGuard<'static, Queue> {
    QUEUE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Returns a look at all processes that began after this was called.
pub(super) async fn survey() -> Result<Arc<Survey>> {
    let (reply, answer) = oneshot::channel();
    if let Some(mut service) = Service::for_one_more(reply) {
        tokio::task::spawn_blocking(move || service.serve());
    }
    answer.await.map_err(|error| Error::internal("cannot see processes").caused_by(error))
}

/// The duty to look as long as anybody waits. When it is dropped undone, those who wait are not
/// left waiting, and the next one who asks begins anew.
struct Service {
    done: bool,
}

impl Service {
    /// Adds to those who wait; returns the duty if nobody has it.
    fn for_one_more(reply: oneshot::Sender<Arc<Survey>>) -> Option<Self> {
        let mut queue = queue();
        queue.waiting.push(reply);
        let served = std::mem::replace(&mut queue.served, true);
        drop(queue);
        // Not made unless it is needed: dropping one has consequences.
        (!served).then(|| Self { done: false })
    }

    fn serve(&mut self) {
        while let Some(waiting) = self.next() {
            let seen = Arc::new(look());
            for reply in waiting {
                // Whoever asked may have given up.
                let _gone = reply.send(Arc::clone(&seen));
            }
        }
    }

    fn next(&mut self) -> Option<Waiting> {
        let mut queue = queue();
        let waiting = std::mem::take(&mut queue.waiting);
        self.done = waiting.is_empty();
        queue.served = !self.done;
        drop(queue);
        (!self.done).then_some(waiting)
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        if !self.done {
            *queue() = Queue { waiting: Vec::new(), served: false };
        }
    }
}

fn look() -> Survey {
    let mut seen = Survey::default();
    for pid in process::all().into_iter().filter(|pid| *pid != std::process::id()) {
        if let Some(launch) = member_of(pid) {
            seen.marked.push((pid, launch));
            continue;
        }
        match process::environment_now(pid) {
            EnvironmentNow::Known(environment) => {
                seen.marked.extend(mark_in(&environment).map(|mark| (pid, mark)));
            }
            EnvironmentNow::BetweenPrograms => seen.blurred = true,
            EnvironmentNow::None => {}
        }
    }
    seen
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ask() -> (Option<Service>, oneshot::Receiver<Arc<Survey>>) {
        let (reply, answer) = oneshot::channel();
        (Service::for_one_more(reply), answer)
    }

    /// One test, because there is one queue.
    #[test]
    fn those_who_wait_share_a_look_and_are_never_left_waiting() {
        let (service, mut first) = ask();
        let (nobody_else, mut second) = ask();
        assert!(nobody_else.is_none());
        service.unwrap().serve();
        let (first, second) = (first.try_recv().unwrap(), second.try_recv().unwrap());
        assert!(Arc::ptr_eq(&first, &second));
        let (service, mut undone) = ask();
        drop(service);
        undone.try_recv().unwrap_err();
        let (service, mut later) = ask();
        service.unwrap().serve();
        assert!(!Arc::ptr_eq(&first, &later.try_recv().unwrap()), "a look is never an old one");
    }
}
