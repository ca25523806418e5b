//! Renders the payload of an event as one sentence.

use std::fmt;

use super::{
    EventPayload, LeftoverProcess, MadeWorktreeFacts, RemovedWorktreeFacts, RestoreSource,
    SweptFacts, WorktreeCommandFacts,
};
use crate::model::{
    DiskLevel, EnvironmentSource, Exit, InterruptMethod, LaunchId, RepetitionKind, ReplyState,
    Source, Status, TaskId, TaskStateKind, byte_count,
};

impl fmt::Display for EventPayload {
    #[expect(clippy::too_many_lines, reason = "one arm per kind of event")]
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::SessionCreated { address: text }
            | Self::SessionRemoved { address: text }
            | Self::Trusted { folder: text }
            | Self::Recorded { text, .. } => f.write_str(text),
            Self::LaunchPlanned { number, mode } => write!(f, "launch {number} ({})", mode.word()),
            Self::LaunchStarted { pid, found_alive } => f.write_str(&started(*pid, *found_alive)),
            Self::LaunchEnded { exit, is_requested, cause, start_error } => f.write_str(
                &launch_ended(*exit, *is_requested, cause.as_deref(), start_error.as_deref()),
            ),
            Self::Bound { vendor_session, evidence } => write!(f, "{vendor_session} ({evidence})"),
            Self::BindingRefused { wanted, found } => {
                let wanted = wanted.as_ref().map_or("", |wanted| wanted.as_str());
                write!(f, "asked for {wanted}, came up in {found}: ended, not bound")
            }
            Self::StatusChanged { status, source, note } => {
                f.write_str(&status_changed(*status, *source, note.as_deref()))
            }
            Self::LeftoversEnded { of, processes } => f.write_str(&leftovers(*of, processes)),
            Self::TranscriptRestored { what, from, error } => {
                f.write_str(&restored(what, *from, error.as_deref()))
            }
            Self::TranscriptUnguarded { path } => {
                write!(f, "{path} is on another filesystem: no guard")
            }
            Self::ArchiveDropped { vendor, conversation, bytes } => {
                write!(f, "{vendor}'s {conversation}, {bytes} bytes: the archive was full")
            }
            Self::RestartPlanned { after_ms } => write!(f, "restart in {after_ms} ms"),
            Self::EnvironmentFound { source } => f.write_str(&environment_found(*source)),
            Self::GaveUp { reason, resumable } => {
                f.write_str(&gave_up(reason, resumable.as_deref()))
            }
            Self::StoreRebuilt { address, launch_folders } => {
                write!(f, "{address} from {launch_folders} launch folders")
            }
            Self::TurnFailed { class, message } => write!(f, "{class}: {message}"),
            Self::MessageDelivered { message } => write!(f, "message {message}: in the transcript"),
            Self::MessageQueued { message, again: Some(reason) }
            | Self::MessageUncertain { message, reason } => {
                write!(f, "message {message}: {reason}")
            }
            Self::MessageQueued { message, again: None }
            | Self::MessageTyped { message }
            | Self::MessageCancelled { message } => write!(f, "message {message}"),
            Self::Asked { kind, question: Some(question) } => write!(f, "{kind}: {question}"),
            Self::Asked { kind, question: None } => write!(f, "{kind}"),
            Self::Answered { given, question } => {
                f.write_str(&answered(given, question.as_deref()))
            }
            Self::RepetitionFound { kind, what, times } => {
                f.write_str(&repetition_found(*kind, what, *times))
            }
            Self::RepetitionOver { kind, by_person } => {
                f.write_str(repetition_over(*kind, *by_person))
            }
            Self::ReportDropped { child, parent } => {
                write!(f, "the report of {child} to session {parent}, which was removed")
            }
            Self::TurnInterrupted { method } => f.write_str(turn_interrupted(*method)),
            Self::HandedOver { from, to, form } => write!(f, "{from} → {to} ({})", form.word()),
            Self::Renamed { from, to } => write!(f, "{from} is called {to} now"),
            Self::SettingsChanged { keys } => f.write_str(&keys.join(", ")),
            Self::WorktreeMade(made) => f.write_str(&worktree_made(made)),
            Self::WorktreeRemoved(removed) => f.write_str(&worktree_removed(removed)),
            Self::WorktreeCommand(command) => f.write_str(&worktree_command(command)),
            Self::PlanApplied { name, added, changed, removed, .. } => {
                write!(f, "plan {name}: {added} added, {changed} changed, {removed} removed")
            }
            Self::PlanChanged { name, state, .. } => write!(f, "plan {name} is {}", state.word()),
            Self::PlanGateReached { name, gate, .. } => {
                write!(f, "plan {name}: {gate} waits for an approval")
            }
            Self::PlanGateApproved { name, gate, .. } => {
                write!(f, "plan {name}: {gate} is approved")
            }
            Self::ListenerChanged { address } => f.write_str(&listener(address.as_deref())),
            Self::TokenCreated { name } | Self::TokenRevoked { name } => f.write_str(&token(name)),
            Self::DeliveryProcessed { delivery, source, what } => {
                write!(f, "delivery {delivery} of {source}: {what}")
            }
            Self::ReplyChanged { task, state, reason } => {
                f.write_str(&reply_changed(*task, *state, reason.as_deref()))
            }
            Self::SourceChanged { source, failure } => {
                let state = failure.as_deref().unwrap_or("works again");
                write!(f, "source {source}: {state}")
            }
            Self::IssueCleanedUp { source, issue, worktrees } => {
                write!(f, "issue {issue} of {source}: {worktrees} worktrees removed")
            }
            Self::TaskChanged { task, state, reason } => {
                f.write_str(&task_changed(*task, *state, reason.as_deref()))
            }
            Self::Swept(facts) => f.write_str(&swept(facts)),
            Self::DiskLevelChanged { level, used, budget } => {
                f.write_str(&disk_level(*level, (*used, *budget)))
            }
            Self::IssueReset { agent, repository, issue } => {
                write!(f, "{agent} begins anew with issue {issue} of {repository}")
            }
        }
    }
}

fn swept(SweptFacts { removed, failed, reason }: &SweptFacts) -> String {
    let counts: Vec<String> =
        removed.iter().map(|(kind, count)| format!("{kind} {count}")).collect();
    let counts = if counts.is_empty() { "nothing".to_owned() } else { counts.join(", ") };
    let failed = if *failed == 0 { String::new() } else { format!(", {failed} failed") };
    format!("removed {counts}{failed}: {reason}")
}

fn disk_level(level: DiskLevel, (used, budget): (u64, u64)) -> String {
    format!("{}: {} of {}", level.word(), byte_count(used), byte_count(budget))
}

fn listener(address: Option<&str>) -> String {
    address.map_or_else(|| "switched off".to_owned(), |address| format!("listens on {address}"))
}

fn token(name: &str) -> String {
    format!("token `{name}`")
}

fn environment_found(source: EnvironmentSource) -> String {
    format!("restarts with the environment of {}", source_name(source))
}

fn started(pid: Option<u32>, found_alive: bool) -> String {
    match found_alive {
        true => "found alive".to_owned(),
        false => format!("process {}", pid.unwrap_or(0)),
    }
}

fn repetition_found(kind: RepetitionKind, what: &str, times: u32) -> String {
    match kind {
        RepetitionKind::ToolCalls => format!("repeats {what} {times} times without a person"),
        RepetitionKind::Messages => {
            format!("{what} {times} times without a person: further messages are held")
        }
    }
}

fn repetition_over(kind: RepetitionKind, by_person: bool) -> &'static str {
    match (kind, by_person) {
        (RepetitionKind::ToolCalls, true) => "a person has seen that it repeats itself",
        (RepetitionKind::ToolCalls, false) => "it no longer repeats itself",
        (RepetitionKind::Messages, true) => "a person lets the messages go on",
        (RepetitionKind::Messages, false) => "the messages no longer go back and forth",
    }
}

fn turn_interrupted(method: InterruptMethod) -> &'static str {
    match method {
        InterruptMethod::Keys => "the keys that interrupt a turn were typed",
        InterruptMethod::Stop => "the process of the turn was ended",
    }
}

fn answered(given: &str, question: Option<&str>) -> String {
    question.map_or_else(|| given.to_owned(), |question| format!("{given} to: {question}"))
}

fn worktree_made(
    MadeWorktreeFacts { path, branch, origin, notices }: &MadeWorktreeFacts,
) -> String {
    let made = format!("{path}, branch {branch} ({origin})");
    notices.iter().fold(made, |text, notice| format!("{text}; {notice}"))
}

fn worktree_removed(
    RemovedWorktreeFacts { path, branch, salvage }: &RemovedWorktreeFacts,
) -> String {
    match salvage {
        Some(salvage) => format!("{path}, branch {branch}; everything is in {salvage}"),
        None => format!("{path}, branch {branch}; the branch has everything"),
    }
}

fn worktree_command(
    WorktreeCommandFacts { branch, phase, command, ending }: &WorktreeCommandFacts,
) -> String {
    let ending = ending.as_ref().map(|ending| format!(" ({ending})")).unwrap_or_default();
    format!("{} of branch {branch}: {command}{ending}", phase.word())
}

fn gave_up(reason: &str, resumable: Option<&str>) -> String {
    match resumable {
        Some(address) => format!("{reason}; run `segue resume {address}` to try again"),
        None => reason.to_owned(),
    }
}

fn task_changed(task: TaskId, state: TaskStateKind, reason: Option<&str>) -> String {
    let reason = reason.map(|reason| format!(" ({reason})")).unwrap_or_default();
    format!("task {task}: {}{reason}", state.word())
}

fn source_name(source: EnvironmentSource) -> &'static str {
    match source {
        EnvironmentSource::Given => "a command",
        EnvironmentSource::Holder => "its holder",
        EnvironmentSource::LoginShell => "the login shell",
    }
}

fn reply_changed(task: TaskId, state: ReplyState, reason: Option<&str>) -> String {
    let reason = reason.map(|reason| format!(" ({reason})")).unwrap_or_default();
    format!("comment about task {task}: {}{reason}", state.word())
}

fn launch_ended(
    exit: Exit,
    is_requested: bool,
    cause: Option<&str>,
    error: Option<&str>,
) -> String {
    let ended = match (exit, is_requested, cause) {
        (Exit::NeverStarted, _, _) if error.is_some() => "not started".to_owned(),
        (exit, true, _) => format!("{exit}, as asked"),
        (Exit::Unknown, false, _) => "ended while Segue was not watching".to_owned(),
        (exit, false, None) => exit.to_string(),
        (exit, false, Some(cause)) => format!("{exit}; {cause}"),
    };
    error.map_or(ended.clone(), |error| format!("{ended}: {error}"))
}

fn status_changed(status: Status, source: Option<Source>, note: Option<&str>) -> String {
    let detail = note.map(str::to_owned).or_else(|| status.detail());
    let detail = detail.map(|detail| format!(" ({detail})")).unwrap_or_default();
    let source = source.map(|source| format!(", reported by {source}")).unwrap_or_default();
    format!("{}{detail}{source}", status.word())
}

fn leftovers(of: Option<LaunchId>, processes: &[LeftoverProcess]) -> String {
    let source = of.map_or("dead launches".to_owned(), |launch| format!("launch {launch}"));
    let named: Vec<_> = processes.iter().map(|it| format!("{} ({})", it.pid, it.command)).collect();
    format!("processes of {source}: {}", named.join(", "))
}

fn restored(what: &str, from: RestoreSource, error: Option<&str>) -> String {
    match (from, error) {
        (_, Some(error)) => format!("{what} could not be restored: {error}"),
        (RestoreSource::Guard(launch), None) => format!("{what} from the guard of launch {launch}"),
        (RestoreSource::Archive, None) => format!("{what} from the archive"),
        (RestoreSource::OwnGuard, None) => format!("{what}, which the start had deleted"),
    }
}
