//! GitHub's Copilot CLI.
//!
//! The conversation of a process is read from its log and from the lock that it holds open in the
//! conversation's folder. The events in that folder show what the process does and what it waits
//! for. The screen shows the dialogs that appear before any event is recorded.

mod conversion;
mod failure;
mod home;
mod launch;
mod lock;
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

/// Paths of the native program, relative to the folder of the script that the package manager links
/// to. The script is not started, because it runs the program as a second process: a kill of one of
/// the two would leave the other one running.
const NATIVE: [&str; 6] = [
    "../copilot-linux-x64/copilot",
    "node_modules/@github/copilot-linux-x64/copilot",
    "../copilot-linux-arm64/copilot",
    "node_modules/@github/copilot-linux-arm64/copilot",
    "../copilot-linuxmusl-x64/copilot",
    "../copilot-linuxmusl-arm64/copilot",
];

/// The keys that interrupt a turn: Escape twice. Each is encoded as `CSI 27 u`, so that Copilot
/// cannot read it as the beginning of another key's sequence.
const INTERRUPT: &[u8] = b"\x1b[27u\x1b[27u";

/// GitHub's Copilot CLI.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Copilot;

impl Vendor for Copilot {
    fn id(&self) -> VendorId {
        VendorId::new("copilot")
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities {
            resume: Resumes::Yes,
            permission: PermissionEffect::Limits,
            first_turn: FirstTurn::ShowsAccount,
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

impl Launching for Copilot {
    fn program(&self) -> ProgramSpec {
        ProgramSpec::Named { name: "copilot".to_owned(), native: &NATIVE }
    }

    fn config_dir(&self, environment: &Environment) -> Result<PathBuf> {
        home::home(environment)
    }

    fn prepare_environment(&self, place: &Place, environment: &mut Environment) {
        launch::prepare_environment(place, environment);
    }

    fn add_settings(&self, session: &Session, folder: &Path, environment: &mut Environment) {
        launch::add_settings(session, folder, environment);
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

impl HeadlessLaunching for Copilot {}

impl Transcripts for Copilot {
    fn storage(&self) -> TranscriptStorage<'_> {
        TranscriptStorage::Files(self)
    }

    fn transcript(&self, _files: &dyn Files, place: &Place, id: &VendorSessionId) -> PathBuf {
        home::transcript(&place.config_dir, id.as_str())
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
        lock::live(files, place)
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

impl TranscriptFiles for Copilot {
    fn write_mode(&self) -> WriteMode {
        WriteMode::Append
    }

    fn belongings(&self, place: &Place, id: &VendorSessionId) -> Option<PathBuf> {
        home::pastes(&home::transcript(&place.config_dir, id.as_str()))
    }
}

impl SignalSources for Copilot {
    fn evidence_timeout(&self) -> Duration {
        // The first start of a version unpacks the program.
        Duration::from_secs(60)
    }

    fn watched(&self, place: &Place) -> Vec<PathBuf> {
        vec![place.config_dir.clone(), home::logs(&place.config_dir)]
    }

    fn watched_for(
        &self,
        _files: &dyn Files,
        place: &Place,
        id: Option<&VendorSessionId>,
        _now: Timestamp,
    ) -> Vec<PathBuf> {
        id.map(|id| home::conversation(&place.config_dir, id.as_str())).into_iter().collect()
    }

    fn file_signals(&self, files: &dyn Files, changed: &Path, agent: &ProcessRef) -> Vec<Signal> {
        signals::of_file(files, changed, agent)
    }

    fn stream_signals(&self, line: &str) -> Vec<Signal> {
        signals::of_stream(line)
    }

    fn last_words(&self, errors: &str) -> Option<Failure> {
        failure::last_words(errors)
    }
}

impl Interaction for Copilot {
    fn read_screen(&self, screen: &Screen) -> Option<Showing> {
        screen::read(screen)
    }

    fn dialog_text(&self, screen: &Screen) -> Option<DialogText> {
        screen::dialog_text(screen)
    }

    fn readiness(&self) -> Readiness {
        // Copilot records nothing before the first message.
        Readiness::ShownUntilReported
    }

    fn typing(&self, message: &str) -> Typing {
        typing::typing(message)
    }

    fn answer(&self, screen: &Screen, answer: &Answer) -> Option<Vec<u8>> {
        screen::answer(screen, answer)
    }

    fn interrupt(&self) -> Vec<u8> {
        INTERRUPT.to_vec()
    }
}

impl Conversion for Copilot {
    fn transcription(&self, order: &TranscriptionOrder<'_>) -> Result<Transcription> {
        conversion::transcription(order)
    }

    fn context_characters(&self) -> usize {
        // Copilot drops the oldest turns long before its model's context is full.
        100_000
    }
}
