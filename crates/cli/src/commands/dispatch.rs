//! `segue dispatch`: tries the rules for events of forges.

use std::path::Path;

use clap::{Args, Subcommand};
use segue_core::api::{DispatchTestReport, DispatchTestRequest, TestedEvent, TestedRule};
use segue_core::model::SourceName;
use segue_core::rules::display::plain;
use segue_core::{Error, Result};

use super::deliveries::parse_source;
use crate::context::{CommandEnding, Context};
use crate::progress;

/// Try the rules for events of forges
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  segue dispatch test 0198f9d2\n  \
    segue dispatch test payload.json --source hub --event issues")]
pub(crate) struct DispatchArguments {
    #[command(subcommand)]
    action: DispatchAction,
}

#[derive(Debug, Subcommand)]
enum DispatchAction {
    Test(DispatchTestArguments),
}

/// Print what the rules would do with a delivery, with the exact prompts; change nothing
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  segue dispatch test 0198f9d2\n  \
    segue dispatch test payload.json --source hub --event issues")]
struct DispatchTestArguments {
    /// A stored delivery, or a file with the body of one
    #[arg(value_name = "FILE|DELIVERY")]
    target: String,

    /// The source of the file
    #[arg(long, value_name = "SOURCE", value_parser = parse_source, requires = "event")]
    source: Option<SourceName>,

    /// The event of the file, as the forge names it in the headers
    #[arg(long, value_name = "EVENT", requires = "source")]
    event: Option<String>,
}

pub(crate) async fn run(
    arguments: DispatchArguments,
    context: &mut Context,
) -> Result<CommandEnding> {
    let DispatchAction::Test(arguments) = arguments.action;
    let request = request(arguments)?;
    let client = progress::connect(context).await?;
    let report = client.test_dispatch(&request).await?;
    if context.wants_json() {
        context.output.json(&report)?;
        return Ok(CommandEnding::Done);
    }
    context.output.text(&plain(&shown(&report)))?;
    Ok(CommandEnding::Done)
}

fn request(arguments: DispatchTestArguments) -> Result<DispatchTestRequest> {
    let DispatchTestArguments { target, source, event } = arguments;
    match source.zip(event) {
        Some((source, event)) => {
            let body = std::fs::read_to_string(&target).map_err(|error| {
                Error::usage(format!("cannot read `{target}`")).caused_by(error)
            })?;
            Ok(DispatchTestRequest::Payload { source, event, body })
        }
        None if Path::new(&target).is_file() => {
            Err(Error::usage(format!("`{target}` is a file, and a file has no headers"))
                .hint("add `--source` and `--event`, such as `--source hub --event issues`"))
        }
        None => Ok(DispatchTestRequest::Delivery(target)),
    }
}

fn shown(report: &DispatchTestReport) -> String {
    if let Some(reason) = &report.ignored {
        return format!("nothing: {reason}\n");
    }
    report.events.iter().map(|event| shown_event(event, &report.source)).collect()
}

fn shown_event(event: &TestedEvent, source: &SourceName) -> String {
    let rules: String = match event.rules.is_empty() {
        true => format!("  no rule has the source `{source}`\n"),
        false => event.rules.iter().map(shown_rule).collect(),
    };
    format!("{} of {}\n{rules}", event.trigger, event.repository)
}

fn shown_rule(TestedRule { rule, agent, reason, task }: &TestedRule) -> String {
    let begin = format!("  rule {rule}, agent {agent}: ");
    let Some(task) = task else {
        return format!("{begin}no task: {}\n", reason.as_deref().unwrap_or("unknown"));
    };
    let none = "-".to_owned();
    let repository = task.repository.as_ref().unwrap_or(&none);
    let issue = task.issue.as_ref().unwrap_or(&none);
    let branch = task.branch.as_deref().unwrap_or("the branch of the issue");
    let prompt: String = task.prompt.lines().map(|line| format!("    {line}\n")).collect();
    format!(
        "{begin}a task in {repository}, issue {issue}, {branch}, with this prompt:\n\n{prompt}\n"
    )
}
