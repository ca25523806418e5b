//! Commands that take several sessions or fleets. Such a command is run for each of them, even if
//! it fails for others.

use segue_core::api::{FailedTarget, SelectReport, SelectRequest};
use segue_core::{Error, Kind, Result};
use segue_server::client::Client;
use tokio::task::JoinSet;

use crate::context::{CommandEnding, Context};
use crate::progress::{AwaitedWork, with_progress};

/// Which sessions a name can mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NameMatching {
    /// The beginning of a name is enough. A fleet means all its sessions, also those that ended for
    /// good.
    Loose,
    /// Like [`Self::Loose`], but a fleet does not include sessions that ended for good, were
    /// stopped on purpose or were handed over.
    Active,
    /// Only whole names and beginnings of ids.
    Whole,
}

/// Whether the name of a session is printed with its result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NamePrinting {
    Printed,
    /// Not printed, because there is only one session.
    Omitted,
}

/// Asks the daemon which sessions the names mean. An error if no name matches a session.
pub(crate) async fn select(
    client: &Client,
    context: &Context,
    names: &[String],
    how: NameMatching,
) -> Result<SelectReport> {
    let request = SelectRequest {
        cwd: context.cwd().to_owned(),
        names: names.to_vec(),
        whole: how == NameMatching::Whole,
        finished: how != NameMatching::Active,
    };
    client.select(&request).await
}

/// Counts the successes and failures of a command for several sessions.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    done: usize,
    failed: Vec<Kind>,
}

impl Tally {
    /// Makes a tally that contains the names for which no session was found, and prints their
    /// errors.
    pub(crate) fn of(failed: &[FailedTarget], context: &mut Context) -> Self {
        let mut tally = Self::default();
        for FailedTarget { error, .. } in failed {
            tally.fail(error, context);
        }
        tally
    }

    /// Waits for requests that run at the same time. Prints the answer of each with `show` as it
    /// arrives, and counts it.
    pub(crate) async fn add_all<T: 'static>(
        &mut self,
        mut requests: JoinSet<Result<T>>,
        work: &AwaitedWork,
        context: &mut Context,
        mut show: impl FnMut(T, &mut Context) -> Result<CommandEnding>,
    ) -> Result<()> {
        let failed = |error| Error::internal("a request of this command failed").caused_by(error);
        while !requests.is_empty() {
            let next = async { requests.join_next().await.transpose().map_err(failed) };
            let Some(answer) = with_progress(context, work.clone(), next).await? else { break };
            match answer.and_then(|answer| show(answer, context)) {
                Ok(CommandEnding::Done) => self.succeed(),
                Ok(CommandEnding::Reported(kind)) => self.failed.push(kind),
                Err(error) => self.fail(&error, context),
            }
        }
        Ok(())
    }

    pub(crate) fn succeed(&mut self) {
        self.done += 1;
    }

    /// Counts a failure, and prints it on standard error and with `--json` also on standard output.
    pub(crate) fn fail(&mut self, error: &Error, context: &mut Context) {
        context.output.failure(error);
        self.failed.push(error.kind);
    }

    /// Returns the ending of the command: `Done` without failures, `Partial` if only some sessions
    /// failed, and otherwise the kind of the first failure.
    pub(crate) fn ending(&self) -> CommandEnding {
        match (self.failed.first(), self.done) {
            (None, _) => CommandEnding::Done,
            (Some(first), 0) => CommandEnding::Reported(*first),
            (Some(_), _) => CommandEnding::Reported(Kind::Partial),
        }
    }
}

/// Prints the errors about failed names and sessions on standard error. With `--json` the answer
/// contains them, too.
pub(crate) fn report(failed: &[FailedTarget], context: &Context) {
    failed.iter().for_each(|it| context.output.failure_on_stderr(&it.error));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ending_is_partial_if_some_targets_fail_and_the_first_failure_if_all_fail() {
        let table: [(usize, &[Kind], CommandEnding); 5] = [
            (0, &[], CommandEnding::Done),
            (2, &[], CommandEnding::Done),
            (1, &[Kind::NotFound], CommandEnding::Reported(Kind::Partial)),
            (0, &[Kind::NotFound, Kind::Conflict], CommandEnding::Reported(Kind::NotFound)),
            (0, &[Kind::Conflict], CommandEnding::Reported(Kind::Conflict)),
        ];
        for (done, failed, expected) in table {
            let tally = Tally { done, failed: failed.to_vec() };
            assert_eq!(tally.ending(), expected, "{done} {failed:?}");
        }
    }
}
