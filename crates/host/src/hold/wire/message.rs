//! The messages inside of frames.

use segue_core::model::{Environment, LaunchEnd, LaunchId, ProcessRef, SessionId};
use segue_core::{Error, Result};
use serde::{Deserialize, Serialize};

use super::{OLDEST, PROTOCOL};
use crate::hold::terminal::{Size, Snapshot};

/// The first thing that each side says.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Hello {
    /// The newest version that the side speaks.
    pub(crate) protocol: u32,
    /// The oldest version that it speaks.
    pub(crate) oldest: u32,
    #[serde(default)]
    pub(crate) capabilities: Vec<String>,
}

impl Hello {
    /// What this program says.
    pub(crate) fn ours() -> Self {
        Self { protocol: PROTOCOL, oldest: OLDEST, capabilities: Vec::new() }
    }

    /// Returns the version to use with the other side.
    pub(crate) fn agree(&self) -> Result<u32> {
        let version = self.protocol.min(PROTOCOL);
        if version >= self.oldest.max(OLDEST) {
            return Ok(version);
        }
        Err(Error::unavailable(format!(
            "the holder protocol of another version of segue is not understood: it speaks \
             {} to {}, this program {OLDEST} to {PROTOCOL}",
            self.oldest, self.protocol
        ))
        .hint("run `segue stop` with the version that started the agent, then `segue resume`"))
    }
}

/// What clients ask.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Request {
    /// Show me the terminal; mine has this size.
    Attach(Size),
    /// My terminal has this size now.
    Resize(Size),
    /// Show me everything again.
    Repaint,
    Detach,
    /// Break off what the agent does, with these bytes where ^C is not the way.
    Interrupt {
        #[serde(default)]
        bytes: Option<Vec<u8>>,
    },
    /// Tell me what happens from now on.
    Subscribe,
    Snapshot,
    History,
    Status,
    Environment,
    /// Go, if the agent has ended.
    Release,
    Stop {
        grace_ms: u64,
    },
}

/// What the holder answers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Answer {
    Done,
    Failed(Error),
    Status(Box<Status>),
    Environment(Environment),
    Snapshot(Box<Snapshot>),
    Ended(LaunchEnd),
}

/// How a holder and its agent are.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Status {
    pub(crate) launch: LaunchId,
    pub(crate) session: SessionId,
    pub(crate) holder: ProcessRef,
    /// None once the agent has ended.
    pub(crate) agent: Option<ProcessRef>,
    pub(crate) end: Option<LaunchEnd>,
    pub(crate) attached: usize,
    /// None without a terminal.
    pub(crate) size: Option<Size>,
}

/// What subscribers and attached clients are told.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Event {
    Title(String),
    Bell,
    /// So many people are attached now.
    Attached(usize),
    /// The agent ended; every descendant is gone and the end is on disk.
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
    fn a_hello_from_the_future_is_understood() {
        let text = r#"{"protocol":7,"oldest":1,"capabilities":["x"],"colour":"blue"}"#;
        let hello: Hello = serde_json::from_str(text).unwrap();
        assert_eq!(hello.agree().unwrap(), 1);
    }

    /// These texts are what holders in the field understand: they must never change.
    #[test]
    fn the_words_of_version_one_stay() {
        let size = Size { rows: 24, cols: 80 };
        let table = [
            (Request::Attach(size), r#"{"attach":{"rows":24,"cols":80}}"#),
            (Request::Resize(size), r#"{"resize":{"rows":24,"cols":80}}"#),
            (Request::Repaint, r#""repaint""#),
            (Request::Detach, r#""detach""#),
            (Request::Interrupt { bytes: Some(vec![3]) }, r#"{"interrupt":{"bytes":[3]}}"#),
            (Request::Subscribe, r#""subscribe""#),
            (Request::Snapshot, r#""snapshot""#),
            (Request::History, r#""history""#),
            (Request::Status, r#""status""#),
            (Request::Environment, r#""environment""#),
            (Request::Release, r#""release""#),
            (Request::Stop { grace_ms: 500 }, r#"{"stop":{"grace_ms":500}}"#),
        ];
        for (request, text) in table {
            assert_eq!(serde_json::to_string(&request).unwrap(), text);
            assert_eq!(serde_json::from_str::<Request>(text).unwrap(), request);
        }
    }
}
