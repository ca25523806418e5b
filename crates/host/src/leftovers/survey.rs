//! A survey of all processes of the machine. All callers that wait for the next survey share it.
//!
//! When a whole fleet is resumed, each session must know that no process of its dead launches is
//! left. A survey for each session would take quadratic time.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use segue_core::model::LaunchId;
use segue_core::{Error, Result};
use tokio::sync::oneshot;

use super::{mark_in, member_of};
use crate::process::{self, EnvironmentNow};

/// The result of one survey of all processes.
#[derive(Debug, Default)]
pub(super) struct Survey {
    /// Every process except this one that is in the cgroup of a launch or has the mark of a launch.
    pub(super) marked: Vec<(u32, LaunchId)>,
    /// Whether a process was inside `execve`, so that its environment could not be read.
    pub(super) is_incomplete: bool,
}

/// The callers that wait for a survey.
type Waiting = Vec<oneshot::Sender<Arc<Survey>>>;

/// The callers that wait for the next survey. There is only one queue, because there is only one
/// machine.
struct SurveyQueue {
    waiting: Waiting,
    /// Whether a worker serves the callers.
    has_worker: bool,
}

static QUEUE: Mutex<SurveyQueue> =
    Mutex::new(SurveyQueue { waiting: Vec::new(), has_worker: false });

fn queue() -> MutexGuard<'static, SurveyQueue> {
    QUEUE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Returns a survey that began after this was called.
pub(super) async fn survey() -> Result<Arc<Survey>> {
    let (reply, answer) = oneshot::channel();
    if let Some(mut service) = Service::enqueue(reply) {
        tokio::task::spawn_blocking(move || service.serve());
    }
    answer.await.map_err(|error| Error::internal("cannot survey processes").caused_by(error))
}

/// The worker that makes surveys as long as a caller waits. If it is dropped before it is done, the
/// waiting callers get an error and the next caller starts a new worker.
struct Service {
    is_done: bool,
}

impl Service {
    /// Adds a caller to the queue. Returns a new worker if none is running.
    fn enqueue(reply: oneshot::Sender<Arc<Survey>>) -> Option<Self> {
        let mut queue = queue();
        queue.waiting.push(reply);
        let had_worker = std::mem::replace(&mut queue.has_worker, true);
        drop(queue);
        // `then` creates the worker only if it is needed, because dropping a worker has an effect.
        (!had_worker).then(|| Self { is_done: false })
    }

    fn serve(&mut self) {
        while let Some(waiting) = self.next() {
            let survey = Arc::new(examine());
            for reply in waiting {
                // The caller may have given up.
                let _gone = reply.send(Arc::clone(&survey));
            }
        }
    }

    fn next(&mut self) -> Option<Waiting> {
        let mut queue = queue();
        let waiting = std::mem::take(&mut queue.waiting);
        self.is_done = waiting.is_empty();
        queue.has_worker = !self.is_done;
        drop(queue);
        (!self.is_done).then_some(waiting)
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        if !self.is_done {
            *queue() = SurveyQueue { waiting: Vec::new(), has_worker: false };
        }
    }
}

fn examine() -> Survey {
    let mut survey = Survey::default();
    for pid in process::all().into_iter().filter(|pid| *pid != std::process::id()) {
        if let Some(launch) = member_of(pid) {
            survey.marked.push((pid, launch));
            continue;
        }
        match process::environment_now(pid) {
            EnvironmentNow::Known(environment) => {
                survey.marked.extend(mark_in(&environment).map(|mark| (pid, mark)));
            }
            EnvironmentNow::InsideExecve => survey.is_incomplete = true,
            EnvironmentNow::None => {}
        }
    }
    survey
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ask() -> (Option<Service>, oneshot::Receiver<Arc<Survey>>) {
        let (reply, answer) = oneshot::channel();
        (Service::enqueue(reply), answer)
    }

    /// A single test, because there is only one queue.
    #[test]
    fn waiting_callers_share_a_survey_and_fail_if_the_worker_is_dropped() {
        let (service, mut first) = ask();
        let (no_service, mut second) = ask();
        assert!(no_service.is_none());
        service.unwrap().serve();
        let (first, second) = (first.try_recv().unwrap(), second.try_recv().unwrap());
        assert!(Arc::ptr_eq(&first, &second));
        let (service, mut unserved) = ask();
        drop(service);
        unserved.try_recv().unwrap_err();
        let (service, mut later) = ask();
        service.unwrap().serve();
        assert!(!Arc::ptr_eq(&first, &later.try_recv().unwrap()), "an old survey is returned");
    }
}
