//! Follows an open session: sends its turns to the editor, also those that began elsewhere, and
//! reports its events.

use std::sync::Arc;

use segue_core::Result;
use segue_core::api::SessionView;
use segue_core::model::{Event, EventPayload, MessageId, SessionId};
use tokio::sync::{mpsc, oneshot, watch};

use crate::editor::EditorLink;
use crate::options::EditorOptions;
use crate::port::{EditorPort, FeedStart, SessionEventFeed, TurnFeed};
use crate::protocol::SessionUpdate;
use crate::updates::UpdateWriter;

/// How many commands wait for a follower.
const WAITING_COMMANDS: usize = 16;

/// A session that the editor has open. The session is followed until all copies are dropped.
#[derive(Clone, Debug)]
pub(crate) struct OpenSession {
    /// The session that has the conversation now. A handoff may have continued it in another one.
    pub(crate) session: SessionId,
    /// The id that the editor knows.
    pub(crate) uri: String,
    commands: mpsc::Sender<FollowCommand>,
    /// Changes with each event of the session.
    pub(crate) events: watch::Receiver<u64>,
}

#[derive(Debug)]
enum FollowCommand {
    /// Sends the turns that are there, and then replies.
    CatchUp(oneshot::Sender<()>),
    /// The editor shows this prompt already.
    Expect(String),
    /// The editor shows the command of this message, and does not get the prompt that the program
    /// writes for it.
    ExpectCommand(MessageId),
    /// The prompt does not get into the conversation.
    Forget(String),
    /// Sends a message of Segue itself.
    Note(String),
    /// The editor does not need the session any more.
    End,
}

impl OpenSession {
    /// Starts to follow a session.
    pub(crate) async fn open(
        (port, editor): (Arc<dyn EditorPort>, EditorLink),
        (view, uri): (&SessionView, String),
        (start, run): (FeedStart, String),
    ) -> Result<Self> {
        let session = view.session;
        // Before the conversation is read, so that no change is missed in between.
        let events = port.events(session).await?;
        let turns = port.conversation(session, start).await?;
        let (commands, waiting) = mpsc::channel(WAITING_COMMANDS);
        let (counter, counted) = watch::channel(0);
        let writer = UpdateWriter::new(&view.cwd, run);
        let uri_of_editor = uri.clone();
        let follower = SessionFollower {
            port,
            editor,
            session,
            uri,
            turns,
            writer,
            counter,
            last_typed: None,
            expected_command: None,
        };
        tokio::spawn(follower.run(events, waiting));
        Ok(Self { session, uri: uri_of_editor, commands, events: counted })
    }

    /// Waits until the editor has got all turns that are in the conversation now.
    pub(crate) async fn catch_up(&self) {
        let (sender, done) = oneshot::channel();
        self.command(FollowCommand::CatchUp(sender)).await;
        // An error means that the follower has ended, because the editor is gone.
        let _ended = done.await;
    }

    pub(crate) async fn expect(&self, prompt: &str) {
        self.command(FollowCommand::Expect(prompt.to_owned())).await;
    }

    pub(crate) async fn expect_command(&self, message: MessageId) {
        self.command(FollowCommand::ExpectCommand(message)).await;
    }

    pub(crate) async fn forget(&self, prompt: &str) {
        self.command(FollowCommand::Forget(prompt.to_owned())).await;
    }

    pub(crate) async fn note(&self, text: &str) {
        self.command(FollowCommand::Note(text.to_owned())).await;
    }

    /// Stops to follow the session.
    pub(crate) async fn close(&self) {
        self.command(FollowCommand::End).await;
    }

    async fn command(&self, command: FollowCommand) {
        let _ended = self.commands.send(command).await;
    }
}

/// The task that follows a session.
struct SessionFollower {
    port: Arc<dyn EditorPort>,
    editor: EditorLink,
    session: SessionId,
    uri: String,
    turns: Box<dyn TurnFeed>,
    writer: UpdateWriter,
    counter: watch::Sender<u64>,
    /// The message that was typed last.
    last_typed: Option<MessageId>,
    /// The command of the editor that has not had its effect.
    expected_command: Option<MessageId>,
}

impl SessionFollower {
    async fn run(
        mut self,
        mut events: Box<dyn SessionEventFeed>,
        mut commands: mpsc::Receiver<FollowCommand>,
    ) {
        let (mut has_events, mut has_turns) = (true, true);
        self.forward().await;
        loop {
            tokio::select! {
                // A command of the editor is expected before its turn is read.
                biased;
                command = commands.recv() => match command {
                    Some(FollowCommand::End) | None => return,
                    Some(command) => self.carry_out(command).await,
                },
                event = events.next(), if has_events => match event {
                    Ok(event) => has_turns |= self.follow(&event).await,
                    // The session was removed, or the daemon cannot be reached any more.
                    Err(_) => has_events = false,
                },
                changed = self.turns.changed(), if has_turns => {
                    has_turns = changed.is_ok();
                    self.forward().await;
                }
            }
        }
    }

    async fn carry_out(&mut self, command: FollowCommand) {
        match command {
            FollowCommand::CatchUp(done) => {
                self.forward().await;
                let _gone = done.send(());
            }
            FollowCommand::Expect(prompt) => self.writer.expect(&prompt),
            FollowCommand::ExpectCommand(message) => {
                self.writer.expect_command(self.last_typed == Some(message));
                self.expected_command = Some(message);
            }
            FollowCommand::Forget(prompt) => self.writer.forget(&prompt),
            FollowCommand::Note(text) => {
                let note = self.writer.note(&text);
                self.send(note).await;
            }
            FollowCommand::End => {}
        }
    }

    /// Follows an event. Returns whether the conversation is another one now.
    async fn follow(&mut self, Event { fact, .. }: &Event) -> bool {
        let is_other = match &fact.payload {
            EventPayload::Bound { vendor_session, .. } => {
                self.turns.conversation().as_ref() != Some(vendor_session)
            }
            EventPayload::Renamed { to, .. } => {
                self.send([SessionUpdate::SessionInfoUpdate { title: to.clone() }]).await;
                false
            }
            EventPayload::MessageTyped { message } => {
                self.last_typed = Some(*message);
                self.writer.expect_command(self.expected_command == Some(*message));
                false
            }
            EventPayload::MessageDelivered { message }
                if self.expected_command == Some(*message) =>
            {
                self.forward().await;
                self.writer.expect_command(false);
                self.expected_command = None;
                false
            }
            EventPayload::SettingsChanged { .. } => {
                let updates = self.settings_updates().await.unwrap_or_default();
                self.send(updates).await;
                false
            }
            _ => false,
        };
        let is_reopened = is_other && self.reopen().await;
        // The transcript may be there before its change is noticed.
        self.forward().await;
        self.counter.send_modify(|count| *count += 1);
        is_reopened
    }

    /// Returns the updates after a change of the session's settings.
    async fn settings_updates(&self) -> Result<Vec<SessionUpdate>> {
        let view = self.port.session(&self.session.to_string()).await?;
        let options = self.port.options(self.session).await?;
        Ok(EditorOptions::new(&view, options).updates())
    }

    /// Reads another conversation of the session, from its first turn.
    async fn reopen(&mut self) -> bool {
        self.forward().await;
        match self.port.conversation(self.session, FeedStart::Beginning).await {
            Ok(turns) => self.turns = turns,
            Err(_) => return false,
        }
        true
    }

    /// Sends the turns that the editor has not got.
    async fn forward(&mut self) {
        // A conversation that cannot be read now may be readable after its next change.
        while let Ok(turns) = self.turns.news().await {
            if turns.is_empty() {
                return;
            }
            for turn in turns {
                let updates = self.writer.updates(turn);
                self.send(updates).await;
            }
        }
    }

    async fn send(&self, updates: impl IntoIterator<Item = SessionUpdate>) {
        for update in updates {
            self.editor.update(&self.uri, &update).await;
        }
    }
}
