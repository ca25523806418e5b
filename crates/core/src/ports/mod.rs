//! Interfaces between the flows and the outside world, in terms of the types in `model`.

mod archive;
mod checkouts;
mod clock;
mod commands;
mod conflict;
mod credentials;
mod disk_meter;
mod environments;
mod files;
mod folders;
mod forge;
mod holders;
mod machine;
mod notifier;
mod projects;
mod salvage;
mod sources;
mod store;
mod support;
mod terminal;
mod transcription;
mod vendor;
mod watch;

use std::sync::Arc;

pub use archive::{Archive, ArchiveOrder, Content, DamagedCopy, RestoreOrder};
pub use checkouts::{
    Askpass, Checkouts, GitCaller, GitProgress, InspectDepth, RemovalOrder, RestorationOrder,
};
pub use clock::Clock;
pub use commands::{CommandOrder, CommandReport, Commands};
pub use conflict::{Conflict, Missing};
pub use credentials::{Credentials, GitTicket};
pub use disk_meter::{DiskAreas, DiskMeasurement, DiskMeter, FolderUse, MeasuredFolder};
pub use environments::{EnvironmentSettings, Environments};
pub use files::{FileFacts, Files, NewContents, Taken};
pub use folders::{Guarded, LaunchFolders, LaunchPaths, LaunchRecords, TranscriptGuards};
pub use forge::{
    AssignedIssue, CommentSearch, Forge, ForgeAccess, ForgeApi, ForgeFailure, ForgeFault,
    ForgeResult, Forges, ListPage, ListQuery, ListScope, RequestPace, Webhooks,
};
pub use holders::{
    Fault, Held, HolderEvent, HolderEvents, Holders, OpenQuestion, StartOrder, TypeOrder, Typed,
};
pub use machine::{EndedProcess, Folder, Machine, Program};
pub use notifier::{Notification, Notifier};
pub use projects::{ProjectFile, Projects};
pub use salvage::{Salvaged, SalvagedSession};
pub use sources::ForgeSources;
pub use store::{
    AgentReportQuery, Change, Commit, DeliveryQuery, EventQuery, IssueFilter, LeasedWorktree,
    MAX_AGENT_REPORTS, MessageQuery, OpenLaunch, PlacedTask, PlanQuery, PlanTaskQuery,
    SessionActivity, SessionPage, SessionQuery, SessionSummary, Store, TASK_BEGINNING_CHARACTERS,
    TaskPage, TaskQuery, TaskSummary, UsageQuery, VendorPlace, WorktreeQuery,
};
pub use support::{Proof, Rehearsal, Support, TrialSetup};
pub use terminal::{
    ScrollbackPage, ScrollbackRange, TerminalAccess, TerminalClients, TerminalEvent,
    TerminalSnapshot, TerminalStream, TerminalUses, Terminals,
};
pub use transcription::{Target, Transcription, TranscriptionOrder, TurnWriter};
pub use vendor::{
    Answer, Beginning, Capabilities, CommandLine, CommandPlan, Conversation, Conversion, EachTurn,
    FirstTurn, HeadlessLaunching, HeadlessQuestion, HeadlessQuestions, Interaction, Launching,
    Live, McpClient, McpServerCommand, McpServers, NewFile, Pace, Place, ProgramCommands,
    ProgramSpec, Readiness, SignalSources, StoredConversation, TranscriptDatabase, TranscriptFiles,
    TranscriptStorage, Transcripts, Typing, UsageReports, Vendor, Vendors, WriteMode,
};
pub use watch::{FolderChange, FolderWatcher, FolderWatchers};

/// All ports that a flow gets.
#[derive(Clone, Debug)]
pub struct Ports {
    pub store: Arc<dyn Store>,
    pub vendors: Arc<dyn Vendors>,
    pub holders: Arc<dyn Holders>,
    pub folders: Arc<dyn LaunchFolders>,
    pub archive: Arc<dyn Archive>,
    pub checkouts: Arc<dyn Checkouts>,
    pub files: Arc<dyn Files>,
    pub machine: Arc<dyn Machine>,
    pub environments: Arc<dyn Environments>,
    pub credentials: Arc<dyn Credentials>,
    pub projects: Arc<dyn Projects>,
    pub watchers: Arc<dyn FolderWatchers>,
    pub clock: Arc<dyn Clock>,
    pub notifier: Arc<dyn Notifier>,
    pub commands: Arc<dyn Commands>,
    pub sources: Arc<dyn ForgeSources>,
    pub disk: Arc<dyn DiskMeter>,
}
