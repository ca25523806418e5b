//! Google's Gemini CLI, as its version 0.61 behaves.
//!
//! The id of a conversation is ours: we prepare a transcript with that id, and Gemini resumes it.
//! At each start, Gemini deletes all transcripts whose names end like that of a transcript without
//! messages. The name of a prepared transcript ends like no other name, and the file has content
//! from the beginning.

mod conversion;
mod failures;
mod launch;
mod message_turns;
mod neighbours;
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
        // The first process creates the list of projects, and holds a lock that the others wait
        // for.
        pace: Pace { at_once: 4, first_alone: true },
    },
    support: Support {
        title: "Gemini CLI",
        proof: Proof::Program,
        tried: &["0.61.0"],
        install: "npm install -g @google/gemini-cli",
        notes: &[
            "a text that begins with `/`, `?` or `!` is typed after a zero-width space; otherwise \
             Gemini would run it as a command, or forget it",
            "it deletes transcripts when it starts; the transcripts of Segue's sessions have names \
             that it spares",
        ],
    },
    rehearsal: Some(rehearsal::rehearsal),
    launching: &Gemini,
    interaction: &Gemini,
    transcripts: &Gemini,
    signals: &Gemini,
    conversion: Some(&Gemini),
};
