//! `OpenCode`, version 1.18.
//!
//! `OpenCode`'s conversations are rows of one database, which Segue only reads. Segue chooses the
//! id of a conversation: it imports an empty conversation with that id before the first launch. A
//! plugin reports the conversation and the activity of the process. The plugin also sends the first
//! message; later messages are typed.

mod commands;
mod conversion;
mod document;
mod export;
mod failures;
mod launch;
mod live;
mod mcp;
mod message_ids;
mod model;
mod new_parts;
mod part;
mod paths;
#[cfg(test)]
mod recorded;
mod rehearsal;
mod rows;
mod screen;
mod signals;
mod tip;
mod transcript;
mod turns;
mod typing;
mod usage;

use segue_core::model::{PermissionEffect, Resumes};
use segue_core::ports::{Capabilities, FirstTurn, Pace, Proof, Support};

use crate::shared::vendor::BuiltInVendor;

/// The facets of `OpenCode`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OpenCode;

pub(crate) const VENDOR: BuiltInVendor = BuiltInVendor {
    id: "opencode",
    capabilities: Capabilities {
        resume: Resumes::Yes,
        permission: PermissionEffect::Limits,
        first_turn: FirstTurn::ShowsAccount,
        // The first launch creates the database.
        pace: Pace { at_once: 4, first_alone: true },
    },
    support: Support {
        title: "OpenCode",
        proof: Proof::Program,
        tried: &["1.18.33"],
        install: "npm install -g opencode-ai",
        notes: &[
            "conversations are rows of one database: they have no guard, and `segue rm --purge` does \
             not delete them",
            "the first start after an installation needs the network, because OpenCode installs \
             `@opencode-ai/plugin`",
            "a text that begins with `/` or `!` is typed after a zero-width space; otherwise OpenCode \
             would run it",
            "`OPENCODE_DB` is ignored: the database is in `XDG_DATA_HOME`",
        ],
    },
    rehearsal: Some(rehearsal::rehearsal),
    launching: &OpenCode,
    interaction: &OpenCode,
    transcripts: &OpenCode,
    signals: &OpenCode,
    usage: Some(&OpenCode),
    mcp: Some(&OpenCode),
    commands: Some(&OpenCode),
    conversion: Some(&OpenCode),
};
