//! Google's Gemini CLI, as its version 0.61 behaves.
//!
//! The id of a conversation is ours: we prepare a transcript with that id, and Gemini resumes it.
//! At each start, Gemini deletes all transcripts whose names end like that of a transcript without
//! messages. The name of a prepared transcript ends like no other name, and the file has content
//! from the beginning.

mod conversion;
mod failures;
mod home;
mod launch;
mod message_turns;
mod neighbours;
mod own_log;
mod process;
mod records;
mod rehearsal;
mod screen;
mod signals;
mod transcript;
mod turns;
mod typing;

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use jiff::Timestamp;
use segue_core::Result;
use segue_core::model::{
    DialogText, Environment, Failure, PermissionEffect, ProcessRef, Resumes, Screen, Session,
    Showing, Signal, VendorId, VendorSessionId,
};
use segue_core::ports::{
    Answer, Beginning, Capabilities, CommandLine, CommandPlan, Conversation, Conversion, EachTurn,
    Files, FirstTurn, HeadlessLaunching, Interaction, Launching, Live, Pace, Place, ProgramSpec,
    Readiness, Rehearsal, SignalSources, StoredConversation, Support, TranscriptFiles,
    TranscriptStorage, Transcription, TranscriptionOrder, Transcripts, TrialSetup, Typing, Vendor,
    WriteMode,
};
use uuid::Uuid;

use crate::shared::launch_files;

/// Google's Gemini CLI.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Gemini;

impl Vendor for Gemini {
    fn id(&self) -> VendorId {
        VendorId::new("gemini")
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities {
            resume: Resumes::Yes,
            permission: PermissionEffect::Limits,
            first_turn: FirstTurn::ShowsAccount,
            // The first process creates the list of projects, and holds a lock that the others wait
            // for.
            pace: Pace { at_once: 4, first_alone: true },
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

impl Launching for Gemini {
    fn program(&self) -> ProgramSpec {
        ProgramSpec::Named { name: "gemini".to_owned(), native: &[] }
    }

    fn config_dir(&self, environment: &Environment) -> Result<PathBuf> {
        home::config_dir(environment)
    }

    fn prepare_environment(&self, place: &Place, environment: &mut Environment) {
        home::prepare_environment(place, environment);
    }

    fn add_settings(&self, session: &Session, folder: &Path, environment: &mut Environment) {
        own_log::tell(&session.cwd, folder, environment);
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

impl HeadlessLaunching for Gemini {
    fn standard_input(&self, plan: &CommandPlan<'_>) -> Option<PathBuf> {
        launch_files::prompt_path(plan)
    }
}

impl Transcripts for Gemini {
    fn storage(&self) -> TranscriptStorage<'_> {
        TranscriptStorage::Files(self)
    }

    fn transcript(&self, files: &dyn Files, place: &Place, id: &VendorSessionId) -> PathBuf {
        home::transcript(files, place, id)
    }

    fn is_free(&self, files: &dyn Files, place: &Place, id: &VendorSessionId) -> bool {
        transcript::is_free(files, place, id)
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
        transcript::conversations(files, place)
    }

    fn list(&self, files: &dyn Files, config_dir: &Path) -> io::Result<Vec<StoredConversation>> {
        home::kept(files, config_dir)
    }

    fn beginning(
        &self,
        files: &dyn Files,
        kept: &StoredConversation,
    ) -> io::Result<Option<Beginning>> {
        transcript::beginning(files, &kept.transcript)
    }

    fn open_conversations(&self, files: &dyn Files, place: &Place) -> Result<Vec<Live>> {
        Ok(process::live(files, &home::chats(files, place)))
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

impl TranscriptFiles for Gemini {
    fn write_mode(&self) -> WriteMode {
        WriteMode::Append
    }

    fn restored_as(&self, files: &dyn Files, place: &Place, id: &VendorSessionId) -> PathBuf {
        home::restored_as(files, place, id)
    }

    fn endangered(&self, files: &dyn Files, place: &Place) -> Vec<PathBuf> {
        neighbours::endangered(files, place)
    }
}

impl SignalSources for Gemini {
    fn evidence_timeout(&self) -> Duration {
        // A start takes four seconds alone, and several times as long while other agents start.
        Duration::from_secs(90)
    }

    fn watched_for(
        &self,
        files: &dyn Files,
        place: &Place,
        _id: Option<&VendorSessionId>,
        _now: Timestamp,
    ) -> Vec<PathBuf> {
        vec![home::chats(files, place)]
    }

    fn file_signals(&self, files: &dyn Files, changed: &Path, agent: &ProcessRef) -> Vec<Signal> {
        signals::of_file(files, changed, agent)
    }

    fn stream_signals(&self, line: &str) -> Vec<Signal> {
        signals::of_stream(line)
    }

    fn title_signals(&self, title: &str) -> Vec<Signal> {
        signals::of_title(title)
    }

    fn last_words(&self, errors: &str) -> Option<Failure> {
        failures::last_words(errors)
    }
}

impl Interaction for Gemini {
    fn read_screen(&self, screen: &Screen) -> Option<Showing> {
        screen::read(screen)
    }

    fn dialog_text(&self, screen: &Screen) -> Option<DialogText> {
        screen::dialog_text(screen)
    }

    fn readiness(&self) -> Readiness {
        Readiness::Shown
    }

    fn typing(&self, message: &str) -> Typing {
        typing::typing(message)
    }

    fn answer(&self, screen: &Screen, answer: &Answer) -> Option<Vec<u8>> {
        screen::answer(screen, answer)
    }
}

impl Conversion for Gemini {
    fn transcription(&self, order: &TranscriptionOrder<'_>) -> Result<Transcription> {
        conversion::transcription(order)
    }
}
