//! What a holder and its clients say to each other.
//!
//! A connection carries frames: four bytes of length (big-endian, of what follows the kind), one
//! byte of kind, the payload. The first frame of each side is a [`Hello`]. Then the client asks,
//! and every [`Request`] and every injection gets one [`Answer`], in order; events and output come
//! between them.
//!
//! # Compatibility
//!
//! A holder lives as long as its agent, so a daemon meets holders older than itself, and after a
//! downgrade newer ones. Therefore:
//! - the header of a frame and the hello never change;
//! - both sides use the lower of the two versions in the hellos, and a program speaks every
//!   version from [`OLDEST`] on;
//! - what is added without a new version is named in `capabilities`, and is asked for only where
//!   it is named;
//! - frames of an unknown kind, events that are not known and fields that are not known are
//!   skipped; requests that are not known are answered with a failure.

mod frame;
mod message;
mod typing;

pub(crate) use frame::{Decoder, Frame, Received, encode, encode_message, kind};
pub(crate) use message::{Answer, Event, Hello, Request, ScrollbackFacts, Status, Uses};
pub(crate) use typing::{Outcome, ScreenNow, capability};

/// The version that this program speaks best.
pub(crate) const PROTOCOL: u32 = 1;
/// The oldest version that it speaks.
pub(crate) const OLDEST: u32 = 1;
