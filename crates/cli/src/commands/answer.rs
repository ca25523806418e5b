//! `segue answer`

use clap::Args;
use segue_core::Result;
use segue_core::api::AnswerRequest;

use crate::context::{Context, Ending};
use crate::progress;

/// Answer an agent's permission or trust question
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  segue answer coder yes\n  segue answer coder no\n  \
    segue answer coder 2")]
pub(crate) struct Arguments {
    #[arg(value_name = "SESSION")]
    pub(crate) session: String,

    /// yes, no, or a choice by its number or first words
    #[arg(value_name = "yes|no|CHOICE")]
    pub(crate) answer: String,
}

pub(crate) async fn run(arguments: Arguments, context: &mut Context) -> Result<Ending> {
    let client = progress::connect(context).await?;
    let Arguments { session, answer } = arguments;
    let cwd = context.cwd().to_owned();
    client.answer(&AnswerRequest { cwd, session, answer }).await?;
    if context.wants_json() {
        context.output.json(&serde_json::json!({ "answered": true }))?;
    }
    Ok(Ending::Done)
}
