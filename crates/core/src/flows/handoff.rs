//! The steps of a handoff that need only ports. The supervisor calls them in order, and asks the
//! actors of both sessions in between.
//!
//! 1. [`HandoffSource`], [`HandoffTarget`]: the session that the conversation comes from, and the
//!    vendor that continues it. [`EarlierSession`]: the vendor's own session of the conversation.
//! 2. [`HandoffPlan`]: everything that is decided before the old agent is ended.
//! 3. [`gather`]: reads the newest turns, cleans them and removes secrets.
//! 4. [`write()`]: writes them in the target's format. [`digest_message`]: writes them as one
//!    message instead.
//! 5. [`HandoffPlan::record`]: stores session, binding and step in one commit.
//! 6. [`HandoffPlan::has_history`]: confirms that the vendor has the conversation. [`undo`] reverts
//!    the write if it does not.
//!
//! [`preview`] shows the result of steps 3 and 4 and changes nothing. [`RecordedHandoff`] is what an
//! interrupted attempt of the same request has left in the store.

mod digest_message;
mod earlier_session;
mod gather;
mod native;
mod plan;
mod preview;
mod read_back;
mod record;
mod report;
mod retry;
mod source;
mod target;
mod write;

pub use digest_message::{DigestMessage, digest_message};
pub use earlier_session::EarlierSession;
pub use gather::{ConversationExcerpt, TransferLimit, gather};
pub use native::NativeContent;
pub use plan::{HandoffOptions, HandoffPlan};
pub use preview::preview;
pub use report::TransferSummary;
pub use retry::RecordedHandoff;
pub use source::{HandoffSource, SourceConversation, UnadoptedConversation};
pub use target::{HandoffTarget, TargetAgent, TargetSession};
pub use write::{Destination, WrittenConversation, convert, undo, write};
