//! Commands that take several sessions or fleets: each is carried out, whatever becomes of the
//! others.

use segue_core::api::{FailedTarget, SelectReport, SelectRequest};
use segue_core::{Error, Kind, Result};
use segue_server::client::Client;

use crate::context::{Context, Ending};

/// How names are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Names {
    /// The beginning of a name is enough; a fleet means also its sessions that ended for good.
    Loose,
    /// As [`Self::Loose`], but a fleet means only sessions that go on.
    Going,
    /// Only whole names and beginnings of ids.
    Whole,
}

/// Asks the daemon which sessions are meant. Fails if none of the names leads to a session.
pub(crate) async fn select(
    client: &Client,
    context: &Context,
    names: &[String],
    how: Names,
) -> Result<SelectReport> {
    let request = SelectRequest {
        cwd: context.cwd().to_owned(),
        names: names.to_vec(),
        whole: how == Names::Whole,
        finished: how != Names::Going,
    };
    client.select(&request).await
}

/// What came of a command for several sessions, counted while it runs.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    done: usize,
    failed: Vec<Kind>,
}

impl Tally {
    /// Begins with names that led to no session; reports them.
    pub(crate) fn of(failed: &[FailedTarget], context: &mut Context) -> Self {
        let mut tally = Self::default();
        for FailedTarget { error, .. } in failed {
            tally.fail(error, context);
        }
        tally
    }

    pub(crate) fn succeed(&mut self) {
        self.done += 1;
    }

    /// Reports a failure: to a person, and with `--json` as a line of its own.
    pub(crate) fn fail(&mut self, error: &Error, context: &mut Context) {
        context.output.failure(error);
        self.failed.push(error.kind);
    }

    /// Notes a failure that the answer itself has reported.
    pub(crate) fn fail_silently(&mut self, kind: Kind) {
        self.failed.push(kind);
    }

    /// Returns the end of the command: the first failure's own exit status if nothing was done.
    pub(crate) fn ending(&self) -> Ending {
        match (self.failed.first(), self.done) {
            (None, _) => Ending::Done,
            (Some(first), 0) => Ending::Told(*first),
            (Some(_), _) => Ending::Told(Kind::Partial),
        }
    }
}

/// Reports names that led to no session, of a command whose answer has them too.
pub(crate) fn report(failed: &[FailedTarget], context: &Context) {
    failed.iter().for_each(|it| context.output.complaint(&it.error));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_exit_status_is_8_if_some_failed_and_the_first_failures_own_if_all_did() {
        let table: [(usize, &[Kind], Ending); 5] = [
            (0, &[], Ending::Done),
            (2, &[], Ending::Done),
            (1, &[Kind::NotFound], Ending::Told(Kind::Partial)),
            (0, &[Kind::NotFound, Kind::Conflict], Ending::Told(Kind::NotFound)),
            (0, &[Kind::Conflict], Ending::Told(Kind::Conflict)),
        ];
        for (done, failed, expected) in table {
            let tally = Tally { done, failed: failed.to_vec() };
            assert_eq!(tally.ending(), expected, "{done} {failed:?}");
        }
    }
}
