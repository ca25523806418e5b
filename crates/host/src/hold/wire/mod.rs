//! The protocol between a holder and its clients.
//!
//! A connection carries frames. A frame has four bytes for the length of the payload (big-endian),
//! one byte for the kind, and the payload. The first frame of each side is a [`Hello`]. Then the
//! client sends requests. Every [`WireRequest`] and every injection gets one [`WireAnswer`], in
//! order. Events and output arrive between the answers.
//!
//! # Compatibility
//!
//! A holder lives as long as its agent. So a daemon uses holders of older versions, and after a
//! downgrade holders of newer versions. Therefore:
//! - the header of a frame and the hello never change;
//! - both sides use the lower of the two versions in the hellos, and a program supports every
//!   version from [`OLDEST`] on;
//! - a feature that is added without a new version is listed in `capabilities`. A client requests
//!   it only if the holder lists it;
//! - unknown kinds of frames, unknown events and unknown fields are skipped; unknown requests are
//!   answered with a failure.

mod frame;
mod message;
mod typing;

pub(crate) use frame::{Frame, FrameDecoder, Received, encode, encode_message, kind};
pub(crate) use message::{
    ClientCounts, Hello, Painted, ScrollbackFacts, Uses, WireAnswer, WireEvent, WireQuestion,
    WireRequest, WireStatus,
};
pub(crate) use typing::{ScreenNow, TypingOutcome, capability};

/// The newest protocol version that this program supports.
pub(crate) const PROTOCOL: u32 = 1;
/// The oldest protocol version that this program supports.
pub(crate) const OLDEST: u32 = 1;
