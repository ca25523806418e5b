//! OpenClaw, as its version 2026.9 behaves, one headless turn at a time.
//!
//! Segue chooses the id of a conversation. OpenClaw continues the conversation with that id if its
//! database has it. Otherwise OpenClaw begins one under that id without any notice, so Segue looks
//! into the database first. Only the report at the end of a turn names the conversation of the
//! turn.

mod failures;
mod launch;
mod paths;
mod records;
mod signals;
mod transcript;
mod turns;

use segue_core::model::{PermissionEffect, Resumes};
use segue_core::ports::{Capabilities, FirstTurn, Pace, Proof, Support};

use crate::shared::vendor::BuiltInVendor;

/// The facets of OpenClaw.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OpenClaw;

pub(crate) const VENDOR: BuiltInVendor = BuiltInVendor {
    id: "openclaw",
    capabilities: Capabilities {
        resume: Resumes::Yes,
        permission: PermissionEffect::Nothing,
        first_turn: FirstTurn::ShowsAccount,
        // If two turns run in one config dir at the same time, the second one fails.
        pace: Pace { at_once: 1, first_alone: true },
    },
    support: Support {
        title: "OpenClaw",
        proof: Proof::Program,
        tried: &["2026.9.6"],
        install: "npm install -g openclaw",
        notes: &[
            "headless only: its interactive front end needs its gateway, and was not tried",
            "it works in the workspace of its own configuration, whatever the session's folder is",
            "its own configuration decides what it may do, whatever the session's permission is; it \
             accepts no instructions",
            "a start takes 20 seconds or more; only the report at the end of a turn names the \
             conversation",
            "one turn at a time in one config dir: OpenClaw ends a second one with an error",
            "after a refused key, it does not use that key for about a minute",
            "OpenClaw keeps the prompt of an interrupted turn only for the next turn",
            "the tests do not run it, because it needs Node 24 and takes minutes to install; it was \
             tried by hand, and the tests read recordings",
        ],
    },
    rehearsal: None,
    launching: &OpenClaw,
    interaction: &OpenClaw,
    transcripts: &OpenClaw,
    signals: &OpenClaw,
    conversion: None,
};
