//! Pi, as its version 0.73 behaves.
//!
//! Segue chooses the id of a conversation: Pi continues a file that Segue prepared. Pi keeps no
//! list of its processes, locks nothing, hides its arguments and has no file open. So an extension
//! reports which conversation a process is in and what the process does. The extension is in no
//! folder of the user.

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
            "it asks nothing and may do everything, whatever the session's permission is; limit it \
             with `args = [\"--tools\", \"read,grep,find,ls\"]`",
            "a Pi that was started without Segue does not show which conversation it has open",
        ],
    },
    rehearsal: Some(rehearsal::rehearsal),
    launching: &Pi,
    interaction: &Pi,
    transcripts: &Pi,
    signals: &Pi,
    conversion: Some(&Pi),
};
