//! Claude Code.
//!
//! Claude Code's own registry of live processes shows which conversation a process is in and what
//! the process does. Hooks report what the registry lacks. The screen shows dialogs that appear
//! before the registry or a hook reports anything.

mod commands;
mod conversion;
mod failures;
mod launch;
mod mcp;
mod paths;
mod questions;
mod records;
mod registry;
mod rehearsal;
mod screen;
mod settings;
mod signals;
mod tip;
mod transcript;
mod tree;
mod turns;
mod typing;
mod usage;
mod versions;

use segue_core::model::{PermissionEffect, Resumes};
use segue_core::ports::{Capabilities, FirstTurn, Pace, Proof, Support};

use crate::shared::vendor::BuiltInVendor;

/// The facets of Claude Code.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Claude;

pub(crate) const VENDOR: BuiltInVendor = BuiltInVendor {
    id: "claude",
    capabilities: Capabilities {
        resume: Resumes::Yes,
        permission: PermissionEffect::Limits,
        first_turn: FirstTurn::ShowsAccount,
        pace: Pace { at_once: 4, first_alone: false },
    },
    support: Support {
        title: "Claude Code",
        proof: Proof::Program,
        tried: &["2.1.197", "2.1.325", "2.1.326"],
        install: "npm install -g @anthropic-ai/claude-code",
        notes: &["as root, it accepts `auto` only if its own variable `IS_SANDBOX=1` is set"],
    },
    rehearsal: Some(rehearsal::rehearsal),
    launching: &Claude,
    interaction: &Claude,
    transcripts: &Claude,
    signals: &Claude,
    usage: Some(&Claude),
    mcp: Some(&Claude),
    commands: Some(&Claude),
    conversion: Some(&Claude),
};
