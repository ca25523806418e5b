//! The interface to one vendor: which program to start, and how to interpret its files and its
//! output. A vendor does not start processes itself.

mod commands;
mod conversion;
mod interaction;
mod launching;
mod mcp;
mod signals;
mod transcripts;
mod usage;

use std::fmt::Debug;
use std::path::PathBuf;
use std::sync::Arc;

use super::{Rehearsal, Support, TrialSetup};
use crate::error::Result;
use crate::model::{PermissionEffect, Resumes, Session, VendorDescription, VendorId};
use crate::rules::address;

pub use commands::ProgramCommands;
pub use conversion::Conversion;
pub use interaction::{Answer, Interaction, Readiness, Typing};
pub use launching::{
    CommandLine, CommandPlan, HeadlessLaunching, HeadlessQuestion, HeadlessQuestions, Launching,
    NewFile, ProgramSpec,
};
pub use mcp::{McpClient, McpServerCommand, McpServers};
pub use signals::SignalSources;
pub use transcripts::{
    Beginning, Conversation, EachTurn, Live, StoredConversation, TranscriptDatabase,
    TranscriptFiles, TranscriptStorage, Transcripts, WriteMode,
};
pub use usage::UsageReports;

/// The vendors that this build supports.
pub trait Vendors: Debug + Send + Sync {
    /// Returns the vendor with this id. The error for an unknown id lists the known vendors.
    fn get(&self, id: &VendorId) -> Result<Arc<dyn Vendor>>;

    /// Returns the vendor that a user refers to: the one with this name, or the only one whose name
    /// begins with `word`.
    fn named(&self, word: &str) -> Result<Arc<dyn Vendor>> {
        let ids: Vec<VendorId> = self.all().iter().map(|vendor| vendor.id()).collect();
        let names: Vec<&str> = ids.iter().map(VendorId::as_str).collect();
        match address::find_name(&names, word) {
            Ok(name) => self.get(&VendorId::new(name)),
            Err(unclear) => match self.get(&VendorId::new(word)) {
                Ok(vendor) => Ok(vendor),
                Err(unknown) => Err(unclear.explain(word, unknown)),
            },
        }
    }

    /// Returns a vendor that a project file describes.
    fn described(&self, id: &VendorId, description: &VendorDescription) -> Arc<dyn Vendor>;

    /// Returns the vendor of a session.
    fn of(&self, session: &Session) -> Result<Arc<dyn Vendor>> {
        match &session.description {
            Some(description) => Ok(self.described(&session.vendor, description)),
            None => self.get(&session.vendor),
        }
    }

    fn all(&self) -> Vec<Arc<dyn Vendor>>;
}

/// One agent CLI.
pub trait Vendor: Debug + Send + Sync {
    fn id(&self) -> VendorId;

    fn capabilities(&self) -> Capabilities;

    /// Returns how well the vendor is supported.
    fn support(&self) -> Support;

    /// Returns what the program needs to be tested without an account. `None` if it cannot be
    /// tested.
    fn rehearsal(&self, _setup: &TrialSetup<'_>) -> Option<Rehearsal> {
        None
    }

    /// Returns how the vendor's program is started.
    fn launching(&self) -> &dyn Launching;

    /// Returns what the agent's screen means, and which keys the agent's program expects.
    fn interaction(&self) -> &dyn Interaction;

    /// Returns the vendor's transcripts. `None` if Segue cannot read the vendor's conversations.
    fn transcripts(&self) -> Option<&dyn Transcripts> {
        None
    }

    /// Returns the vendor's transcripts if each of them is a file of its own.
    fn transcript_files(&self) -> Option<&dyn TranscriptFiles> {
        match self.transcripts()?.storage() {
            TranscriptStorage::Files(files) => Some(files),
            TranscriptStorage::Database(_) => None,
        }
    }

    /// Returns the vendor's transcripts if they are in a database.
    fn transcript_database(&self) -> Option<&dyn TranscriptDatabase> {
        match self.transcripts()?.storage() {
            TranscriptStorage::Files(_) => None,
            TranscriptStorage::Database(database) => Some(database),
        }
    }

    /// Returns the sources of the vendor's signals. `None` if launches never show which
    /// conversation they are in or what they do, so that a resume stays unverified.
    fn signals(&self) -> Option<&dyn SignalSources> {
        None
    }

    /// Returns the reports about used tokens. `None` if the vendor does not report them.
    fn usage(&self) -> Option<&dyn UsageReports> {
        None
    }

    /// Returns how the vendor's program uses MCP servers. `None` if it cannot.
    fn mcp(&self) -> Option<&dyn McpClient> {
        None
    }

    /// Returns the commands of the vendor's program that a message may run. `None` if there are none.
    fn commands(&self) -> Option<&dyn ProgramCommands> {
        None
    }

    /// Returns how the vendor takes over conversations. `None` if it cannot.
    fn conversion(&self) -> Option<&dyn Conversion> {
        None
    }
}

/// What a vendor supports, as plain data. A capability with operations is a facet of [`Vendor`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Capabilities {
    pub resume: Resumes,
    pub permission: PermissionEffect,
    pub first_turn: FirstTurn,
    pub pace: Pace,
}

/// What an agent's first turn shows about its account.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FirstTurn {
    /// The turn shows whether the service accepts the account. One of several agents starts first,
    /// and the others start as soon as its turn has shown this.
    ShowsAccount,
    /// The turn shows nothing, because the vendor has no account or no signal about it. No agent
    /// waits for another.
    ShowsNothing,
}

/// Limits for starting launches of one account.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pace {
    /// How many launches may be starting at the same time.
    pub at_once: usize,
    /// The first launch must be running before a second one starts. It creates files that two
    /// concurrent starts would corrupt.
    pub first_alone: bool,
}

/// The folders that determine where a vendor keeps a conversation.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Place {
    pub config_dir: PathBuf,
    pub cwd: PathBuf,
}

impl Place {
    /// Returns the place of a session's conversation.
    pub fn of(session: &Session) -> Self {
        Self { config_dir: session.config_dir.clone(), cwd: session.cwd.clone() }
    }
}
