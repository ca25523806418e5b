//! Pi, as its version 0.73 behaves.
//!
//! Segue chooses the id of a conversation: Pi continues a file that Segue prepared. Pi keeps no
//! list of its processes, locks nothing, hides its arguments and has no file open. So an extension
//! reports which conversation a process is in and what the process does. The extension is in no
//! folder of the user.

mod conversion;
mod extension;
mod failures;
mod home;
mod launch;
mod live;
mod records;
mod rehearsal;
mod screen;
mod signals;
mod transcript;
mod tree;
mod turns;
mod typing;

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use segue_core::Result;
use segue_core::model::{
    Environment, Failure, PermissionEffect, Resumes, Screen, Session, Showing, Signal, VendorId,
    VendorSessionId,
};
use segue_core::ports::{
    Beginning, Capabilities, CommandLine, CommandPlan, Conversation, Conversion, EachTurn, Files,
    FirstTurn, HeadlessLaunching, Interaction, Launching, Live, Pace, Place, ProgramSpec,
    Rehearsal, SignalSources, StoredConversation, Support, TranscriptFiles, TranscriptStorage,
    Transcription, TranscriptionOrder, Transcripts, TrialSetup, Typing, Vendor, WriteMode,
};
use uuid::Uuid;

/// Pi.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pi;

impl Vendor for Pi {
    fn id(&self) -> VendorId {
        VendorId::new("pi")
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities {
            resume: Resumes::Yes,
            permission: PermissionEffect::Nothing,
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

impl Launching for Pi {
    fn program(&self) -> ProgramSpec {
        // The script is the program itself: it starts no other process.
        ProgramSpec::Named { name: "pi".to_owned(), native: &[] }
    }

    fn config_dir(&self, environment: &Environment) -> Result<PathBuf> {
        home::config_dir(environment)
    }

    fn prepare_environment(&self, place: &Place, environment: &mut Environment) {
        home::prepare_environment(place, environment);
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

impl HeadlessLaunching for Pi {}

impl Transcripts for Pi {
    fn storage(&self) -> TranscriptStorage<'_> {
        TranscriptStorage::Files(self)
    }

    fn transcript(&self, files: &dyn Files, place: &Place, id: &VendorSessionId) -> PathBuf {
        home::transcript(files, place, id.as_str())
    }

    fn is_free(&self, files: &dyn Files, place: &Place, id: &VendorSessionId) -> bool {
        transcript::is_free(files, &self.transcript(files, place, id), id)
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
        transcript::beginning(files, &kept.transcript)
    }

    fn open_conversations(&self, files: &dyn Files, place: &Place) -> Result<Vec<Live>> {
        Ok(live::live(files, place))
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

impl TranscriptFiles for Pi {
    fn write_mode(&self) -> WriteMode {
        WriteMode::Append
    }
}

/// Files give no signals, because a transcript does not show which process has written it.
impl SignalSources for Pi {
    fn evidence_timeout(&self) -> Duration {
        Duration::from_secs(60)
    }

    fn watched(&self, place: &Place) -> Vec<PathBuf> {
        vec![home::transcripts(place)]
    }

    fn stream_signals(&self, line: &str) -> Vec<Signal> {
        signals::of_stream(line)
    }

    fn hook_signals(&self, payload: &str) -> Vec<Signal> {
        signals::of_extension(payload)
    }

    fn last_words(&self, errors: &str) -> Option<Failure> {
        failures::last_words(errors)
    }
}

impl Interaction for Pi {
    fn read_screen(&self, screen: &Screen) -> Option<Showing> {
        Some(screen::read(screen))
    }

    fn typing(&self, message: &str) -> Typing {
        typing::typing(message)
    }
}

impl Conversion for Pi {
    fn transcription(&self, order: &TranscriptionOrder<'_>) -> Result<Transcription> {
        conversion::transcription(order)
    }
}
