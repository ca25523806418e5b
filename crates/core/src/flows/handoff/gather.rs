//! Reads the newest turns of a conversation, cleans them and removes secrets.

use std::ops::ControlFlow;

use jiff::Timestamp;

use super::SourceConversation;
use crate::error::Result;
use crate::model::{Role, Turn, VendorSessionId};
use crate::ports::{Files, Ports};
use crate::rules::redaction::{KnownSecrets, Redactor, Removed};
use crate::rules::transfer::{CollectedTurns, NewTurns, TurnCleaner, TurnCollector};

/// Omitted turns are counted only if the transcript has at most this many bytes, because counting
/// reads the whole transcript.
const MAX_COUNTED_BYTES: u64 = 16 * 1024 * 1024;

/// How much of a conversation is handed over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TransferLimit {
    /// Maximum size in characters.
    pub budget: usize,
    /// Only turns after this timestamp. The target has the earlier turns already.
    pub since: Option<Timestamp>,
}

/// The part of a conversation that is handed over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConversationExcerpt {
    /// Oldest first, in a form that every vendor accepts.
    pub turns: Vec<Turn>,
    /// The first message of the conversation.
    pub task: Option<Turn>,
    pub is_cut: bool,
    /// The number of omitted turns. `None` if they were not counted.
    pub left_out: Option<u64>,
    /// The secrets that were removed from the turns.
    pub removed: Removed,
}

impl ConversationExcerpt {
    /// Returns whether there is a message of the user or of the agent.
    pub fn has_messages(&self) -> bool {
        self.turns.iter().any(|turn| matches!(turn.role, Role::User | Role::Assistant))
    }

    pub fn characters(&self) -> u64 {
        self.turns.iter().map(|turn| turn.text.chars().count() as u64).sum()
    }
}

/// Reads the newest turns of a conversation that fit into the budget, and removes secrets from
/// them.
pub fn gather(
    ports: &Ports,
    source: &SourceConversation,
    limit: TransferLimit,
    known: &KnownSecrets,
) -> Result<ConversationExcerpt> {
    let files = ports.files.as_ref();
    let mut collector = TurnCollector::with_known_secrets(limit.budget, known.clone());
    let (mut taken, mut is_full) = (0, false);
    let mut new_turns = limit.since.map(NewTurns::new);
    source.transcripts()?.turns_back(files, &source.transcript, &mut |turn| {
        if !is_new(&mut new_turns, &turn) {
            return ControlFlow::Break(());
        }
        let took = collector.take(turn);
        if took.is_continue() {
            taken += 1;
        }
        is_full = took.is_break();
        took
    })?;
    let task = first_task(ports, source)?;
    let total = if is_full { count(files, source, limit.since)? } else { Some(taken) };
    let first = task.clone().filter(|_| limit.since.is_none());
    let CollectedTurns { turns, is_cut, left_out, mut removed } =
        collector.finish(first, total.map(|total| total.saturating_sub(taken)));
    let mut redactor = Redactor::new(known.clone());
    // A secret that only a later turn identifies is removed from the earlier turns, too.
    turns.iter().for_each(|turn| redactor.learn(&turn.text));
    let task = task.map(|task| Turn { text: redactor.redact(&task.text).into_owned(), ..task });
    redactor.take_removed();
    let mut cleaner = turn_cleaner(ports, source, task.as_ref()).with_redactor(redactor);
    let mut clean = Vec::new();
    turns.into_iter().for_each(|turn| cleaner.turn(turn, &mut clean));
    cleaner.end(&mut clean);
    removed.merge(cleaner.removed());
    Ok(ConversationExcerpt { turns: clean, task, is_cut, left_out, removed })
}

/// Returns whether a turn is handed over. If `new_turns` is `None`, all turns are.
fn is_new(new_turns: &mut Option<NewTurns>, turn: &Turn) -> bool {
    new_turns.as_mut().is_none_or(|new_turns| new_turns.is_new(turn))
}

/// Returns the first message of a conversation.
pub(super) fn first_task(ports: &Ports, source: &SourceConversation) -> Result<Option<Turn>> {
    let known =
        source.transcripts()?.conversation(ports.files.as_ref(), &source.place, &source.id)?;
    let began = known.as_ref().map(|it| it.began_at);
    let text = known.and_then(|it| it.first_message);
    Ok(text.map(|text| Turn::new(Role::User, text).at(began)))
}

/// Counts the turns of a conversation. `None` if its transcript is longer than [`MAX_COUNTED_BYTES`].
fn count(
    files: &dyn Files,
    source: &SourceConversation,
    since: Option<Timestamp>,
) -> Result<Option<u64>> {
    let facts = files.facts(&source.transcript).ok().flatten();
    if facts.is_none_or(|facts| facts.length > MAX_COUNTED_BYTES) {
        return Ok(None);
    }
    let mut total = 0;
    let mut new_turns = since.map(NewTurns::new);
    source.transcripts()?.turns_back(files, &source.transcript, &mut |turn| {
        if !is_new(&mut new_turns, &turn) {
            return ControlFlow::Break(());
        }
        total += 1;
        ControlFlow::Continue(())
    })?;
    Ok(Some(total))
}

/// Returns the cleaner that converts turns into a form for any vendor. Turns without a timestamp
/// get that of the first message.
pub(super) fn turn_cleaner(
    ports: &Ports,
    source: &SourceConversation,
    task: Option<&Turn>,
) -> TurnCleaner {
    let began = task.and_then(|task| task.at).unwrap_or_else(|| ports.clock.now());
    TurnCleaner::new(&tool_id_prefix(&source.id), began)
}

/// Returns the prefix for the ids of tool calls. It comes from the source's id, so that another
/// handoff of the same conversation creates other ids.
fn tool_id_prefix(id: &VendorSessionId) -> String {
    let plain: String = id.as_str().chars().filter(char::is_ascii_alphanumeric).collect();
    let end = plain.len().saturating_sub(8);
    format!("call_{}", &plain[end..])
}
