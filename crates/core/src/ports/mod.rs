//! The seams: what the flows need from the world, in the words of `model`.

mod archive;
mod clock;
mod files;
mod folders;
mod holders;
mod machine;
mod salvage;
mod store;
mod support;
mod transcription;
mod vendor;

use std::sync::Arc;

pub use archive::{Archive, ArchiveOrder, Archived, Content, DamagedCopy, Holding, RestoreOrder};
pub use clock::Clock;
pub use files::{FileFacts, Files, NewContents, Taken};
pub use folders::{Guarded, LaunchFolders};
pub use holders::{Fault, Held, HolderEvent, HolderEvents, Holders, StartOrder, TypeOrder, Typed};
pub use machine::{Ended, Folder, Machine, Program};
pub use salvage::{Salvaged, SalvagedSession};
pub use store::{Change, Commit, EventQuery, MessageQuery, OpenLaunch, SessionSummary, Store};
pub use support::{Proof, Rehearsal, Stage, Support};
pub use transcription::{Target, Transcription, TranscriptionOrder, TurnWriter};
pub use vendor::{
    Activity, Answer, Beginning, Capabilities, CommandLine, CommandPlan, Conversation, DialogText,
    EachTurn, Kept, Live, NewFile, Pace, Place, ProgramSpec, Readiness, Screen, Showing, Signal,
    Typing, Vendor, Vendors,
};

/// Everything the flows are given.
#[derive(Clone, Debug)]
pub struct Ports {
    pub store: Arc<dyn Store>,
    pub vendors: Arc<dyn Vendors>,
    pub holders: Arc<dyn Holders>,
    pub folders: Arc<dyn LaunchFolders>,
    pub archive: Arc<dyn Archive>,
    pub files: Arc<dyn Files>,
    pub machine: Arc<dyn Machine>,
    pub clock: Arc<dyn Clock>,
}
