//! What the daemon and its clients say to each other, as JSON over HTTP.

mod bringing_back;
mod conversation;
mod handoff;
mod session;
mod vendors;

use std::path::PathBuf;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::Error;
use crate::model::{
    Dialog, Environment, Failure, LaunchId, MessageId, Permission, VendorId, VendorSessionId,
};

pub use bringing_back::{LeftAlone, ResumeCount, SurplusSession};
pub use conversation::{ConversationPart, ConversationReport, ConversationRequest, TakenOver};
pub use handoff::{CarriedTurn, DryRun, HandoffReport, HandoffRequest};
pub use session::{ListRequest, SessionList, SessionRef, SessionView};
pub use vendors::{Exemption, VendorList, VendorReport};

/// Changes whenever a client and a daemon of different versions would misunderstand each other.
pub const PROTOCOL: u32 = 3;

/// The header that carries the id of a request that changes something: a UUIDv7 made by the client.
/// The same id of the same caller is the same request, and is carried out once.
pub const REQUEST_HEADER: &str = "segue-request";

/// `GET /v1/health`
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Health {
    pub version: String,
    pub protocol: u32,
    pub pid: u32,
    pub started_at: Timestamp,
    /// It finishes what it was asked before, and takes nothing new.
    #[serde(default)]
    pub ending: bool,
}

/// Who asks: the folder and the environment of the command.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Caller {
    pub cwd: PathBuf,
    pub environment: Environment,
}

/// `POST /v1/run`
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct RunRequest {
    pub caller: Caller,
    pub prompt: Option<String>,
    pub agent: Option<String>,
    pub vendor: Option<String>,
    pub name: Option<String>,
    pub cwd: Option<PathBuf>,
    pub model: Option<String>,
    pub permission: Option<Permission>,
    pub headless: bool,
    pub args: Vec<String>,
}

/// `POST /v1/up`
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct UpRequest {
    pub caller: Caller,
    pub agents: Vec<String>,
    pub fleet: Option<String>,
    pub fresh: Vec<String>,
    /// Also starts agents that were ended on purpose.
    #[serde(default)]
    pub stopped: bool,
}

/// `POST /v1/resume`
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ResumeRequest {
    pub caller: Caller,
    pub selection: Selection,
    pub fresh: Vec<String>,
    /// Says what would be done, and does nothing.
    pub plan: bool,
    /// Also brings back what was ended on purpose.
    #[serde(default)]
    pub stopped: bool,
}

/// `POST /v1/stop`
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct StopRequest {
    pub cwd: PathBuf,
    pub selection: Selection,
}

/// Which sessions are meant.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Selection {
    /// Those of the fleet at home in the caller's folder.
    Here,
    All,
    /// Fleets or sessions by their addresses.
    Named(Vec<String>),
}

/// A conversation that no session has.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stranger {
    pub vendor: VendorId,
    pub vendor_session_id: VendorSessionId,
    pub began_at: Timestamp,
    /// How its first message begins.
    pub begins: Option<String>,
}

/// What came of bringing sessions back.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RestoreReport {
    pub agents: Vec<AgentOutcome>,
    /// Sessions that were ended on purpose. They are no reason to be incomplete.
    #[serde(default)]
    pub left_alone: Vec<LeftAlone>,
    /// Sessions that run and are not in the project file any more.
    #[serde(default)]
    pub surplus: Vec<SurplusSession>,
    pub complete: bool,
    /// Names that led to no session.
    #[serde(default)]
    pub failed: Vec<FailedTarget>,
}

impl RestoreReport {
    /// Makes the report of sessions that were selected by names, of which some led to none.
    pub fn new(
        agents: Vec<AgentOutcome>,
        left_alone: Vec<LeftAlone>,
        failed: Vec<FailedTarget>,
    ) -> Self {
        let complete = failed.is_empty() && agents.iter().all(|agent| !agent.lost);
        Self { agents, left_alone, surplus: Vec::new(), complete, failed }
    }
}

/// What came of bringing one session back.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AgentOutcome {
    #[serde(flatten)]
    pub of: SessionRef,
    pub vendor: VendorId,
    pub outcome: Outcome,
    pub vendor_session_id: Option<VendorSessionId>,
    pub note: Option<String>,
    /// What it asks a person.
    #[serde(default)]
    pub dialog: Option<Dialog>,
    /// A conversation that was there is not back.
    #[serde(default, skip_serializing)]
    pub lost: bool,
}

/// How a session came back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    Started,
    /// It ran already.
    #[serde(alias = "attached")]
    Running,
    Resumed,
    Restored,
    Adopted,
    HandedOver,
    Fresh,
    /// It runs and asks a person something first.
    Waiting,
    Refused,
}

impl Outcome {
    /// Returns the word used in tables and JSON.
    pub fn word(self) -> &'static str {
        match self {
            Self::Started => "started",
            Self::Running => "running",
            Self::Resumed => "resumed",
            Self::Restored => "restored",
            Self::Adopted => "adopted",
            Self::HandedOver => "handed_over",
            Self::Fresh => "fresh",
            Self::Waiting => "waiting",
            Self::Refused => "refused",
        }
    }
}

/// `POST /v1/resume`
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum ResumeAnswer {
    Restored(RestoreReport),
    /// The request asked for the plan only.
    Planned(PlanReport),
}

/// What `--plan` prints: the decision for each session, before anything is done.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlanReport {
    pub plan: Vec<PlannedOutcome>,
    /// How many of them do not run and would be brought back.
    #[serde(default)]
    pub to_bring_back: usize,
    /// Sessions that were ended on purpose.
    #[serde(default)]
    pub left_alone: Vec<LeftAlone>,
    /// Names that led to no session.
    #[serde(default)]
    pub failed: Vec<FailedTarget>,
}

/// One line of a [`PlanReport`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlannedOutcome {
    #[serde(flatten)]
    pub of: SessionRef,
    pub vendor: VendorId,
    pub decision: PlannedDecision,
    pub vendor_session_id: Option<VendorSessionId>,
    /// One line for a person: what would be done, or why not.
    pub note: String,
}

/// What a resume would do with a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PlannedDecision {
    /// It runs: nothing would be started.
    Running,
    /// It runs and asks a person something.
    Waiting,
    /// It is headless and between two turns: nothing would be started.
    Rest,
    Resume,
    /// The transcript would be put back first.
    Restore,
    /// The only conversation that can be its own would be taken in.
    Adopt,
    /// Nothing was said yet: it would be started again.
    Start,
    /// A new conversation would begin.
    Fresh,
    Refuse,
}

impl PlannedDecision {
    /// Tells whether a session that does not run is there again afterwards.
    pub fn brings_back(self) -> bool {
        match self {
            Self::Running | Self::Waiting | Self::Refuse => false,
            Self::Rest | Self::Resume | Self::Restore | Self::Adopt | Self::Start | Self::Fresh => {
                true
            }
        }
    }
}

/// `POST /v1/stop`
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StopReport {
    pub stopped: Vec<StoppedSession>,
    /// Names that led to no session, and sessions that could not be stopped.
    #[serde(default)]
    pub failed: Vec<FailedTarget>,
}

/// One line of a [`StopReport`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoppedSession {
    #[serde(flatten)]
    pub of: SessionRef,
    pub outcome: StopOutcome,
}

/// How a stop of one session ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StopOutcome {
    Stopped,
    /// Nothing ran.
    NotRunning,
}

/// A session or fleet of a command that named several, for which the command failed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FailedTarget {
    /// The name as it was given, or the address of a session of a fleet.
    pub target: String,
    pub error: Error,
}

/// Returns the error of a command for which every name failed: the only one, or one with each of them
/// as a cause. `None` if nothing failed. Its kind is that of the first.
pub fn none_done(failed: &[FailedTarget]) -> Option<Error> {
    let (first, rest) = failed.split_first()?;
    if rest.is_empty() {
        return Some(first.error.clone());
    }
    let message = format!("nothing was done for any of {} names", failed.len());
    let all = Error::new(first.error.kind, message);
    let all = failed.iter().fold(all, |all, it| all.caused_by(&it.error));
    let hints = failed.iter().flat_map(|it| it.error.hints.iter().map(move |hint| (it, hint)));
    Some(hints.fold(all, |all, (it, hint)| {
        let is_shared = failed.iter().all(|other| other.error.hints.contains(hint));
        // What holds for one name only says for which.
        let hint = if is_shared { hint.clone() } else { format!("`{}`: {hint}", it.target) };
        if all.hints.contains(&hint) { all } else { all.hint(hint) }
    }))
}

/// `POST /v1/select`: which sessions are meant by names.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SelectRequest {
    pub cwd: PathBuf,
    pub names: Vec<String>,
    /// The beginning of a name is not enough.
    pub whole: bool,
    /// A fleet stands also for its sessions that ended for good.
    pub finished: bool,
}

/// The sessions that were named, each once.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SelectReport {
    pub sessions: Vec<SessionView>,
    /// Sessions of a fleet that were left out: stopped on purpose, or handed over.
    #[serde(default)]
    pub left_out: Vec<LeftAlone>,
    /// Names that led to no session.
    pub failed: Vec<FailedTarget>,
}

/// `POST /v1/scale`
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ScaleRequest {
    pub caller: Caller,
    /// An agent as the project file calls it.
    pub agent: String,
    pub count: u32,
    pub fleet: Option<String>,
}

/// What came of each agent of a kind, and which were ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ScaleReport {
    pub agents: Vec<AgentOutcome>,
    pub stopped: Vec<StoppedSession>,
    /// Agents whose conversations go on in other sessions.
    #[serde(default)]
    pub left_alone: Vec<LeftAlone>,
    pub complete: bool,
}

/// `GET /v1/attach`: where the session's terminal is served.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AttachPoint {
    #[serde(flatten)]
    pub of: SessionRef,
    pub launch: LaunchId,
    pub socket: PathBuf,
}

/// How a headless turn ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TurnReport {
    #[serde(flatten)]
    pub session: SessionView,
    pub ok: bool,
    pub text: String,
    #[serde(default)]
    pub failure: Option<Failure>,
}

/// `POST /v1/trust`: what a project file would run, and the answer to it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TrustRequest {
    pub folder: PathBuf,
    /// The digest that was shown to the person; none only asks.
    pub digest: Option<String>,
}

/// What a person is shown before trusting a project file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TrustView {
    pub folder: PathBuf,
    /// SHA-256 of everything that is trusted.
    pub digest: String,
    pub trusted: bool,
    /// Everything in the file that runs or loosens something or reaches an agent, with the lines of
    /// the texts.
    pub contents: Vec<String>,
    /// What changed since the file was trusted; nothing if it never was.
    #[serde(default)]
    pub changes: Vec<String>,
}

/// `POST /v1/doctor`
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DoctorReport {
    pub findings: Vec<Finding>,
}

/// Something that disagrees, and its cure.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finding {
    pub severity: Severity,
    pub what: String,
    pub cure: Option<String>,
    /// `segue doctor --fix` cures it.
    #[serde(default)]
    pub curable: bool,
    pub fixed: bool,
}

impl Finding {
    /// Returns what an error says, with its first hint as the cure.
    pub fn problem(error: &Error) -> Self {
        let (what, cure) = (error.to_string(), error.hints.first().cloned());
        Self { severity: Severity::Problem, what, cure, curable: false, fixed: false }
    }
}

/// How bad a [`Finding`] is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// Nothing is wrong; worth knowing.
    Note,
    Warning,
    Problem,
}

/// `POST /v1/send`
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct SendRequest {
    pub caller: Caller,
    pub session: String,
    pub text: String,
    /// Break off what the agent does first.
    pub interrupt: bool,
    pub until: Until,
    pub timeout_ms: u64,
}

/// How long a sender wants to wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Until {
    /// The message is recorded.
    Recorded,
    /// The agent has taken it.
    Taken,
    /// The agent's turn is over.
    TurnEnded,
}

/// What became of a message so far.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SendReport {
    #[serde(flatten)]
    pub session: SessionView,
    pub message: MessageView,
    /// The turn that was waited for is over.
    pub turn_ended: bool,
    /// What the agent said at the end of that turn.
    pub answer: Option<String>,
    /// Why the turn failed.
    pub failure: Option<Failure>,
    /// Why it has not arrived yet.
    pub note: Option<String>,
}

/// A message as `segue messages --json` shows it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MessageView {
    pub id: MessageId,
    #[serde(flatten)]
    pub of: SessionRef,
    pub state: String,
    pub text: String,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
}

/// `POST /v1/messages`
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MessagesRequest {
    pub cwd: PathBuf,
    /// Sessions or fleets; the messages of all sessions if there are none.
    pub names: Vec<String>,
}

/// Messages, the oldest first.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MessageList {
    pub messages: Vec<MessageView>,
    /// Names that led to no session.
    #[serde(default)]
    pub failed: Vec<FailedTarget>,
}

/// `POST /v1/cancel`
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CancelRequest {
    /// An id, or the beginning of one.
    pub message: String,
}

/// `POST /v1/answer`
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AnswerRequest {
    pub cwd: PathBuf,
    pub session: String,
    /// `yes`, `no`, or a choice by its number or first words.
    pub answer: String,
    /// The id of the question that is meant: another one is not answered.
    #[serde(default)]
    pub question: Option<String>,
}

/// What was answered.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AnswerReport {
    pub answered: bool,
    /// The question as it was on the screen.
    #[serde(default)]
    pub dialog: Option<Dialog>,
}

/// `POST /v1/wait`
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WaitRequest {
    pub cwd: PathBuf,
    pub session: String,
    pub target: WaitTarget,
    /// None waits for ever.
    pub timeout_ms: Option<u64>,
}

/// What is waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WaitTarget {
    Idle,
    Waiting,
    Ended,
    /// Anything but starting and working.
    Rest,
}

/// What was waited for, or what was there when the time was over.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WaitReport {
    #[serde(flatten)]
    pub session: SessionView,
    pub reached: bool,
    /// Why a session that does not run ended, as far as it is known.
    #[serde(default)]
    pub why: Vec<String>,
}

/// `POST /v1/adopt`
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct AdoptRequest {
    pub caller: Caller,
    pub vendor: Option<String>,
    /// The vendor's own id; none lists what there is, or takes in all.
    pub id: Option<String>,
    pub name: Option<String>,
    pub all: bool,
    pub since: Option<Timestamp>,
}

/// What could be taken in, or was.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct AdoptReport {
    pub candidates: Vec<AdoptCandidate>,
    pub adopted: Vec<SessionView>,
    pub skipped: Vec<SkippedConversation>,
}

/// A conversation that no session has.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AdoptCandidate {
    pub vendor: VendorId,
    pub vendor_session_id: VendorSessionId,
    pub config_dir: PathBuf,
    pub cwd: PathBuf,
    pub began_at: Timestamp,
    pub updated_at: Timestamp,
    /// How its first message begins.
    pub begins: Option<String>,
    /// The process that has it open: somebody's terminal.
    #[serde(default)]
    pub open_in: Option<u32>,
}

/// A conversation that could not be taken in.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SkippedConversation {
    pub vendor: VendorId,
    pub vendor_session_id: VendorSessionId,
    pub why: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failures_of_several_names_are_equal_causes_of_one_error() {
        let failed = |target: &str, hints: &[&str]| {
            let error = Error::not_found(format!("there is no session `{target}`"));
            let error = hints.iter().fold(error, |error, hint| error.hint(*hint));
            FailedTarget { target: target.to_owned(), error }
        };
        assert_eq!(none_done(&[]), None);
        let one = failed("a", &["run `segue ls`"]);
        assert_eq!(none_done(std::slice::from_ref(&one)), Some(one.error.clone()));
        let two = failed("fx", &["did you mean `fox`?", "run `segue ls`"]);
        let expected = Error::not_found("nothing was done for any of 2 names")
            .caused_by("there is no session `a`")
            .caused_by("there is no session `fx`")
            .hint("run `segue ls`")
            .hint("`fx`: did you mean `fox`?");
        assert_eq!(none_done(&[one, two]), Some(expected));
    }
}
