//! Cursor's agent, according to public descriptions of its versions up to September 2026. The
//! program itself was not available. Segue does not rely on behaviour that is not described
//! anywhere.
//!
//! Cursor makes the id of a conversation itself. If it does not know the id that it is asked to
//! resume, it begins a blank conversation under that id. So Segue knows an id only after the
//! process has reported it, and resumes a conversation only if Cursor's database of it exists.

mod chats;
mod failures;
mod home;
mod launch;
mod plugin;
mod records;
mod signals;
mod support;
mod transcript;
mod turns;
mod typing;

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use segue_core::Result;
use segue_core::model::{
    Environment, Failure, PermissionEffect, Resumes, Session, Signal, VendorId, VendorSessionId,
};
use segue_core::ports::{
    Beginning, Capabilities, CommandLine, CommandPlan, Conversation, EachTurn, Files, FirstTurn,
    HeadlessLaunching, Interaction, Launching, Live, Pace, Place, ProgramSpec, SignalSources,
    StoredConversation, Support, TranscriptDatabase, TranscriptStorage, Transcripts, Typing,
    Vendor,
};
use uuid::Uuid;

/// Cursor's agent.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CursorVendor;

impl Vendor for CursorVendor {
    fn id(&self) -> VendorId {
        VendorId::new("cursor")
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities {
            resume: Resumes::Yes,
            permission: PermissionEffect::Nothing,
            first_turn: FirstTurn::ShowsAccount,
            // It is unknown what happens if two processes set up Cursor's files at the same time.
            pace: Pace { at_once: 2, first_alone: true },
        }
    }

    fn support(&self) -> Support {
        support::SUPPORT
    }

    fn launching(&self) -> &dyn Launching {
        self
    }

    fn interaction(&self) -> &dyn Interaction {
        self
    }

    fn transcripts(&self) -> Option<&dyn Transcripts> {
        Some(self)
    }

    fn signals(&self) -> Option<&dyn SignalSources> {
        Some(self)
    }
}

impl Launching for CursorVendor {
    fn program(&self) -> ProgramSpec {
        ProgramSpec::Named { name: "cursor-agent".to_owned(), native: &[] }
    }

    fn config_dir(&self, environment: &Environment) -> Result<PathBuf> {
        home::config_dir(environment)
    }

    fn prepare_environment(&self, place: &Place, environment: &mut Environment) {
        home::prepare_environment(place, environment);
    }

    /// Returns `None`: Cursor has no argument for an id. According to reports, its own command for
    /// making an id does not exit.
    fn preset_id(&self, _session: &Session, _unique: Uuid) -> Option<VendorSessionId> {
        None
    }

    fn command(&self, plan: &CommandPlan<'_>) -> Result<CommandLine> {
        launch::command(plan)
    }

    fn headless(&self) -> Option<&dyn HeadlessLaunching> {
        Some(self)
    }
}

impl HeadlessLaunching for CursorVendor {}

impl Transcripts for CursorVendor {
    fn storage(&self) -> TranscriptStorage<'_> {
        TranscriptStorage::Database(self)
    }

    fn transcript(&self, files: &dyn Files, place: &Place, id: &VendorSessionId) -> PathBuf {
        home::transcript(files, place, id.as_str())
    }

    fn conversation(
        &self,
        files: &dyn Files,
        place: &Place,
        id: &VendorSessionId,
    ) -> Result<Option<Conversation>> {
        transcript::conversation(files, place, id)
    }

    fn conversations(&self, files: &dyn Files, place: &Place) -> Result<Vec<Conversation>> {
        Ok(transcript::conversations(files, place))
    }

    fn list(&self, files: &dyn Files, config_dir: &Path) -> io::Result<Vec<StoredConversation>> {
        transcript::kept(files, config_dir)
    }

    fn beginning(
        &self,
        files: &dyn Files,
        kept: &StoredConversation,
    ) -> io::Result<Option<Beginning>> {
        transcript::beginning(files, kept)
    }

    /// Returns an empty list: Cursor has no list of its processes. It refuses a second process in
    /// the same conversation by itself.
    fn open_conversations(&self, _files: &dyn Files, _place: &Place) -> Result<Vec<Live>> {
        Ok(Vec::new())
    }

    fn user_messages_since(
        &self,
        files: &dyn Files,
        place: &Place,
        id: &VendorSessionId,
        offset: u64,
    ) -> Result<Vec<String>> {
        transcript::user_messages_since(files, &self.transcript(files, place, id), offset)
    }

    fn turns_back(
        &self,
        files: &dyn Files,
        transcript: &Path,
        each: &mut EachTurn<'_>,
    ) -> Result<()> {
        turns::turns_back(files, transcript, each)
    }

    fn turns(&self, files: &dyn Files, transcript: &Path, each: &mut EachTurn<'_>) -> Result<()> {
        turns::turns(files, transcript, each)
    }
}

/// Cursor's database is more than one file, and a transcript that is put back is useless
/// without the database.
impl TranscriptDatabase for CursorVendor {}

impl SignalSources for CursorVendor {
    fn evidence_timeout(&self) -> Duration {
        Duration::from_secs(60)
    }

    fn stream_signals(&self, line: &str) -> Vec<Signal> {
        signals::of_stream(line)
    }

    fn hook_signals(&self, payload: &str) -> Vec<Signal> {
        signals::of_hook(payload)
    }

    fn last_words(&self, errors: &str) -> Option<Failure> {
        failures::last_words(errors)
    }
}

impl Interaction for CursorVendor {
    fn typing(&self, message: &str) -> Typing {
        typing::typing(message)
    }
}
