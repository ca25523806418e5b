//! Waits for the result of a request. After a second, one line on the terminal describes the work.
//! Ctrl-C ends the wait with an error that names the work that continues.

mod counter;
mod interrupts;
mod line;
mod sessions;

use std::convert::Infallible;
use std::pin::pin;
use std::time::Duration;

use segue_core::{Error, Result};
use segue_server::client::Client;
use tokio::sync::watch;
use tokio::time::{Instant, interval, sleep};

use crate::context::Context;
pub(crate) use counter::Counter;
pub(crate) use interrupts::{Interrupts, leave_to_pager};
pub(crate) use line::ProgressLine;
use sessions::ProgressSubject;

/// The progress line appears after this time, and is redrawn at this interval.
pub(crate) const REDRAW_INTERVAL: Duration = Duration::from_secs(1);

/// The work that a command waits for, as the user sees it.
#[derive(Clone, Debug)]
pub(crate) struct AwaitedWork {
    doing: String,
    about: ProgressSubject,
    interrupted: Error,
}

impl AwaitedWork {
    /// Describes the work, such as `starting agents`. An interrupted command reports that no work
    /// continues, unless [`Self::after_interrupt`] sets another message.
    pub(crate) fn new(doing: impl Into<String>) -> Self {
        let interrupted = Error::unavailable("nothing continues without this command");
        Self { doing: doing.into(), about: ProgressSubject::Nothing, interrupted }
    }

    /// Shows the status of every session that changes while the command waits.
    pub(crate) fn showing_changed(self) -> Self {
        Self { about: ProgressSubject::Changed, ..self }
    }

    /// Shows the status of these sessions, and of the sessions of these fleets.
    pub(crate) fn showing(self, names: impl IntoIterator<Item = impl Into<String>>) -> Self {
        let names = names.into_iter().map(Into::into).collect();
        Self { about: ProgressSubject::Named(names), ..self }
    }

    /// Sets the message after an interruption: the work that continues without this command, and a
    /// hint how to check it.
    pub(crate) fn after_interrupt(self, what: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { interrupted: Error::unavailable(what).hint(hint), ..self }
    }
}

/// Connects to the daemon, and starts it first if it does not run.
pub(crate) async fn connect(context: &Context) -> Result<Client> {
    let awaited = AwaitedWork::new("waiting for the daemon");
    let awaited =
        awaited.after_interrupt("a daemon that is starting continues", "run `segue daemon status`");
    with_progress(context, awaited, Client::connect(&context.local)).await
}

/// Waits for a future. After a second a line on the terminal describes the work; it is erased at
/// the end. Ctrl-C ends the wait with an error that names the work that continues.
pub(crate) async fn with_progress<T>(
    context: &Context,
    awaited: AwaitedWork,
    work: impl Future<Output = Result<T>>,
) -> Result<T> {
    let mut interrupts = Interrupts::take()?;
    let mut work = pin!(work);
    tokio::select! {
        biased;
        result = work.as_mut() => result,
        () = interrupts.next() => {
            context.interrupt();
            Err(awaited.interrupted.clone())
        }
        never = show_line(context, &awaited) => match never {},
    }
}

async fn show_line(context: &Context, awaited: &AwaitedWork) -> Infallible {
    let began = Instant::now();
    let Some(mut line) = ProgressLine::new(context) else { return std::future::pending().await };
    sleep(REDRAW_INTERVAL).await;
    let (states, shown) = watch::channel(String::new());
    tokio::select! {
        never = sessions::follow(context, &awaited.about, states) => never,
        never = draw(&awaited.doing, shown, began, &mut line) => never,
    }
}

/// Redraws the line every second, and whenever a session has changed.
async fn draw(
    doing: &str,
    mut states: watch::Receiver<String>,
    began: Instant,
    line: &mut ProgressLine,
) -> Infallible {
    let mut second = interval(REDRAW_INTERVAL);
    loop {
        tokio::select! {
            _ = second.tick() => {}
            Ok(()) = states.changed() => {}
        }
        let text = text(doing, &states.borrow_and_update(), began.elapsed());
        line.draw(&text);
    }
}

fn text(doing: &str, states: &str, elapsed: Duration) -> String {
    let states = if states.is_empty() { String::new() } else { format!(": {states}") };
    // The seconds come first, because a text that is wider than the terminal is cut at its end.
    format!("({} s) {doing}{states}", elapsed.as_secs())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn progress_line_has_the_seconds_the_work_and_the_session_statuses() {
        let three = Duration::from_millis(3900);
        assert_eq!(text("waiting", "a/b working", three), "(3 s) waiting: a/b working");
        assert_eq!(text("starting", "", three), "(3 s) starting");
    }
}
