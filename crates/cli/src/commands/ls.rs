//! `segue ls`

use clap::Args;
use jiff::Timestamp;
use segue_core::Result;
use segue_core::api::{SessionList, SessionView};

use crate::context::{Context, Ending};
use crate::progress;
use crate::render::sessions::{asking, asks, counted, table};
use crate::render::time::over_a_day_ago;

/// List the sessions: name, vendor, status, since, where
#[derive(Debug, Args)]
#[command(after_help = "Sessions that ended more than a day ago are left out without --all.\n\n\
    Examples:\n  segue ls\n  segue ls --all --json | jq -r '.sessions[].name'")]
pub(crate) struct Arguments {
    /// Include the sessions that ended more than a day ago
    #[arg(long, short)]
    pub(crate) all: bool,
}

pub(crate) async fn run(arguments: &Arguments, context: &mut Context) -> Result<Ending> {
    let client = progress::connect(context).await?;
    let all = client.sessions().await?.sessions;
    let now = context.surroundings().now;
    let (shown, hidden): (Vec<SessionView>, Vec<SessionView>) =
        all.into_iter().partition(|session| arguments.all || !is_old(session, now));
    show(shown, hidden.len(), context)?;
    Ok(Ending::Done)
}

fn show(shown: Vec<SessionView>, hidden: usize, context: &mut Context) -> Result<()> {
    let none = shown.is_empty();
    if context.wants_json() {
        context.output.json(&SessionList { sessions: shown })?;
    } else {
        let text = table(&shown, context.surroundings()).render(context.output.colour());
        context.output.text(&text)?;
        for session in shown.iter().filter(|session| asks(session)) {
            context.output.hint(&asking(session));
        }
    }
    if hidden > 0 {
        let sessions = counted(hidden, "session");
        context
            .output
            .note(&format!("{sessions} that ended more than a day ago: `segue ls --all`"));
    } else if none && !context.wants_json() {
        context.output.note("no sessions yet");
        context.output.hint("run `segue run \"what is to be done\"` to start an agent here");
    }
    Ok(())
}

fn is_old(session: &SessionView, now: Timestamp) -> bool {
    session.status == "ended" && over_a_day_ago(session.updated_at, now)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render::sessions::tests::{NOW, session};

    #[test]
    fn only_what_ended_more_than_a_day_ago_is_left_out() {
        let table = [
            ("ended", 90_000, true),
            ("ended", 3600, false),
            ("lost", 90_000, false),
            ("idle", 90_000, false),
            ("waiting", 90_000, false),
        ];
        let now = Timestamp::from_second(NOW).unwrap();
        for (status, age, old) in table {
            assert_eq!(is_old(&session("x", status, None, age), now), old, "{status} {age}");
        }
    }
}
