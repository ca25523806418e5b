//! What comes of an agent's output, beside the terminal's own state.

/// Collected over one batch of output.
#[derive(Debug, Default)]
pub(crate) struct Effects {
    /// Whether anybody is shown the output as it comes.
    shown: Option<Vec<u8>>,
    replies: Vec<u8>,
    title: Option<String>,
    bell: bool,
    mouse: Mouse,
    paint_again: bool,
}

/// What became of reports of the mouse.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Mouse {
    #[default]
    Untouched,
    Switched,
}

/// Something that subscribers hear of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Notice {
    Title(String),
    Bell,
}

impl Effects {
    /// Begins a batch that nobody is shown.
    pub(crate) fn unseen() -> Self {
        Self::default()
    }

    /// Begins a batch whose output is collected for users' terminals.
    pub(crate) fn seen() -> Self {
        Self { shown: Some(Vec::new()), ..Self::default() }
    }

    /// Adds to what users' terminals are sent.
    pub(super) fn show(&mut self, bytes: &[u8]) {
        if let Some(shown) = &mut self.shown
            && !self.paint_again
        {
            shown.extend_from_slice(bytes);
        }
    }

    /// Adds to what the agent is answered.
    pub(super) fn reply(&mut self, bytes: &[u8]) {
        self.replies.extend_from_slice(bytes);
    }

    /// Says that users' terminals cannot follow step by step and need the whole screen.
    pub(super) fn paint_again(&mut self) {
        self.paint_again = true;
        if let Some(shown) = &mut self.shown {
            shown.clear();
        }
    }

    /// Notes the title; only the last one of a batch is news.
    pub(super) fn retitle(&mut self, title: &str) {
        self.title = Some(title.to_owned());
    }

    /// Notes a bell; many in one batch are one.
    pub(super) fn ring(&mut self) {
        self.bell = true;
    }

    /// Notes that the agent has switched reports of the mouse.
    pub(super) fn switch_mouse(&mut self) {
        self.mouse = Mouse::Switched;
    }

    /// Tells whether the agent has switched reports of the mouse.
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
        self.paint_again
    }

    pub(crate) fn rang(&self) -> bool {
        self.bell
    }

    pub(crate) fn notices(self) -> impl Iterator<Item = Notice> {
        let bell = self.bell.then_some(Notice::Bell);
        self.title.map(Notice::Title).into_iter().chain(bell)
    }
}
