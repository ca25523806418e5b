//! Cursor's agent, according to public descriptions of its versions up to September 2026. The
//! program itself was not available. Segue relies only on behaviour that is described somewhere.
//!
//! Cursor chooses the id of a conversation itself. For an id that it does not know, a resume begins
//! a blank conversation under that id. So Segue knows an id only after the process has reported it,
//! and resumes a conversation only if Cursor has a database of it.

mod chats;
mod failures;
mod launch;
mod paths;
mod plugin;
mod records;
mod signals;
mod transcript;
mod turns;
mod typing;

use segue_core::model::{PermissionEffect, Resumes};
use segue_core::ports::{Capabilities, FirstTurn, Pace, Proof, Support};

use crate::shared::vendor::BuiltInVendor;

/// The facets of Cursor's agent.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CursorVendor;

pub(crate) const VENDOR: BuiltInVendor = BuiltInVendor {
    id: "cursor",
    capabilities: Capabilities {
        resume: Resumes::Yes,
        permission: PermissionEffect::Nothing,
        first_turn: FirstTurn::ShowsAccount,
        // It is unknown what happens if two processes set up Cursor's files at the same time.
        pace: Pace { at_once: 2, first_alone: true },
    },
    support: Support {
        title: "Cursor",
        proof: Proof::Recordings,
        tried: &[],
        install: "curl https://cursor.com/install -fsS | bash",
        notes: &[
            "its program was never tried: everything is based on public descriptions of versions of \
             July to September 2026",
            "headless: its output names the conversation; a resume that comes up in another \
             conversation is refused, and so is a resume without a database",
            "interactive: the conversation is known only after a hook of a plugin (`--plugin-dir`) \
             has named it; a resume without such a hook is reported as not shown, never as done",
            "Segue types nothing into an interactive session, because its screen is not known; \
             messages wait",
            "according to reports, the conversation loses an interrupted turn: an agent that is told \
             to continue may not know with what",
            "instructions are a rule of the plugin; whether Cursor follows them was not tried",
            "with `CURSOR_DATA_DIR`, or with a config dir that is not `~/.cursor`, its transcripts \
             are elsewhere and are not read",
        ],
    },
    rehearsal: None,
    launching: &CursorVendor,
    interaction: &CursorVendor,
    transcripts: &CursorVendor,
    signals: &CursorVendor,
    usage: None,
    mcp: None,
    commands: None,
    conversion: None,
};
