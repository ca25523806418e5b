//! GitHub's Copilot CLI.
//!
//! Which conversation a process is in is read from its own log and from the lock that it holds open
//! in the conversation's folder; the events in that folder say what it does and what it waits for, and
//! the screen tells dialogs that come before them.

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
mod written;

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use jiff::Timestamp;
use segue_core::Result;
use segue_core::model::{Environment, Failure, ProcessRef, Session, VendorId, VendorSessionId};
use segue_core::ports::{
    Answer, Beginning, Capabilities, CommandLine, CommandPlan, Conversation, DialogText, EachTurn,
    Files, Kept, Live, Pace, Place, ProgramSpec, Readiness, Rehearsal, Screen, Showing, Signal,
    Stage, Support, Transcription, TranscriptionOrder, Typing, Vendor,
};
use uuid::Uuid;

/// Where the program is from the folder of the script that the package manager links to: the
/// script's own process would outlive a kill, and be outlived by one.
const NATIVE: [&str; 6] = [
    "../copilot-linux-x64/copilot",
    "node_modules/@github/copilot-linux-x64/copilot",
    "../copilot-linux-arm64/copilot",
    "node_modules/@github/copilot-linux-arm64/copilot",
    "../copilot-linuxmusl-x64/copilot",
    "../copilot-linuxmusl-arm64/copilot",
];

/// Breaks off a turn: Escape twice, each told apart from the beginning of another key.
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
            resume: true,
            headless: true,
            // The first start of a version unpacks it.
            evidence_within: Some(Duration::from_secs(60)),
            pace: Pace { at_once: 4, first_alone: true },
        }
    }

    fn support(&self) -> Support {
        rehearsal::SUPPORT
    }

    fn rehearsal(&self, stage: &Stage<'_>) -> Option<Rehearsal> {
        Some(rehearsal::rehearsal(stage))
    }

    fn program(&self) -> ProgramSpec {
        ProgramSpec::Named { name: "copilot".to_owned(), native: &NATIVE }
    }

    fn config_dir(&self, environment: &Environment) -> Result<PathBuf> {
        home::home(environment)
    }

    fn prepare_environment(&self, place: &Place, environment: &mut Environment) {
        launch::prepare_environment(place, environment);
    }

    fn tell_environment(&self, session: &Session, folder: &Path, environment: &mut Environment) {
        launch::tell_environment(session, folder, environment);
    }

    fn preset_id(&self, session: &Session, unique: Uuid) -> Option<VendorSessionId> {
        launch::preset_id(session, unique)
    }

    fn command(&self, plan: &CommandPlan<'_>) -> Result<CommandLine> {
        launch::command(plan)
    }

    fn only_appends(&self) -> bool {
        true
    }

    fn transcript(&self, _files: &dyn Files, place: &Place, id: &VendorSessionId) -> PathBuf {
        home::transcript(&place.config_dir, id.as_str())
    }

    fn belongings(&self, place: &Place, id: &VendorSessionId) -> Option<PathBuf> {
        home::pastes(&home::transcript(&place.config_dir, id.as_str()))
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

    fn kept(&self, files: &dyn Files, config_dir: &Path) -> io::Result<Vec<Kept>> {
        transcript::kept(files, config_dir)
    }

    fn beginning(&self, files: &dyn Files, kept: &Kept) -> io::Result<Option<Beginning>> {
        transcript::beginning_of(files, kept)
    }

    fn live(&self, files: &dyn Files, place: &Place) -> Result<Vec<Live>> {
        lock::live(files, place)
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

    fn read_screen(&self, screen: &Screen) -> Option<Showing> {
        screen::read(screen)
    }

    fn readiness(&self) -> Readiness {
        // Nothing is written before something is said.
        Readiness::ShownUntilSaid
    }

    fn typing(&self, message: &str) -> Typing {
        typing::typing(message)
    }

    fn dialog_text(&self, screen: &Screen) -> Option<DialogText> {
        screen::dialog_text(screen)
    }

    fn answer(&self, screen: &Screen, answer: &Answer) -> Option<Vec<u8>> {
        screen::answer(screen, answer)
    }

    fn interrupt(&self) -> Vec<u8> {
        INTERRUPT.to_vec()
    }

    fn said_since(
        &self,
        files: &dyn Files,
        place: &Place,
        id: &VendorSessionId,
        offset: u64,
    ) -> Result<Vec<String>> {
        transcript::said_since(files, &self.transcript(files, place, id), offset)
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

    fn transcription(&self, order: &TranscriptionOrder<'_>) -> Result<Option<Transcription>> {
        written::transcription(order).map(Some)
    }

    fn room(&self) -> usize {
        // It leaves out the oldest turns long before its model would have to.
        100_000
    }
}
