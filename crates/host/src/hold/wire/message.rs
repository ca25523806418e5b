//! The messages in frames.

use segue_core::model::{Environment, LaunchEnd, LaunchId, MessageId, ProcessRef, SessionId};
use segue_core::ports::{OpenQuestion, TerminalClients, TerminalUses};
use segue_core::{Error, Result};
use serde::{Deserialize, Serialize};

use super::typing::{ScreenNow, TypingOutcome, capability};
use super::{OLDEST, PROTOCOL};
use crate::hold::terminal::{Size, Snapshot};

/// The first message of each side.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Hello {
    /// The newest protocol version that the side supports.
    pub(crate) protocol: u32,
    /// The oldest protocol version that the side supports.
    pub(crate) oldest: u32,
    #[serde(default)]
    pub(crate) capabilities: Vec<String>,
}

impl Hello {
    /// Returns the hello of this program.
    pub(crate) fn own() -> Self {
        let capabilities = capability::ALL.map(str::to_owned).to_vec();
        Self { protocol: PROTOCOL, oldest: OLDEST, capabilities }
    }

    /// Returns the protocol version to use with the other side. Fails if there is no common
    /// version.
    pub(crate) fn agree(&self) -> Result<u32> {
        let version = self.protocol.min(PROTOCOL);
        if version >= self.oldest.max(OLDEST) {
            return Ok(version);
        }
        Err(Error::unavailable(format!(
            "the holder protocol of another version of segue is not supported: it has versions \
             {} to {}, this program {OLDEST} to {PROTOCOL}",
            self.oldest, self.protocol
        ))
        .hint("run `segue stop` with the version that started the agent, then `segue resume`"))
    }
}

/// The requests of clients.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum WireRequest {
    /// Attach a terminal of this size.
    Attach(Size),
    /// The attached terminal has this size now.
    Resize(Size),
    /// Repaint the whole screen.
    Repaint,
    Detach,
    /// Interrupt the agent by typing these bytes. Without bytes, type ^C, or send SIGINT to a
    /// headless agent.
    Interrupt {
        #[serde(default)]
        bytes: Option<Vec<u8>>,
    },
    /// Send events from now on.
    Subscribe,
    Snapshot,
    History,
    Status,
    Environment,
    /// Exit, if the agent has ended.
    Release,
    Stop {
        grace_ms: u64,
    },
    /// Return the screen and its revision. Needs the capability `screen`.
    Screen,
    /// Type this message, if the screen still has this revision. Needs the capability `type`.
    Type {
        message: MessageId,
        text: String,
        revision: u64,
    },
    /// Press these keys, if the screen still has this revision. Needs the capability `press`.
    Press {
        keys: Vec<u8>,
        revision: u64,
    },
    /// Send the scrollback lines. Needs the capability `scrollback`.
    Scrollback,
    /// Switch the wheel reports of the attached terminal on or off, for as long as the agent does
    /// not use the mouse. Needs the capability `scrollback`.
    Wheel(bool),
    /// Watch the terminal. From then on, the holder refuses all requests on this connection that
    /// could type, resize, stop or release. Needs the capability `view`.
    View,
    /// Ask a person. Only processes of a headless agent may send this. The answer comes after the
    /// reply. Needs the capability `ask`.
    Ask {
        request: String,
    },
    /// Reply to an open question, or refuse it without a text. Needs the capability `ask`.
    Reply {
        question: String,
        text: Option<String>,
    },
}

impl WireRequest {
    /// Returns whether a client that only watches may send this request. The environment contains
    /// secrets that the terminal does not show.
    pub(crate) fn is_for_viewers(&self) -> bool {
        match self {
            Self::Repaint
            | Self::Detach
            | Self::Subscribe
            | Self::Snapshot
            | Self::History
            | Self::Status
            | Self::Screen
            | Self::Scrollback
            | Self::Wheel(_)
            | Self::View => true,
            Self::Attach(_)
            | Self::Resize(_)
            | Self::Interrupt { .. }
            | Self::Environment
            | Self::Release
            | Self::Stop { .. }
            | Self::Type { .. }
            | Self::Press { .. }
            | Self::Ask { .. }
            | Self::Reply { .. } => false,
        }
    }
}

/// The answers of a holder.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum WireAnswer {
    Done,
    Failed(Error),
    Status(Box<WireStatus>),
    Environment(Environment),
    Snapshot(Box<Snapshot>),
    Ended(LaunchEnd),
    /// `None` without a terminal.
    Screen(Option<Box<ScreenNow>>),
    Typed(TypingOutcome),
    /// Whether the keys were pressed.
    Pressed(bool),
    /// Sent after the lines.
    Scrollback(ScrollbackFacts),
    /// The reply to a question. `None` if it was refused.
    Asked(Option<String>),
    /// Whether the question was still open.
    Replied(bool),
}

/// Facts about the scrollback lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ScrollbackFacts {
    /// Whether older lines were dropped.
    pub(crate) has_forgotten: bool,
    /// Whether the last lines are the alternate screen, which has no scrollback.
    pub(crate) alternate: bool,
}

/// The terminal features that an agent uses and that the meaning of a user's keys depends on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Uses {
    /// Whether it uses the alternate screen.
    pub(crate) alternate: bool,
    /// Whether it uses mouse reports.
    pub(crate) mouse: bool,
}

impl From<Uses> for TerminalUses {
    fn from(Uses { alternate, mouse }: Uses) -> Self {
        Self { alternate, mouse }
    }
}

/// The numbers of attached clients.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ClientCounts {
    pub(crate) controllers: usize,
    pub(crate) viewers: usize,
}

impl From<ClientCounts> for TerminalClients {
    fn from(ClientCounts { controllers, viewers }: ClientCounts) -> Self {
        Self { controllers, viewers }
    }
}

/// The beginning of a repaint in the output.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Painted {
    /// The size of the agent's terminal.
    pub(crate) size: Size,
    /// The number of bytes of the following output that belong to the repaint.
    pub(crate) bytes: usize,
}

/// The state of a holder and its agent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct WireStatus {
    pub(crate) launch: LaunchId,
    pub(crate) session: SessionId,
    pub(crate) holder: ProcessRef,
    /// `None` after the agent has ended.
    pub(crate) agent: Option<ProcessRef>,
    pub(crate) end: Option<LaunchEnd>,
    pub(crate) attached: usize,
    /// `None` without a terminal.
    pub(crate) size: Option<Size>,
}

/// An open question of a headless agent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct WireQuestion {
    pub(crate) id: String,
    pub(crate) request: String,
}

impl From<WireQuestion> for OpenQuestion {
    fn from(WireQuestion { id, request }: WireQuestion) -> Self {
        Self { id, request }
    }
}

/// The events for subscribers and attached clients.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum WireEvent {
    Title(String),
    Bell,
    /// This many clients are attached now, apart from those that only watch.
    Attached(usize),
    /// The agent has drawn, and has then been quiet for a short time.
    Settled,
    /// The terminal features that the agent uses now. Sent to attached clients, at first and at
    /// every change.
    Uses(Uses),
    /// This many clients are attached now. Sent to attached clients, at first and at every change.
    Clients(ClientCounts),
    /// Input of a client that only watches was dropped.
    Refused(Error),
    /// The open questions of a headless agent, oldest first. Sent to subscribers, at first and at
    /// every change.
    Questions(Vec<WireQuestion>),
    /// The agent has ended. Every descendant is gone and the end is on disk.
    Ended(LaunchEnd),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_sides_use_the_lower_version() {
        let hello = |oldest, protocol| Hello { protocol, oldest, capabilities: Vec::new() };
        assert_eq!(hello(1, 1).agree().unwrap(), 1);
        assert_eq!(hello(1, 9).agree().unwrap(), 1);
        let error = hello(2, 9).agree().unwrap_err();
        assert!(error.message.contains("2 to 9"), "{error}");
        assert!(hello(0, 0).agree().is_err());
    }

    #[test]
    fn hello_of_a_newer_version_is_parsed() {
        let text = r#"{"protocol":7,"oldest":1,"capabilities":["x"],"colour":"blue"}"#;
        let hello: Hello = serde_json::from_str(text).unwrap();
        assert_eq!(hello.agree().unwrap(), 1);
    }

    /// Released holders support exactly these texts, so they must never change.
    #[test]
    fn json_of_version_one_never_changes() {
        let size = Size { rows: 24, cols: 80 };
        let table = [
            (WireRequest::Attach(size), r#"{"attach":{"rows":24,"cols":80}}"#),
            (WireRequest::Resize(size), r#"{"resize":{"rows":24,"cols":80}}"#),
            (WireRequest::Repaint, r#""repaint""#),
            (WireRequest::Detach, r#""detach""#),
            (WireRequest::Interrupt { bytes: Some(vec![3]) }, r#"{"interrupt":{"bytes":[3]}}"#),
            (WireRequest::Subscribe, r#""subscribe""#),
            (WireRequest::Snapshot, r#""snapshot""#),
            (WireRequest::History, r#""history""#),
            (WireRequest::Status, r#""status""#),
            (WireRequest::Environment, r#""environment""#),
            (WireRequest::Release, r#""release""#),
            (WireRequest::Stop { grace_ms: 500 }, r#"{"stop":{"grace_ms":500}}"#),
        ];
        for (request, text) in table {
            assert_eq!(serde_json::to_string(&request).unwrap(), text);
            assert_eq!(serde_json::from_str::<WireRequest>(text).unwrap(), request);
        }
    }

    /// The same for holders with capabilities.
    #[test]
    fn json_of_the_capabilities_never_changes() {
        let all = ["screen", "type", "press", "settled", "scrollback", "view", "ask"];
        assert_eq!(capability::ALL, all);
        let id = "019a0000-0000-7000-8000-000000000000";
        let message = MessageId::new(id.parse().unwrap());
        let request = WireRequest::Type { message, text: "hi\n".to_owned(), revision: 7 };
        let typed = format!(r#"{{"type":{{"message":"{id}","text":"hi\n","revision":7}}}}"#);
        let table = [
            (WireRequest::Screen, r#""screen""#),
            (request, typed.as_str()),
            (
                WireRequest::Press { keys: vec![13], revision: 7 },
                r#"{"press":{"keys":[13],"revision":7}}"#,
            ),
            (WireRequest::Scrollback, r#""scrollback""#),
            (WireRequest::Wheel(true), r#"{"wheel":true}"#),
            (WireRequest::View, r#""view""#),
            (WireRequest::Ask { request: "{}".to_owned() }, r#"{"ask":{"request":"{}"}}"#),
            (
                WireRequest::Reply { question: "a1".to_owned(), text: None },
                r#"{"reply":{"question":"a1","text":null}}"#,
            ),
        ];
        for (request, text) in table {
            assert_eq!(serde_json::to_string(&request).unwrap(), text);
            assert_eq!(serde_json::from_str::<WireRequest>(text).unwrap(), request);
        }
        let answers = [
            (WireAnswer::Screen(None), r#"{"screen":null}"#),
            (WireAnswer::Typed(TypingOutcome::Before), r#"{"typed":"before"}"#),
            (WireAnswer::Pressed(true), r#"{"pressed":true}"#),
            (
                WireAnswer::Scrollback(ScrollbackFacts { has_forgotten: true, alternate: false }),
                r#"{"scrollback":{"has_forgotten":true,"alternate":false}}"#,
            ),
            (WireAnswer::Asked(Some("yes".to_owned())), r#"{"asked":"yes"}"#),
            (WireAnswer::Replied(true), r#"{"replied":true}"#),
        ];
        for (answer, text) in answers {
            assert_eq!(serde_json::to_string(&answer).unwrap(), text);
        }
        let uses = WireEvent::Uses(Uses { alternate: true, mouse: false });
        let text = r#"{"uses":{"alternate":true,"mouse":false}}"#;
        assert_eq!(serde_json::to_string(&uses).unwrap(), text);
        assert_eq!(serde_json::to_string(&WireEvent::Settled).unwrap(), r#""settled""#);
        let clients = WireEvent::Clients(ClientCounts { controllers: 1, viewers: 2 });
        let counted = r#"{"clients":{"controllers":1,"viewers":2}}"#;
        assert_eq!(serde_json::to_string(&clients).unwrap(), counted);
        let question = WireQuestion { id: "a1".to_owned(), request: "{}".to_owned() };
        let questions = WireEvent::Questions(vec![question]);
        let text = r#"{"questions":[{"id":"a1","request":"{}"}]}"#;
        assert_eq!(serde_json::to_string(&questions).unwrap(), text);
        let painted = Painted { size: Size { rows: 24, cols: 80 }, bytes: 7 };
        let header = r#"{"size":{"rows":24,"cols":80},"bytes":7}"#;
        assert_eq!(serde_json::to_string(&painted).unwrap(), header);
    }
}
