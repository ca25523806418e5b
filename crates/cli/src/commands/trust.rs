//! `segue trust`, and the question that other commands ask if a project file is not trusted.

use std::path::{Path, PathBuf};

use clap::Args;
use segue_core::api::{TrustRequest, TrustView};
use segue_core::{Error, Kind, Result};
use segue_server::client::Client;

use crate::context::{CommandEnding, Context};
use crate::output::Output;
use crate::progress;
use crate::render::plain::one_line;
use crate::render::sessions::place;
use crate::render::shell;

/// Allow a project file to run what it contains
#[derive(Debug, Args)]
#[command(
    after_help = "A project file can run commands and give texts to agents. Segue first shows \
    everything in it that runs a program, loosens a permission or reaches an agent, with the texts \
    of prompts and instructions. If any of this changes, Segue shows the changes and asks again.\n\n\
    Examples:\n  segue trust\n  segue trust ~/src/shop --yes"
)]
pub(crate) struct TrustArguments {
    /// The folder of the project [default: this folder]
    #[arg(value_name = "DIR")]
    pub(crate) folder: Option<PathBuf>,

    /// Do not ask
    #[arg(long, short)]
    pub(crate) yes: bool,
}

pub(crate) async fn run(
    arguments: &TrustArguments,
    context: &mut Context,
) -> Result<CommandEnding> {
    let folder = context.cwd().join(arguments.folder.as_deref().unwrap_or_else(|| "".as_ref()));
    let client = progress::connect(context).await?;
    let mut view = client.trust(&TrustRequest { folder, digest: None }).await?;
    let known = view.trusted;
    if !known {
        confirm(&view, arguments.yes, context)?;
        view = grant(&client, &view).await?;
    }
    if context.wants_json() {
        context.output.json(&view)?;
    } else {
        let already = if known { "already " } else { "" };
        let folder = place(&view.folder, context.display().home);
        context.output.text(&format!("{} is {already}trusted\n", one_line(&folder)))?;
    }
    Ok(CommandEnding::Done)
}

/// Runs `attempt`. If it fails because the project file of `folder` is not trusted, shows the user
/// what the file would do, and asks whether to allow it. If the answer is yes, runs `attempt` again.
/// Without a terminal, returns the failure.
pub(crate) async fn ask_and_retry<T>(
    client: &Client,
    context: &Context,
    folder: &Path,
    attempt: impl AsyncFn() -> Result<T>,
) -> Result<T> {
    let refusal = match attempt().await {
        Err(error) if error.kind == Kind::Config && Output::can_ask() => error,
        other => return other,
    };
    let question = TrustRequest { folder: folder.to_owned(), digest: None };
    // If the file is invalid, the refusal already has the reason.
    let Ok(view) = client.trust(&question).await else { return Err(refusal) };
    if view.trusted {
        return Err(refusal);
    }
    confirm(&view, false, context)?;
    grant(client, &view).await?;
    attempt().await
}

fn confirm(view: &TrustView, yes: bool, context: &Context) -> Result<()> {
    let folder = one_line(&place(&view.folder, context.display().home));
    context.output.note(&contents(&folder, view));
    if yes {
        return Ok(());
    }
    if !Output::can_ask() {
        let word = shell::word(&view.folder.to_string_lossy());
        return Err(Error::config(format!(
            "`{folder}` is not trusted: there is no terminal to ask on"
        ))
        .hint(format!("run `segue trust {word} --yes` to allow what is shown above")));
    }
    if context.output.ask("allow this?")? {
        return Ok(());
    }
    Err(Error::config(format!("`{folder}` is not trusted: the answer was no")))
}

async fn grant(client: &Client, view: &TrustView) -> Result<TrustView> {
    let shown = TrustRequest { folder: view.folder.clone(), digest: Some(view.digest.clone()) };
    client.trust(&shown).await
}

fn contents(folder: &str, view: &TrustView) -> String {
    let lines: Vec<String> = view.contents.iter().map(|line| indented(line)).collect();
    if lines.is_empty() {
        return format!("the project file of {folder} runs nothing and gives no text to an agent");
    }
    let all = format!("the project file of {folder} would do this:\n{}", lines.join("\n"));
    if view.changes.is_empty() {
        return all;
    }
    let changes: Vec<String> = view.changes.iter().map(|line| indented(line)).collect();
    format!("{all}\nthis changed since it was trusted:\n{}", changes.join("\n"))
}

/// Indents a line by two more spaces, and removes control sequences.
fn indented(line: &str) -> String {
    let begin = line.len() - line.trim_start_matches(' ').len();
    format!("  {}{}", &line[..begin], one_line(&line[begin..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn contents_and_changes_are_shown_one_per_line_without_control_sequences() {
        let view = TrustView {
            folder: "/src/shop".into(),
            digest: "d".to_owned(),
            trusted: false,
            contents: vec!["coder: runs `mytool\u{1b}[8m chat`".to_owned(), "a\nb".to_owned()],
            changes: Vec::new(),
        };
        let all = "the project file of ~/shop would do this:\n  coder: runs `mytool chat`\n  a b";
        assert_eq!(contents("~/shop", &view), all);
        let changes = vec!["changed: prompt".to_owned(), "  + \u{1b}[8mnew".to_owned()];
        let changed = contents("~/shop", &TrustView { changes, ..view });
        let since = "\nthis changed since it was trusted:\n  changed: prompt\n    + new";
        assert_eq!(changed, format!("{all}{since}"));
    }
}
