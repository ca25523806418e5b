//! Facts that a vendor's process shows about itself.

use super::{Evidence, Failure, Source, UsdAmount, VendorSessionId, WaitingFor};

/// One fact that a vendor's process shows about itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Signal {
    /// The process is in this conversation.
    Conversation {
        id: VendorSessionId,
        evidence: Evidence,
    },
    Activity {
        activity: Activity,
        source: Source,
    },
    /// A turn ended, successfully or not.
    TurnEnded {
        ok: bool,
        text: String,
        failure: Option<Failure>,
    },
    /// What the process has cost since its start. Only for costs that no transcript has.
    Cost {
        total: UsdAmount,
    },
}

/// What the agent does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Activity {
    Working,
    Idle,
    Waiting(WaitingFor),
}
