//! Acceptance checks of sessions: their identity, their records, how they resume, and losses.

mod identity;
mod loss;
mod records;
mod resume;
