//! The requests to the daemon and its responses, as JSON over HTTP.

mod adopt;
mod agents;
mod answer;
mod attach;
mod attention;
mod bringing_back;
mod conversation;
mod daemon;
mod delivery;
mod doctor;
mod error;
mod events;
mod git_credential;
mod handoff;
mod housekeeping;
mod interrupt;
mod maybe_known;
mod messages;
mod network;
mod note;
mod options;
mod paging;
mod plan;
mod plans;
mod queries;
mod rename;
mod restore;
mod resume;
mod run;
mod scale;
mod select;
mod session;
mod settings;
mod source;
mod stop;
mod task;
mod terminal;
mod trust;
mod up;
mod usage;
mod vendors;
mod wait;
mod web;
mod worktree;

pub use adopt::{
    AdoptCandidate, AdoptReport, AdoptRequest, SkippedConversation, UnknownConversation,
};
pub use agents::{AgentKindList, AgentKindView, AgentKindsRequest};
pub use answer::{AnswerReport, AnswerRequest};
pub use attach::AttachPoint;
pub use attention::{AttentionList, AttentionView, PlanGateView};
pub use bringing_back::{LeftAlone, SurplusSession};
pub use conversation::{
    ConversationPart, ConversationReport, ConversationRequest, StoryPart, TakenOver, TranscriptPage,
};
pub use daemon::{Caller, Health, IDEMPOTENCY_HEADER, PROTOCOL, REQUEST_HEADER};
pub use delivery::{
    DeliveriesRequest, DeliveryList, DeliveryPage, DeliveryReport, DeliverySelector, DeliveryView,
    DispatchTestReport, DispatchTestRequest, TestedEvent, TestedRule, TestedTask,
};
pub use doctor::{DoctorReport, DoctorRequest, Finding, Severity};
pub use error::{ErrorAnswer, Problem};
pub use events::{EventsQuery, FROM_NOW};
pub use git_credential::{GitCredentialAnswer, GitCredentialRequest};
pub use handoff::{CarriedTurn, DryRun, HandoffReport, HandoffRequest};
pub use housekeeping::{
    DiskItem, DiskItemKind, DiskReport, DiskRepository, DiskRequest, DroppedParts, ResetReport,
    ResetRequest, SweepReport, SweepRequest, SweptItem,
};
pub use interrupt::{InterruptReport, InterruptRequest};
pub use maybe_known::MaybeKnown;
pub use messages::{
    CancelRequest, MessageList, MessageSendBody, MessageView, MessageWaitRequest, MessagesRequest,
    SendReport, SendRequest, Until,
};
pub use network::{
    ListenerState, ServeReport, ServeRequest, TokenCreateReport, TokenCreateRequest, TokenList,
    TokenRevokeRequest, TokenView,
};
pub use note::OutcomeNote;
pub use options::{ProgramCommandView, SessionOptions};
pub use paging::{
    DEFAULT_PAGE_SIZE, InvalidCursor, MAX_PAGE_SIZE, PlaceCursor, StoryCursor, TimeCursor,
    TurnCursor, page_size, parse_cursor,
};
pub use plan::{PlanReport, PlannedDecision, PlannedOutcome};
pub use plans::{
    PlanApplyReport, PlanApplyRequest, PlanList, PlanListRequest, PlanSelector, PlanSummaryView,
    PlanTaskSelector, PlanTaskStatus, PlanTaskView, PlanView, plan_schema,
};
pub use queries::{
    DeliveryListQuery, EventStreamQuery, PageQuery, SessionListQuery, TaskListQuery,
    TranscriptQuery, UsageQueryParameters, WorktreeDiffQuery,
};
pub use rename::{RenameReport, RenameRequest};
pub use restore::{AgentOutcome, Outcome, RestoreReport};
pub use resume::{ResumeAnswer, ResumeCount, ResumeRequest};
pub use run::{RunRequest, TurnReport};
pub use scale::{ScaleReport, ScaleRequest};
pub use select::{
    AddressQuery, FailedTarget, SelectReport, SelectRequest, Selection, combined_error,
};
pub use session::{ListRequest, SessionList, SessionRef, SessionView, StartedSession};
pub use settings::{SettingsReport, SettingsRequest};
pub use source::{SourceList, SourceView};
pub use stop::{StopOutcome, StopReport, StopRequest, StoppedSession};
pub use task::{
    AgentReportAnswer, AgentReportRequest, TaskAddRequest, TaskList, TaskListRequest,
    TaskPriorityBody, TaskReport, TaskRetryBody, TaskRetryRequest, TaskSelector, TaskSummaryList,
    TaskSummaryView, TaskView, TaskWaitRequest,
};
pub use terminal::{ScreenView, TerminalQuery, TerminalRequest, TerminalUpdate, TerminalUse};
pub use trust::{TrustRequest, TrustView};
pub use up::UpRequest;
pub use usage::{UsageList, UsageRequest, UsageRow};
pub use vendors::{Exemption, VendorList, VendorReport};
pub use wait::{WaitReport, WaitRequest, WaitTarget};
pub use web::{
    PAGE_KEY_HEADER, PAGE_KEY_PROTOCOL, ShareCreateReport, ShareCreateRequest, ShareList,
    ShareView, TERMINAL_PROTOCOL, WebLinkReport, WebLinkRequest, WebLoginReport, WebLoginRequest,
    WebSessionView,
};
pub use worktree::{
    BranchDistance, ChangeCounts, ChangedFile, WorktreeAction, WorktreeActionReport,
    WorktreeActionRequest, WorktreeDiffReport, WorktreeDiffRequest, WorktreeGcReport,
    WorktreeGcRequest, WorktreeList, WorktreeOutcome, WorktreeRequest, WorktreeState, WorktreeView,
    WorktreesRequest,
};
