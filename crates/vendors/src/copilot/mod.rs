//! GitHub's Copilot CLI.
//!
//! The log of a process, and the lock that it holds open in a conversation's folder, show which
//! conversation the process is in. The events in that folder show what the process does and what it
//! waits for. The screen shows the dialogs that appear before any event is recorded.

mod commands;
mod conversion;
mod failures;
mod launch;
mod lock;
mod mcp;
mod paths;
mod records;
mod rehearsal;
mod screen;
mod signals;
mod transcript;
mod turns;
mod typing;
mod usage;

use segue_core::model::{PermissionEffect, Resumes};
use segue_core::ports::{Capabilities, FirstTurn, Pace, Proof, Support};

use crate::shared::vendor::BuiltInVendor;

/// The facets of Copilot CLI.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Copilot;

pub(crate) const VENDOR: BuiltInVendor = BuiltInVendor {
    id: "copilot",
    capabilities: Capabilities {
        resume: Resumes::Yes,
        permission: PermissionEffect::Limits,
        first_turn: FirstTurn::ShowsAccount,
        pace: Pace { at_once: 4, first_alone: true },
    },
    support: Support {
        title: "Copilot CLI",
        proof: Proof::Program,
        tried: &["1.0.102"],
        install: "npm install -g @github/copilot",
        notes: &[
            "a long message reaches the model as a file that the model is told to read",
            "a text that begins with `/` or `!` is typed after a zero-width space; otherwise Copilot \
             would run it",
            "it never reports when a usage limit ends",
        ],
    },
    rehearsal: Some(rehearsal::rehearsal),
    launching: &Copilot,
    interaction: &Copilot,
    transcripts: &Copilot,
    signals: &Copilot,
    usage: Some(&Copilot),
    mcp: Some(&Copilot),
    commands: Some(&Copilot),
    conversion: Some(&Copilot),
};
