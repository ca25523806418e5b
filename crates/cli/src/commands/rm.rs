//! `segue rm`: removes sessions, and with `--purge` their transcripts.

use clap::Args;
use segue_core::api::SessionView;
use segue_core::{Error, Result};
use segue_server::client::Client;
use serde::Serialize;

use super::targets::{self, NameMatching, Tally};
use crate::complete;
use crate::context::{CommandEnding, Context};
use crate::output::Output;
use crate::progress::{self, AwaitedWork, with_progress};
use crate::render::sessions::{address, counted};

/// Delete the records of sessions; their transcripts stay unless --purge is given
#[derive(Debug, Args)]
#[command(
    after_help = "It needs a whole name, or the beginning of an id. Without a terminal, it needs \
    --yes. If one of several sessions cannot be removed, the others are removed, and the exit \
    status is 8.\n\n\
    Examples:\n  segue rm coder\n  segue rm coder tester\n  segue rm shop/tester --purge --yes"
)]
pub(crate) struct RmArguments {
    /// Sessions, or fleets with all their sessions
    #[arg(value_name = "SESSION|FLEET", required = true, add = complete::sessions_and_fleets())]
    pub(crate) names: Vec<String>,

    /// Delete their transcripts, too: nothing can bring the conversations back
    #[arg(long)]
    pub(crate) purge: bool,

    /// Do not ask
    #[arg(long, short)]
    pub(crate) yes: bool,
}

/// A session as it was before its removal, as `segue rm --json` prints it.
#[derive(Debug, Serialize)]
struct RemovedSession<'a> {
    #[serde(flatten)]
    session: &'a SessionView,
    outcome: &'static str,
}

pub(crate) async fn run(arguments: &RmArguments, context: &mut Context) -> Result<CommandEnding> {
    let client = progress::connect(context).await?;
    let chosen = targets::select(&client, context, &arguments.names, NameMatching::Whole).await?;
    let mut tally = Tally::of(&chosen.failed, context);
    confirm(arguments, &chosen.sessions, context)?;
    for session in &chosen.sessions {
        match remove(session, arguments.purge, &client, context).await {
            Ok(()) => {
                tally.succeed();
                print_removed(session, context)?;
            }
            Err(error) if context.is_interrupted() => return Err(error),
            Err(error) => tally.fail(&error, context),
        }
    }
    Ok(tally.ending())
}

async fn remove(
    session: &SessionView,
    purge: bool,
    client: &Client,
    context: &Context,
) -> Result<()> {
    let name = address(session);
    let work = AwaitedWork::new("removing").showing([name.clone()]);
    let work =
        work.after_interrupt(format!("{name} is being removed"), "run `segue ls --all` to see");
    // Uses the id, so that exactly the confirmed session is removed: a name could mean another
    // session by now.
    let id = session.session.to_string();
    with_progress(context, work, client.remove(&id, context.cwd(), purge)).await
}

fn print_removed(session: &SessionView, context: &mut Context) -> Result<()> {
    if context.wants_json() {
        return context.output.json(&RemovedSession { session, outcome: "removed" });
    }
    context.output.text(&format!("{} removed\n", address(session)))
}

fn confirm(arguments: &RmArguments, sessions: &[SessionView], context: &Context) -> Result<()> {
    if arguments.yes || sessions.is_empty() {
        return Ok(());
    }
    let names: Vec<String> = sessions.iter().map(address).collect();
    if !Output::can_ask() {
        let names = names.join(" ");
        return Err(Error::usage(format!(
            "`{names}` is not removed: there is no terminal to ask on"
        ))
        .hint(format!("run `segue rm {names} --yes` to remove it without being asked")));
    }
    if context.output.ask(&question(&names, arguments.purge))? {
        return Ok(());
    }
    Err(Error::usage(format!("`{}` is not removed: the answer was no", names.join(" "))))
}

fn question(names: &[String], purge: bool) -> String {
    let (what, its) = match names {
        [only] => (only.clone(), "its transcript"),
        several => {
            let count = counted(several.len(), "session");
            (format!("{count} ({})", several.join(", ")), "their transcripts")
        }
    };
    if purge {
        return format!("remove {what} and delete {its}? nothing can bring that back");
    }
    let stays = if names.len() == 1 { "stays" } else { "stay" };
    format!("remove {what}? {its} {stays}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn confirmation_question_names_every_session() {
        let names = |names: &[&str]| names.iter().map(|&it| it.to_owned()).collect::<Vec<_>>();
        let table: [(&[&str], bool, &str); 3] = [
            (&["a/b"], false, "remove a/b? its transcript stays"),
            (&["a/b"], true, "remove a/b and delete its transcript? nothing can bring that back"),
            (&["a/b", "a/c"], false, "remove 2 sessions (a/b, a/c)? their transcripts stay"),
        ];
        for (given, purge, expected) in table {
            assert_eq!(question(&names(given), purge), expected);
        }
    }
}
