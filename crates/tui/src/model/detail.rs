//! The right side: everything about one session.

use std::collections::BTreeMap;

use segue_core::api::MessageView;
use segue_core::model::{Event, SessionId};

use super::{DiffPane, ScreenPane, TalkPane};

/// A view of the right side.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum DetailView {
    #[default]
    Screen,
    Talk,
    Diff,
    Messages,
    Log,
}

impl DetailView {
    pub(crate) const ALL: [Self; 5] =
        [Self::Screen, Self::Talk, Self::Diff, Self::Messages, Self::Log];

    pub(crate) fn title(self) -> &'static str {
        match self {
            Self::Screen => "screen",
            Self::Talk => "talk",
            Self::Diff => "diff",
            Self::Messages => "messages",
            Self::Log => "log",
        }
    }
}

/// Data that the daemon is asked for when it is needed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) enum Loaded<T> {
    #[default]
    Missing,
    Ready(T),
    /// Why the data cannot be shown.
    Failed(String),
}

impl<T> Loaded<T> {
    pub(crate) fn of(result: segue_core::Result<T>) -> Self {
        match result {
            Ok(data) => Self::Ready(data),
            Err(error) => Self::Failed(segue_core::rules::display::one_line(&error.in_one_line())),
        }
    }

    pub(crate) fn ready(&self) -> Option<&T> {
        match self {
            Self::Ready(data) => Some(data),
            Self::Missing | Self::Failed(_) => None,
        }
    }
}

/// The right side.
#[derive(Debug, Default)]
pub(crate) struct DetailPane {
    pub(crate) view: DetailView,
    /// The session that is shown.
    pub(crate) subject: Option<SessionId>,
    /// The number of the newest request. Answers to earlier requests are dropped.
    pub(crate) request: u64,
    pub(crate) screen: ScreenPane,
    pub(crate) talk: TalkPane,
    pub(crate) diff: DiffPane,
    pub(crate) messages: Loaded<Vec<MessageView>>,
    pub(crate) log: Loaded<Vec<Event>>,
    /// How many rows the messages or the log are scrolled up from their end.
    pub(crate) rows_up: usize,
    /// The diffs of other sessions whose comments were not sent yet.
    reviews: BTreeMap<SessionId, DiffPane>,
}

impl DetailPane {
    /// Shows another session. Keeps the view, and comments that were not sent yet.
    pub(crate) fn show(&mut self, subject: Option<SessionId>) {
        let (view, request) = (self.view, self.request + 1);
        let mut reviews = std::mem::take(&mut self.reviews);
        let diff = std::mem::take(&mut self.diff);
        if let Some(before) = self.subject.filter(|_| !diff.comments.is_empty()) {
            reviews.insert(before, diff);
        }
        let diff = subject.and_then(|subject| reviews.remove(&subject)).unwrap_or_default();
        *self = Self { view, subject, request, diff, reviews, ..Self::default() };
    }
}
