//! Hands a conversation over in the target's own format: as a whole, or its newest turns.

use super::{
    ConversationExcerpt, HandoffPlan, TargetSession, TransferSummary, WrittenConversation, convert,
    gather, write,
};
use crate::error::Result;
use crate::ports::Ports;
use crate::rules::handoff::is_converted_as_stream;

/// The content to write in the target's own format.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NativeContent {
    /// All turns. They are read while they are written, because they are too large for the memory.
    AllTurns,
    /// These turns.
    Excerpt(Box<ConversationExcerpt>),
}

impl HandoffPlan {
    /// Selects the content to write in the target's own format. `None` if there is no message of
    /// the user or of the agent.
    pub fn native_content(&self, ports: &Ports) -> Result<Option<NativeContent>> {
        let Some(source) = &self.source.conversation else { return Ok(None) };
        let limit = self.limit(self.context_characters());
        let facts = ports.files.facts(&source.transcript).ok().flatten();
        let length = facts.map(|facts| facts.length);
        if is_converted_as_stream(length, limit.budget, self.earlier.is_some()) {
            return Ok(Some(NativeContent::AllTurns));
        }
        let excerpt = gather(ports, source, limit, &self.known_secrets)?;
        Ok(excerpt.has_messages().then(|| NativeContent::Excerpt(Box::new(excerpt))))
    }

    /// Writes the content in the target's own format. `None` if the vendor cannot take over
    /// conversations.
    pub fn write(
        &self,
        ports: &Ports,
        target: &TargetSession,
        content: &NativeContent,
    ) -> Result<Option<(WrittenConversation, TransferSummary)>> {
        let to = self.destination(ports, target);
        let (written, left_out) = match (content, &self.source.conversation) {
            (NativeContent::Excerpt(excerpt), _) => (write(ports, excerpt, &to)?, excerpt.left_out),
            (NativeContent::AllTurns, None) => (None, None),
            (NativeContent::AllTurns, Some(source)) => {
                (convert(ports, source, &to, &self.known_secrets)?, Some(0))
            }
        };
        Ok(written.map(|written| {
            let summary = TransferSummary::of_written(&written, left_out);
            (written, summary)
        }))
    }

    /// Returns how many characters the target's vendor takes over. 0 if it takes over none; then
    /// the conversation is never written in its format.
    pub(super) fn context_characters(&self) -> usize {
        self.target.vendor.conversion().map_or(0, |conversion| conversion.context_characters())
    }
}
