//! How well OpenClaw is supported.

use segue_core::ports::{Proof, Support};

pub(super) const SUPPORT: Support = Support {
    title: "OpenClaw",
    proof: Proof::Program,
    tried: &["2026.9.6"],
    install: "npm install -g openclaw",
    notes: &[
        "headless only: its interactive front end needs its gateway, and was not tried",
        "it works in the workspace of its own configuration, whatever the session's folder",
        "what it may do is for its own configuration to say, whatever the session's permission; it takes no instructions",
        "a start takes 20 s or more; only the report at a turn's end tells which conversation it was",
        "one turn at a time in one folder of settings: OpenClaw ends a second one with an error",
        "after a refused key it does not use that key for about a minute",
        "of a turn that is cut off, OpenClaw keeps what was asked for the next turn alone",
        "it is not in the pinned set that the tests run: it needs Node 24 and takes minutes to install; it was tried by hand, and the tests read what was recorded",
    ],
};
