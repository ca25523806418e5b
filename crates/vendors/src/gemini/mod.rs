//! Google's Gemini CLI, version 0.61.
//!
//! Segue chooses the id of a new conversation: it prepares a transcript with that id, and Gemini
//! resumes it. At each start, Gemini deletes all transcripts whose names have the same ending as
//! the name of a transcript without messages. The ending of a prepared name is unique, so Gemini
//! does not delete a prepared transcript.

mod commands;
mod conversion;
mod endangered;
mod failures;
mod launch;
mod mcp;
mod message_turns;
mod messages;
mod own_log;
mod paths;
mod process;
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

/// The facets of Gemini CLI.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Gemini;

pub(crate) const VENDOR: BuiltInVendor = BuiltInVendor {
    id: "gemini",
    capabilities: Capabilities {
        resume: Resumes::Yes,
        permission: PermissionEffect::Limits,
        first_turn: FirstTurn::ShowsAccount,
        // The first process creates the list of projects. The other processes wait for its lock.
        pace: Pace { at_once: 4, first_alone: true },
    },
    support: Support {
        title: "Gemini CLI",
        proof: Proof::Program,
        tried: &["0.61.0"],
        install: "npm install -g @google/gemini-cli",
        notes: &[
            "a text that begins with `/`, `?` or `!` is typed after a zero-width space; otherwise \
             Gemini would run it as a command, or omit it at the next resume",
            "Gemini deletes some transcripts when it starts; the transcripts of Segue's sessions have \
             names that it does not delete",
        ],
    },
    rehearsal: Some(rehearsal::rehearsal),
    launching: &Gemini,
    interaction: &Gemini,
    transcripts: &Gemini,
    signals: &Gemini,
    usage: Some(&Gemini),
    mcp: Some(&Gemini),
    commands: Some(&Gemini),
    conversion: Some(&Gemini),
};
