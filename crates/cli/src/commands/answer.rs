//! `segue answer`: answers a question that an agent shows on its terminal.

use clap::Args;
use segue_core::api::{AnswerReport, AnswerRequest, SessionView};
use segue_core::model::Dialog;
use segue_core::rules::dialog;
use segue_core::{Error, Result};
use serde::Serialize;

use crate::complete;
use crate::context::{CommandEnding, Context};
use crate::progress;
use crate::render::plain::one_line;
use crate::render::sessions::{address, asks};

/// Answer an agent's permission or trust question
#[derive(Debug, Args)]
#[command(
    after_help = "With a fleet, it answers the only session of the fleet that asks a question.\n\n\
    Examples:\n  segue answer coder yes\n  segue answer coder no\n  \
    segue answer coder 2"
)]
pub(crate) struct AnswerArguments {
    /// The session, or a fleet in which one session asks a question
    #[arg(value_name = "SESSION|FLEET", add = complete::asking())]
    pub(crate) session: String,

    /// `yes`, `no`, or the number or first words of a choice; without it, the question is printed
    #[arg(value_name = "yes|no|CHOICE", add = complete::answers())]
    pub(crate) answer: Option<String>,

    /// Answer only the question with this id, and no later question
    #[arg(long, value_name = "ID")]
    pub(crate) question: Option<String>,
}

pub(crate) async fn run(
    arguments: AnswerArguments,
    context: &mut Context,
) -> Result<CommandEnding> {
    let client = progress::connect(context).await?;
    let session = client.asking(&arguments.session, context.cwd()).await?;
    let AnswerArguments { answer, question, .. } = arguments;
    let answer = answer.ok_or_else(|| unanswered(&session))?;
    let cwd = context.cwd().to_owned();
    // Sends the session's id: if the request is retried after the answer, the name of a fleet could
    // mean another session that asks by then.
    let request = AnswerRequest { cwd, session: session.session.to_string(), answer, question };
    let AnswerReport { dialog, .. } = client.answer(&request).await?;
    let session = SessionView { dialog: dialog.or(session.dialog), ..session };
    if context.wants_json() {
        context.output.json(&AnsweredSession { session, outcome: "answered" })?;
    } else if let Some(Dialog { question, choices, .. }) = &session.dialog {
        let (name, answer) = (address(&session), &request.answer);
        let asked = one_line(&dialog::summary(question, choices));
        context.output.note(&format!("{name}: answered {answer} to: {asked}"));
    }
    Ok(CommandEnding::Done)
}

/// Makes the error about a command line without an answer. It contains the session's question.
fn unanswered(session: &SessionView) -> Error {
    let error = Error::usage("no answer was given: use `yes`, `no` or a choice");
    let name = address(session);
    match &session.dialog {
        Some(dialog) => {
            error.caused_by(dialog::describe(dialog.kind, Some(dialog))).hint(dialog::hint(dialog))
        }
        None if asks(session) => {
            error.hint(format!("run `segue attach {name}` to see what it asks"))
        }
        None => error
            .caused_by(format!("`{name}` asks nothing that could be answered"))
            .hint(format!("run `segue attach {name}` to look")),
    }
}

/// The session as it was before the answer, and the outcome, as `segue answer --json` prints them.
#[derive(Debug, Serialize)]
struct AnsweredSession {
    #[serde(flatten)]
    session: SessionView,
    outcome: &'static str,
}
