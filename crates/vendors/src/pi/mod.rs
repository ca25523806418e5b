//! Pi, version 0.73.
//!
//! Segue chooses the id of a conversation: it prepares a transcript, and Pi continues it. Pi has no
//! registry of its processes and no locks, hides its arguments and keeps no file open. So an
//! extension reports the conversation and the activity of the process. The extension is in the
//! launch folder, and not in a folder of the user.

mod commands;
mod conversion;
mod extension;
mod failures;
mod launch;
mod live;
mod paths;
mod records;
mod rehearsal;
mod screen;
mod signals;
mod transcript;
mod tree;
mod turns;
mod typing;
mod usage;

use segue_core::model::{PermissionEffect, Resumes};
use segue_core::ports::{Capabilities, FirstTurn, Pace, Proof, Support};

use crate::shared::vendor::BuiltInVendor;

/// The facets of Pi.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pi;

pub(crate) const VENDOR: BuiltInVendor = BuiltInVendor {
    id: "pi",
    capabilities: Capabilities {
        resume: Resumes::Yes,
        permission: PermissionEffect::Nothing,
        first_turn: FirstTurn::ShowsAccount,
        pace: Pace { at_once: 4, first_alone: false },
    },
    support: Support {
        title: "Pi",
        proof: Proof::Program,
        tried: &["0.73.1"],
        install: "npm install -g @mariozechner/pi-coding-agent",
        notes: &[
            "Pi never asks for permission and ignores the session's permission; limit its tools with \
             `args = [\"--tools\", \"read,grep,find,ls\"]`",
            "Segue cannot find the conversation of a Pi process that was started without Segue",
        ],
    },
    rehearsal: Some(rehearsal::rehearsal),
    launching: &Pi,
    interaction: &Pi,
    transcripts: &Pi,
    signals: &Pi,
    usage: Some(&Pi),
    mcp: None,
    commands: Some(&Pi),
    conversion: Some(&Pi),
};
