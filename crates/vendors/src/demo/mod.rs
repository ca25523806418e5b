//! The built-in vendor `demo`. Every feature of Segue works with it without an account.
//!
//! This folder contains both sides: the implementation of the vendor's facets, and (in `agent`) the
//! agent program itself. The program behaves like a real agent CLI, including its defects.

pub mod agent;
mod commands;
mod launch;
mod paths;
mod questions;
mod records;
mod registry;
mod screen;
mod signals;
mod transcript;
mod turns;
mod usage;

use segue_core::model::{PermissionEffect, Resumes};
use segue_core::ports::{Capabilities, FirstTurn, Pace, Proof, Support};

use crate::shared::vendor::BuiltInVendor;

/// The facets of the built-in vendor.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Demo;

pub(crate) const VENDOR: BuiltInVendor = BuiltInVendor {
    id: "demo",
    capabilities: Capabilities {
        resume: Resumes::Yes,
        permission: PermissionEffect::Limits,
        first_turn: FirstTurn::ShowsNothing,
        pace: Pace { at_once: 8, first_alone: false },
    },
    support: Support {
        title: "the built-in agent",
        proof: Proof::BuiltIn,
        tried: &[],
        install: "included in Segue",
        notes: &[],
    },
    rehearsal: None,
    launching: &Demo,
    interaction: &Demo,
    transcripts: &Demo,
    signals: &Demo,
    usage: Some(&Demo),
    mcp: None,
    commands: Some(&Demo),
    conversion: Some(&Demo),
};
