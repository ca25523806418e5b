//! Claude Code.
//!
//! The vendor's own registry of live processes is the first source for a process's conversation and
//! activity. Hooks add facts that the registry lacks. The screen shows dialogs that appear before
//! the registry or a hook reports anything.

mod conversion;
mod failure;
mod home;
mod launch;
mod records;
mod registry;
mod rehearsal;
mod screen;
mod settings;
mod signals;
mod tip;
mod transcript;
mod tree;
mod turns;
mod typing;
mod versions;

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use segue_core::Result;
use segue_core::model::{
    DialogText, Environment, PermissionEffect, ProcessRef, Resumes, Screen, Session, Showing,
    Signal, VendorId, VendorSessionId,
};
use segue_core::ports::{
    Answer, Beginning, Capabilities, CommandLine, CommandPlan, Conversation, Conversion, EachTurn,
    Files, FirstTurn, HeadlessLaunching, Interaction, Launching, Live, Pace, Place, ProgramSpec,
    Rehearsal, SignalSources, StoredConversation, Support, TranscriptFiles, TranscriptStorage,
    Transcription, TranscriptionOrder, Transcripts, TrialSetup, Typing, Vendor, WriteMode,
};
use uuid::Uuid;

use crate::shared::launch_files;

/// Claude Code.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Claude;

impl Vendor for Claude {
    fn id(&self) -> VendorId {
        VendorId::new("claude")
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities {
            resume: Resumes::Yes,
            permission: PermissionEffect::Limits,
            first_turn: FirstTurn::ShowsAccount,
            pace: Pace { at_once: 4, first_alone: false },
        }
    }

    fn support(&self) -> Support {
        rehearsal::SUPPORT
    }

    fn rehearsal(&self, setup: &TrialSetup<'_>) -> Option<Rehearsal> {
        Some(rehearsal::rehearsal(setup))
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

    fn conversion(&self) -> Option<&dyn Conversion> {
        Some(self)
    }
}

impl Launching for Claude {
    fn program(&self) -> ProgramSpec {
        ProgramSpec::Named { name: "claude".to_owned(), native: &[] }
    }

    fn config_dir(&self, environment: &Environment) -> Result<PathBuf> {
        home::home(environment)
    }

    fn prepare_environment(&self, place: &Place, environment: &mut Environment) {
        launch::prepare_environment(place, environment);
    }

    fn preset_id(&self, session: &Session, unique: Uuid) -> Option<VendorSessionId> {
        launch::preset_id(session, unique)
    }

    fn command(&self, plan: &CommandPlan<'_>) -> Result<CommandLine> {
        launch::command(plan)
    }

    fn headless(&self) -> Option<&dyn HeadlessLaunching> {
        Some(self)
    }
}

impl HeadlessLaunching for Claude {
    fn standard_input(&self, plan: &CommandPlan<'_>) -> Option<PathBuf> {
        launch_files::prompt_path(plan)
    }
}

impl Transcripts for Claude {
    fn storage(&self) -> TranscriptStorage<'_> {
        TranscriptStorage::Files(self)
    }

    fn transcript(&self, _files: &dyn Files, place: &Place, id: &VendorSessionId) -> PathBuf {
        home::transcript(&place.config_dir, &place.cwd, id.as_str())
    }

    fn conversation(
        &self,
        files: &dyn Files,
        place: &Place,
        id: &VendorSessionId,
    ) -> Result<Option<Conversation>> {
        transcript::conversation(files, &self.transcript(files, place, id), id)
    }

    fn conversations(&self, files: &dyn Files, place: &Place) -> Result<Vec<Conversation>> {
        transcript::conversations(files, place)
    }

    fn list(&self, files: &dyn Files, config_dir: &Path) -> io::Result<Vec<StoredConversation>> {
        transcript::kept(files, config_dir)
    }

    fn beginning(
        &self,
        files: &dyn Files,
        kept: &StoredConversation,
    ) -> io::Result<Option<Beginning>> {
        transcript::beginning_of(files, kept)
    }

    fn open_conversations(&self, files: &dyn Files, place: &Place) -> Result<Vec<Live>> {
        registry::live(files, place)
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

impl TranscriptFiles for Claude {
    fn write_mode(&self) -> WriteMode {
        WriteMode::Append
    }

    fn belongings(&self, place: &Place, id: &VendorSessionId) -> Option<PathBuf> {
        Some(home::belongings(&place.config_dir, &place.cwd, id.as_str()))
    }
}

impl SignalSources for Claude {
    fn evidence_timeout(&self) -> Duration {
        // A start takes two seconds alone, and several times as long while other agents start.
        Duration::from_secs(60)
    }

    fn watched(&self, place: &Place) -> Vec<PathBuf> {
        vec![home::registry(&place.config_dir), home::transcripts(&place.config_dir, &place.cwd)]
    }

    fn file_signals(&self, files: &dyn Files, changed: &Path, agent: &ProcessRef) -> Vec<Signal> {
        signals::of_file(files, changed, agent)
    }

    fn stream_signals(&self, line: &str) -> Vec<Signal> {
        signals::of_stream(line)
    }

    fn hook_signals(&self, payload: &str) -> Vec<Signal> {
        signals::of_hook(payload)
    }
}

impl Interaction for Claude {
    fn read_screen(&self, screen: &Screen) -> Option<Showing> {
        screen::read(screen)
    }

    fn dialog_text(&self, screen: &Screen) -> Option<DialogText> {
        screen::dialog_text(screen)
    }

    fn question_ignores_keys_for(&self, version: Option<&str>) -> Duration {
        versions::question_ignores_keys_for(version)
    }

    fn typing(&self, message: &str) -> Typing {
        typing::typing(message)
    }

    fn answer(&self, screen: &Screen, answer: &Answer) -> Option<Vec<u8>> {
        screen::answer(screen, answer)
    }
}

impl Conversion for Claude {
    fn transcription(&self, order: &TranscriptionOrder<'_>) -> Result<Transcription> {
        conversion::transcription(order)
    }
}
