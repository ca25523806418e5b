//! Whether a vendor can continue a conversation in a new process.

/// Whether a vendor can resume conversations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Resumes {
    Yes,
    No,
}
