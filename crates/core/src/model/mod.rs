//! The data types of Segue, one file per concept. The glossary (`docs/glossary.md`) explains their
//! names.

mod agent_worktree;
mod archive;
mod binding;
mod branch;
mod byte_count;
mod child_report;
mod delivery;
mod description;
mod dialog;
mod dispatch;
mod duration_histogram;
mod environment_source;
mod event;
mod failure;
mod fleet;
mod folder_state;
mod forge;
mod git_host;
mod handoff;
mod housekeeping;
mod ids;
mod interrupt_method;
mod launch;
mod listening;
mod machine;
mod message;
mod misleading;
mod permission_effect;
mod plan;
mod plan_file;
mod polled_repository;
mod principal;
mod process;
mod program_command;
mod project;
mod record;
mod repetition;
mod reply;
mod repository;
mod request;
mod resumes;
mod salvage;
mod screen;
mod secret_text;
mod session;
mod signal;
mod source;
mod status;
mod task;
mod terminal_size;
mod timer;
mod token;
mod tracked_issue;
mod turn;
mod usage;
mod worktree;
mod worktree_commands;

pub use agent_worktree::{AgentWorktree, WorktreeOrder, WorktreeRemoval};
pub use archive::{Archived, CopiedConversation};
pub use binding::{Binding, Evidence};
pub use branch::{BranchName, CommitId, RefName};
pub use byte_count::byte_count;
pub use child_report::{AgentReport, ChildReport, ReportedState, TaskSpawner, WorkRef};
pub use delivery::{
    ActionOutcome, Delivery, DeliveryAction, DeliveryStateKind, DeliverySummary,
    StoredDeliveryState,
};
pub use description::VendorDescription;
pub use dialog::Dialog;
pub use dispatch::{AllowedActors, DispatchConditions, DispatchRule};
pub use duration_histogram::DurationHistogram;
pub use environment_source::EnvironmentSource;
pub use event::{
    Event, EventKind, EventPayload, LeftoverProcess, MadeWorktreeFacts, NewEvent,
    RemovedWorktreeFacts, RestoreSource, SweptFacts, WorktreeCommandFacts,
};
pub use failure::{Failure, FailureClass};
pub use fleet::{Counts, Fleet, FleetMember, FleetRecord, Trust};
pub use folder_state::FolderState;
pub use forge::{
    CiConclusion, CiLog, CiLogSource, CiRun, CommentPlace, DeliveryHeaders, DeliveryReading,
    DeliveryRefusal, DeliveryRequest, DiffSide, EventChanges, ForgeComment, ForgeEvent, ForgeIssue,
    ForgePull, ForgeRepository, ForgeReview, ForgeSource, ForgeSubject, ForgeUser,
    LONGEST_BODY_BYTES, LONGEST_NAME_BYTES, LONGEST_TITLE_BYTES, LONGEST_URL_BYTES, ListedIssue,
    ListedPull, ListedRun, MAX_DELIVERY_BYTES, MAX_LIST_ITEMS, PullState, PushedCommits,
    RepositoryAddress, RepositoryPermission, ReviewVerdict, SubjectChange, TriggerKind, UserKind,
    shortened_text,
};
pub use git_host::GitHost;
pub use handoff::{Handoff, HandoffForm};
pub use housekeeping::{
    CloneContent, DiskLevel, HousekeepingItem, HousekeepingKind, HousekeepingState,
    LaunchIndexEntry, SharedClone,
};
pub use ids::{
    AgentName, DeliveryId, FleetName, ForgeId, LaunchId, MachineId, MessageId, PlanId, PlanName,
    PlanTaskName, ReplyId, RequestId, SessionId, SessionName, SourceName, TaskId, TaskKey, TokenId,
    VendorId, VendorSessionId, WorktreeId,
};
pub use interrupt_method::InterruptMethod;
pub use launch::{Exit, Launch, LaunchEnd, LaunchMode};
pub use listening::{ListenSettings, Transport};
pub use machine::MachineIds;
pub use message::{
    ExchangedMessage, Message, MessageSender, MessageState, MessageStateKind, TypingRecord,
};
pub use misleading::is_misleading;
pub use permission_effect::PermissionEffect;
pub use plan::{
    FailurePolicy, Plan, PlanControl, PlanCounts, PlanGate, PlanMembership, PlanState, PlanTask,
    PlanTaskDefinition, PlanTaskEnd, PlanTaskState,
};
pub use plan_file::{PlanFailureWord, PlanFile, PlanFileTask, PlanWorktree};
pub use polled_repository::{PolledList, PolledObject, PolledRepository};
pub use principal::{AccessToken, AccessTokenKind, Principal, TokenScope};
pub use process::{Environment, ProcessRef};
pub use program_command::{CommandArguments, CommandEffect, ProgramCommand};
pub use project::{
    DescribedVendors, FleetScale, PROJECT_FILE, Project, ProjectAgent, PromptTemplate,
    TaskTemplates, TrustClaim, WorktreeSettings,
};
pub use record::{LaunchRecord, LaunchTexts};
pub use repetition::{Repetition, RepetitionKind};
pub use reply::{ForgeReply, ReplyState, ReplyTarget};
pub use repository::{RepositoryId, RepositorySource, RepositoryUrl};
pub use request::{RequestKey, RequestRecord, RequestStep};
pub use resumes::Resumes;
pub use salvage::{Salvage, SalvageOutcome};
pub use screen::{DialogText, Screen, Showing};
pub use secret_text::SecretText;
pub use session::{Permission, Restart, Session, SessionNames, SessionSettings};
pub use signal::{Activity, Signal};
pub use source::Source;
pub use status::{How, Status, StatusKind, WaitingFor};
pub use task::{
    AccountKey, DiffStat, IssueKey, IssueRef, Task, TaskBase, TaskCommit, TaskMode, TaskOrder,
    TaskPriority, TaskProgress, TaskResult, TaskState, TaskStateKind, TaskWait, TaskWorktree,
    VerifyReport,
};
pub use terminal_size::TerminalSize;
pub use timer::Timer;
pub use token::{StoredToken, TokenDigest};
pub use tracked_issue::{TrackedIssue, TrackedIssueKey};
pub use turn::{Role, Tool, Turn};
pub use usage::{
    CountedRequest, CountedUsage, DailyUsage, ReportedUsage, StoredUsageCursor, Usage, UsageCursor,
    UsageGrouping, UsageIncrement, UsagePosition, UsageReading, UsageSource, UsdAmount,
};
pub use worktree::{
    BranchStart, CheckoutNotice, Divergence, EnsuredWorktree, FileDiff, GitOperation,
    ListedWorktree, Provision, WorktreeChanges, WorktreeDiff, WorktreeFacts, WorktreeOrigin,
    WorktreePlace, WorktreeSpec,
};
pub use worktree_commands::{CommandPhase, WorktreeCommands};
