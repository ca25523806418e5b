//! `segue resume`: brings sessions back into their conversations.

use clap::Args;
use segue_core::Result;
use segue_core::api::{Caller, ResumeAnswer, ResumeRequest, Selection};

use super::outcomes;
use crate::complete;
use crate::context::{CommandEnding, Context};
use crate::progress::{self, AwaitedWork, with_progress};

/// Bring sessions back into their conversations
#[derive(Debug, Args)]
#[command(
    after_help = "Without an argument, it brings back the sessions of this folder. Sessions \
    that were stopped on purpose, with `segue stop` or by leaving the agent, are left alone unless \
    they are named or --stopped is given. A session whose conversation was handed over is resumed \
    only if it is named and --stopped is given.\n\n\
    The command can be interrupted and repeated. The exit status is 8 if a conversation is not \
    back.\n\n\
    Examples:\n  segue resume\n  segue resume --all --plan\n  segue resume --fresh shop/coder"
)]
#[expect(clippy::struct_excessive_bools, reason = "flags of a command")]
pub(crate) struct ResumeArguments {
    /// Fleets or sessions
    #[arg(value_name = "FLEET|SESSION", add = complete::sessions_and_fleets())]
    pub(crate) names: Vec<String>,

    /// Every session on this machine
    #[arg(long, conflicts_with = "names")]
    pub(crate) all: bool,

    /// Print what would be done, and do nothing
    #[arg(long)]
    pub(crate) plan: bool,

    /// Also sessions that were stopped on purpose: with `segue stop`, or by leaving the agent
    #[arg(long)]
    pub(crate) stopped: bool,

    /// Start this session with a new conversation; without names, bring back only this session
    #[arg(long, value_name = "SESSION", add = complete::sessions())]
    pub(crate) fresh: Vec<String>,
}

pub(crate) async fn run(
    arguments: ResumeArguments,
    context: &mut Context,
) -> Result<CommandEnding> {
    let typed = typed_command(&arguments);
    let request = request(arguments, context.caller());
    let client = progress::connect(context).await?;
    let work = if request.plan {
        AwaitedWork::new("looking at the sessions")
    } else {
        AwaitedWork::new("bringing sessions back").showing_changed().after_interrupt(
            "the daemon continues to bring sessions back",
            "run `segue ls` to see them",
        )
    };
    match with_progress(context, work, client.resume(&request)).await? {
        ResumeAnswer::Planned(report) => outcomes::plan::show(&report, &typed, context),
        ResumeAnswer::Restored(report) => outcomes::show(&report, &typed, context),
    }
}

/// Returns the arguments that bring one fleet or session back, for `segue up --resume NAME`.
pub(crate) fn arguments_for(name: String, fresh: Vec<String>, stopped: bool) -> ResumeArguments {
    ResumeArguments { names: vec![name], all: false, plan: false, stopped, fresh }
}

/// Returns the part of the typed command that selects sessions, such as `resume --all`.
fn typed_command(arguments: &ResumeArguments) -> String {
    let all = arguments.all.then_some("--all");
    let words = arguments.names.iter().map(String::as_str).chain(all);
    words.fold("resume".to_owned(), |typed, word| format!("{typed} {word}"))
}

/// Returns the request of `segue resume` without arguments.
pub(crate) fn request_here(caller: Caller) -> ResumeRequest {
    let (selection, fresh) = (Selection::Here, Vec::new());
    ResumeRequest { caller, selection, fresh, plan: false, stopped: false }
}

fn request(arguments: ResumeArguments, caller: Caller) -> ResumeRequest {
    let ResumeArguments { names, all, plan, stopped, fresh } = arguments;
    let selection = match (all, names.is_empty(), fresh.is_empty()) {
        (true, _, _) => Selection::All,
        (false, false, _) => Selection::Named(names),
        (false, true, false) => Selection::Named(fresh.clone()),
        (false, true, true) => Selection::Here,
    };
    ResumeRequest { caller, selection, fresh, plan, stopped }
}

#[cfg(test)]
mod tests {
    use segue_core::model::Environment;

    use super::*;

    fn selection(names: &[&str], all: bool, fresh: &[&str]) -> Selection {
        let owned = |words: &[&str]| words.iter().map(|&word| word.to_owned()).collect();
        let (names, fresh) = (owned(names), owned(fresh));
        let arguments = ResumeArguments { names, all, plan: false, stopped: false, fresh };
        let caller = Caller { cwd: "/".into(), environment: Environment::default() };
        request(arguments, caller).selection
    }

    #[test]
    fn names_all_and_fresh_decide_the_selection() {
        let named =
            |names: &[&str]| Selection::Named(names.iter().map(|&name| name.to_owned()).collect());
        assert_eq!(selection(&[], false, &[]), Selection::Here);
        assert_eq!(selection(&[], true, &[]), Selection::All);
        assert_eq!(selection(&[], true, &["a"]), Selection::All);
        assert_eq!(selection(&["shop", "a"], false, &[]), named(&["shop", "a"]));
        assert_eq!(selection(&["shop"], false, &["a"]), named(&["shop"]));
        assert_eq!(selection(&[], false, &["a"]), named(&["a"]));
    }
}
