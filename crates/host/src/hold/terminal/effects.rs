//! The effects of an agent's output outside of the terminal's own state.

/// The effects of one batch of output.
#[derive(Debug, Default)]
pub(crate) struct Effects {
    /// The output for users' terminals. `None` if no client is attached.
    shown: Option<Vec<u8>>,
    /// Answers to the agent's queries.
    replies: Vec<u8>,
    title: Option<String>,
    has_rung: bool,
    mouse: Mouse,
    needs_painting: bool,
}

/// Whether the agent has switched mouse reports on or off.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Mouse {
    #[default]
    Untouched,
    Switched,
}

/// A notification for subscribers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum TerminalNotice {
    Title(String),
    Bell,
}

impl Effects {
    /// Starts a batch without an attached client.
    pub(crate) fn unseen() -> Self {
        Self::default()
    }

    /// Starts a batch whose output is collected for users' terminals.
    pub(crate) fn seen() -> Self {
        Self { shown: Some(Vec::new()), ..Self::default() }
    }

    /// Adds output for users' terminals.
    pub(super) fn show(&mut self, bytes: &[u8]) {
        if let Some(shown) = &mut self.shown
            && !self.needs_painting
        {
            shown.extend_from_slice(bytes);
        }
    }

    /// Adds an answer to the agent.
    pub(super) fn reply(&mut self, bytes: &[u8]) {
        self.replies.extend_from_slice(bytes);
    }

    /// Requests a full repaint of users' terminals, because they cannot follow this output.
    pub(super) fn paint_again(&mut self) {
        self.needs_painting = true;
        if let Some(shown) = &mut self.shown {
            shown.clear();
        }
    }

    /// Records a new title. Only the last title of a batch is reported.
    pub(super) fn retitle(&mut self, title: &str) {
        self.title = Some(title.to_owned());
    }

    /// Records a bell. Several bells in one batch count as one.
    pub(super) fn ring(&mut self) {
        self.has_rung = true;
    }

    /// Records that the agent has switched mouse reports on or off.
    pub(super) fn switch_mouse(&mut self) {
        self.mouse = Mouse::Switched;
    }

    /// Returns whether the agent has switched mouse reports on or off.
    pub(crate) fn has_switched_mouse(&self) -> bool {
        self.mouse == Mouse::Switched
    }

    pub(crate) fn shown(&self) -> &[u8] {
        self.shown.as_deref().unwrap_or_default()
    }

    pub(crate) fn replies(&self) -> &[u8] {
        &self.replies
    }

    pub(crate) fn needs_painting(&self) -> bool {
        self.needs_painting
    }

    pub(crate) fn has_rung(&self) -> bool {
        self.has_rung
    }

    pub(crate) fn notices(self) -> impl Iterator<Item = TerminalNotice> {
        let bell = self.has_rung.then_some(TerminalNotice::Bell);
        self.title.map(TerminalNotice::Title).into_iter().chain(bell)
    }
}
