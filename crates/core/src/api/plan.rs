//! The report of `segue resume --plan`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{FailedTarget, LeftAlone, OutcomeNote, SessionRef};
use crate::model::{VendorId, VendorSessionId};
use crate::word_enum::word_enum;

/// The decision for each session. None of the decisions is carried out.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PlanReport {
    pub plan: Vec<PlannedOutcome>,
    /// How many sessions in `plan` do not run and would be brought back.
    #[serde(default)]
    pub to_bring_back: usize,
    /// Sessions that would not be brought back, for example because they were ended on purpose.
    #[serde(default)]
    pub left_alone: Vec<LeftAlone>,
    /// Names that match no session.
    #[serde(default)]
    pub failed: Vec<FailedTarget>,
}

/// One line of a [`PlanReport`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PlannedOutcome {
    #[serde(flatten)]
    pub of: SessionRef,
    pub vendor: VendorId,
    pub decision: PlannedDecision,
    pub vendor_session_id: Option<VendorSessionId>,
    /// What would be done, or why nothing would be done.
    #[serde(flatten)]
    pub note: OutcomeNote,
}

word_enum! {
    /// What a resume would do with a session.
    pub enum PlannedDecision {
        /// The session runs. Nothing would be started.
        Running = "running",
        /// The session runs and asks the user a question.
        Waiting = "waiting",
        /// The session is headless and between two turns. Nothing would be started.
        Rest = "rest",
        Resume = "resume",
        /// The transcript would be restored first.
        Restore = "restore",
        /// The only conversation that can belong to the session would be adopted.
        Adopt = "adopt",
        /// The conversation is empty. It would be started again.
        Start = "start",
        /// A new conversation would begin.
        Fresh = "fresh",
        Refuse = "refuse",
    }
}

impl PlannedDecision {
    /// Returns whether this decision brings back a session that does not run. A headless session
    /// between two turns is not brought back: no process is started for it.
    pub fn brings_back(self) -> bool {
        match self {
            Self::Running | Self::Waiting | Self::Rest | Self::Refuse => false,
            Self::Resume | Self::Restore | Self::Adopt | Self::Start | Self::Fresh => true,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_decisions_that_start_a_process_or_restore_a_transcript_bring_back() {
        let brings_back = |it: &&PlannedDecision| it.brings_back();
        let words: Vec<&str> =
            PlannedDecision::ALL.iter().filter(brings_back).map(|it| it.word()).collect();
        assert_eq!(words, ["resume", "restore", "adopt", "start", "fresh"]);
    }
}
