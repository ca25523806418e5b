//! OpenAI's Codex, version 0.169.
//!
//! Segue chooses the id of a conversation: it prepares a rollout (Codex's transcript file) with
//! that id, and Codex resumes it. The lock file that a process holds open proves which conversation
//! the process is in. The title, the rollout and the output show what the process does.

mod commands;
mod conversion;
mod failures;
mod launch;
mod lineage;
mod lock;
mod mcp;
mod paths;
mod records;
mod rehearsal;
mod screen;
mod settings;
mod signals;
mod transcript;
mod turns;
mod typing;
mod usage;

use segue_core::model::{PermissionEffect, Resumes};
use segue_core::ports::{Capabilities, FirstTurn, Pace, Proof, Support};

use crate::shared::vendor::BuiltInVendor;

/// The facets of Codex.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Codex;

pub(crate) const VENDOR: BuiltInVendor = BuiltInVendor {
    id: "codex",
    capabilities: Capabilities {
        resume: Resumes::Yes,
        permission: PermissionEffect::Limits,
        first_turn: FirstTurn::ShowsAccount,
        // Two processes that set up the same config dir at the same time corrupt it.
        pace: Pace { at_once: 4, first_alone: true },
    },
    support: Support {
        title: "Codex",
        proof: Proof::Program,
        tried: &["0.166.0", "0.169.0"],
        install: "npm install -g @openai/codex",
        notes: &[
            "a text that begins with `!` is typed after a zero-width space; otherwise Codex would run it",
        ],
    },
    rehearsal: Some(rehearsal::rehearsal),
    launching: &Codex,
    interaction: &Codex,
    transcripts: &Codex,
    signals: &Codex,
    usage: Some(&Codex),
    mcp: Some(&Codex),
    commands: Some(&Codex),
    conversion: Some(&Codex),
};
