//! OpenClaw, version 2026.9, in headless turns only.
//!
//! Segue chooses the id of a conversation. If OpenClaw's database has no conversation with that id,
//! OpenClaw begins a new one without a notice. So Segue reads the database before a resume. Only
//! the report at the end of a turn names the conversation of the turn.

mod failures;
mod launch;
mod paths;
mod records;
mod signals;
mod transcript;
mod turns;
mod usage;

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
            "headless only: its interactive front end needs its gateway, and is not tested",
            "OpenClaw works in the workspace of its configuration and ignores the session's folder",
            "OpenClaw's configuration sets its permissions; it ignores the session's permission and \
             accepts no instructions",
            "a start takes 20 seconds or more; only the report at the end of a turn names the \
             conversation",
            "only one turn can run in one config dir: OpenClaw ends a second one with an error",
            "after an API key was rejected, OpenClaw does not use it for about a minute",
            "OpenClaw keeps the prompt of an interrupted turn only for the next turn",
            "the tests do not run OpenClaw, because it needs Node 24 and takes minutes to install; it \
             was tested manually, and the tests read recordings",
        ],
    },
    rehearsal: None,
    launching: &OpenClaw,
    interaction: &OpenClaw,
    transcripts: &OpenClaw,
    signals: &OpenClaw,
    usage: Some(&OpenClaw),
    mcp: None,
    commands: None,
    conversion: None,
};
