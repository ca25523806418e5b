//! The definition of all commands and flags, and the parser of the command line. Errors of clap are
//! converted into the project's own error type.

use std::borrow::Cow;

use clap::error::ErrorKind;
use clap::{CommandFactory as _, Parser, Subcommand};
use segue_core::Error;
use segue_core::rules::address;

use crate::commands::task::{TaskAction, TaskArguments};
use crate::commands::{
    acp, adopt, answer, attach, completions, daemon, deliveries, dispatch, doctor, du, editor,
    handoff, init, interrupt, log, ls, man, mcp, messages, plan, rename, reset, resume, rm, run,
    scale, send, serve, set, share, show, status, stop, sweep, token, trust, up, usage, vendors,
    wait, web, worktree,
};

/// Commands that are planned for later versions. Their error is "not built yet"; it does not suggest a
/// typing error.
const NOT_BUILT: [&str; 2] = ["fork", "search"];

/// `segue help COMMAND` means `segue COMMAND --help`.
const HELP: &str = "help";

/// Keeps the conversations of coding agents alive.
///
/// Segue starts coding agents, records which conversation each agent is in, and brings every agent
/// back into that same conversation after a crash, a reboot or an upgrade. Without a command, it
/// opens a screen with all sessions; without a terminal, it prints the sessions of this folder.
#[derive(Debug, Parser)]
#[command(
    name = "segue",
    version,
    disable_help_subcommand = true,
    infer_subcommands = true,
    after_help = "Examples:\n  \
        segue run \"fix the flaky test\"      start an agent here and open its terminal\n  \
        segue up                            start or bring back the agents of segue.toml\n  \
        segue resume --all                  bring everything back after a reboot\n\n\
        SESSION is `fleet/name`, a name, or at least four characters of an id. The beginning of a \
        session's or a command's name is enough if it is unambiguous; `segue rm` needs the whole \
        name of a session."
)]
pub(crate) struct SegueArguments {
    /// Print JSON for programs instead of text for people
    #[arg(long, global = true, display_order = 900)]
    pub(crate) json: bool,

    #[command(subcommand)]
    pub(crate) command: Option<SegueCommand>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum SegueCommand {
    Init(init::InitArguments),
    Up(up::UpArguments),
    Scale(scale::ScaleArguments),
    Resume(resume::ResumeArguments),
    Run(run::RunArguments),
    Ls(ls::LsArguments),
    Status(status::StatusArguments),
    Attach(attach::AttachArguments),
    Send(send::SendArguments),
    Messages(messages::MessagesArguments),
    Answer(answer::AnswerArguments),
    Wait(wait::WaitArguments),
    Show(show::ShowArguments),
    Task(TaskArguments),
    Interrupt(interrupt::InterruptArguments),
    Plan(plan::PlanArguments),
    Stop(stop::StopArguments),
    Rename(rename::RenameArguments),
    Set(set::SetArguments),
    Adopt(adopt::AdoptArguments),
    Handoff(handoff::HandoffArguments),
    Log(log::LogArguments),
    Usage(usage::UsageArguments),
    Rm(rm::RmArguments),
    Worktree(worktree::WorktreeArguments),
    Du(du::DuArguments),
    Sweep(sweep::SweepArguments),
    Reset(reset::ResetArguments),
    Vendors(vendors::VendorsArguments),
    Doctor(doctor::DoctorArguments),
    Trust(trust::TrustArguments),
    Web(web::WebArguments),
    Share(share::ShareArguments),
    Serve(serve::ServeArguments),
    Token(token::TokenArguments),
    Deliveries(deliveries::DeliveriesArguments),
    Dispatch(dispatch::DispatchArguments),
    Mcp(mcp::McpArguments),
    Acp(acp::AcpArguments),
    Editor(editor::EditorArguments),
    Daemon(daemon::DaemonArguments),
    Completions(completions::CompletionsArguments),
    Man(man::ManArguments),
}

/// Why no command is run.
#[derive(Debug)]
pub(crate) enum NoCommand {
    /// The user asked for the help or the version. Clap returns that text as an error.
    Show(clap::Error),
    Failure(Error),
}

/// Parses a command line. Its first word is the name of the program.
pub(crate) fn parse(words: &[String]) -> Result<SegueArguments, NoCommand> {
    let words = &*with_help_flag(words);
    if let Some(command) = command_word(words).filter(|word| NOT_BUILT.contains(word)) {
        return Err(NoCommand::Failure(not_built(&format!("segue {command}"))));
    }
    let error = match SegueArguments::try_parse_from(words) {
        Ok(arguments) => return Ok(arguments),
        Err(error) => error,
    };
    if let Some(arguments) = with_dashed_prompt(words) {
        return Ok(arguments);
    }
    if error.use_stderr() {
        Err(NoCommand::Failure(from_clap(&error, words)))
    } else {
        Err(NoCommand::Show(error))
    }
}

/// Returns whether `--json` was given. Works for an invalid command line, too, so that its error
/// can be printed as JSON.
pub(crate) fn wants_json(words: &[String]) -> bool {
    words.iter().take_while(|word| *word != "--").any(|word| word == "--json")
}

/// Makes the error about a command or a flag that is planned, but not built yet.
pub(crate) fn not_built(what: &str) -> Error {
    Error::usage(format!("`{what}` is not built yet"))
        .hint("run `segue --help` to see the commands of this version")
}

fn command_word(words: &[String]) -> Option<&str> {
    words.iter().skip(1).map(String::as_str).find(|word| *word != "--json")
}

/// Returns `segue COMMAND --help` for `segue help COMMAND`, and any other command line unchanged.
fn with_help_flag(words: &[String]) -> Cow<'_, [String]> {
    if command_word(words) != Some(HELP) {
        return Cow::Borrowed(words);
    }
    let place = words.iter().skip(1).position(|word| word == HELP);
    let place = place.map_or(words.len(), |place| place + 1);
    let (before, after) = (&words[..place], words.get(place + 1..).unwrap_or_default());
    let flag = ["--help".to_owned()];
    Cow::Owned(before.iter().chain(after).chain(&flag).cloned().collect())
}

/// Parses a command line whose prompt begins with `-`, after the normal parser has failed. A word
/// that begins with `-` is tried as the prompt if it contains white space; otherwise it counts as a
/// mistyped flag.
fn with_dashed_prompt(words: &[String]) -> Option<SegueArguments> {
    let before_rest = words.iter().take_while(|word| *word != "--").enumerate();
    let dashed = |word: &str| word.starts_with('-') && word.contains(char::is_whitespace);
    let mut places = before_rest.filter(|(_, word)| dashed(word)).map(|(place, _)| place);
    places.find_map(|place| with_prompt_at(place, words))
}

/// Parses a command line with a placeholder for the word at `place`, and then puts that word back.
/// `None` if the word is not the prompt of `run` or `task add`, or the text of `send`.
fn with_prompt_at(place: usize, words: &[String]) -> Option<SegueArguments> {
    const PLACEHOLDER: &str = "prompt";
    let mut replaced = words.to_vec();
    let prompt = std::mem::replace(replaced.get_mut(place)?, PLACEHOLDER.to_owned());
    let mut arguments = SegueArguments::try_parse_from(replaced).ok()?;
    let place = match &mut arguments.command {
        Some(SegueCommand::Run(run)) => &mut run.prompt,
        Some(SegueCommand::Send(send)) => &mut send.text,
        Some(SegueCommand::Task(TaskArguments { action: TaskAction::Add(add) })) => &mut add.prompt,
        _ => return None,
    };
    let placeholder = place.replace(prompt);
    (placeholder.as_deref() == Some(PLACEHOLDER)).then_some(arguments)
}

/// Converts an error of clap. Its tips become hints, and the last hint names the help of the command.
fn from_clap(error: &clap::Error, words: &[String]) -> Error {
    let text = error.render().to_string();
    let mut paragraphs = text.split("\n\n");
    let first = paragraphs.next().unwrap_or_default();
    let message: Vec<&str> = first.split_whitespace().collect();
    let message = with_valid_values(message.join(" "));
    let mut usage_error = Error::usage(message.trim_start_matches("error: "));
    let lines: Vec<&str> = paragraphs.flat_map(str::lines).collect();
    let tips = lines.iter().filter_map(|line| line.trim().strip_prefix("tip: "));
    // Clap suggests to put the argument behind `--`. That would be wrong here: such arguments go to
    // the vendor's program.
    for tip in tips.filter(|tip| !tip.contains("use '-- ")) {
        usage_error = usage_error.hint(did_you_mean(tip));
    }
    // Clap prints no usage line if the value of a flag is invalid.
    let usage = lines.iter().find_map(|line| line.strip_prefix("Usage: "));
    let command = usage.map_or_else(|| named_command(words), command_of);
    if error.kind() == ErrorKind::UnknownArgument && command == "segue run" {
        usage_error = usage_error.hint("if it is the prompt, run `echo PROMPT | segue run -`");
    }
    usage_error.hint(format!("run `{command} --help` to see how it is used"))
}

/// Rewrites clap's tip about similar words as the question that all other errors ask.
fn did_you_mean(tip: &str) -> String {
    match tip.split_once("similar") {
        Some((_, words)) => {
            let mut words: Vec<String> =
                words.split('\'').skip(1).step_by(2).map(|word| format!("`{word}`")).collect();
            // Clap lists the most similar word last.
            words.reverse();
            format!("did you mean {}?", words.join(" or "))
        }
        None => tip.to_owned(),
    }
}

/// Replaces the reasons of clap and of the standard library with a description of a valid value.
fn with_valid_values(message: String) -> String {
    const NUMBER: &str = "it must be a whole number";
    let reasons = [
        ("unrecognized subcommand", "unknown command"),
        ("invalid digit found in string", NUMBER),
        ("cannot parse integer from empty string", NUMBER),
        ("number too large to fit in target type", "it must be a smaller whole number"),
        ("number too small to fit in target type", "it must be a larger whole number"),
    ];
    let replace = |message: String, (reason, wanted): (&str, &str)| message.replace(reason, wanted);
    reasons.into_iter().fold(message, replace)
}

/// Returns the full name of the command in a command line, with its subcommand. In the command line
/// both can be abbreviated to the beginning of their names.
fn named_command(words: &[String]) -> String {
    let mut command = SegueArguments::command();
    let mut names = vec![command.get_name().to_owned()];
    for word in words.iter().skip(1).filter(|word| !word.starts_with('-')) {
        let known: Vec<&str> = command.get_subcommands().map(clap::Command::get_name).collect();
        let Ok(name) = address::find_name(&known, word).map(str::to_owned) else { break };
        let Some(found) = command.find_subcommand(&name).cloned() else { break };
        names.push(name);
        command = found;
    }
    names.join(" ")
}

/// Returns the words of a usage line that name the command.
fn command_of(usage: &str) -> String {
    let plain = |word: &&str| word.chars().all(|c| c.is_ascii_lowercase());
    let words: Vec<&str> = usage.split(' ').take_while(plain).collect();
    words.join(" ")
}

#[cfg(test)]
mod tests;
