//! `OpenCode`, as its version 1.18 behaves.
//!
//! Its conversations are rows of one database, which is only read. An id is ours: an empty
//! conversation of that id is imported before the first launch. A plugin of the launch tells which
//! conversation its process is in and what it does, and says the first message; what is said later
//! is typed.

mod document;
mod export;
mod failures;
mod home;
mod launch;
mod live;
mod model;
mod part;
#[cfg(test)]
mod recorded;
mod rehearsal;
mod rows;
mod screen;
mod signals;
mod transcript;
mod turns;
mod typing;
mod written;

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use segue_core::Result;
use segue_core::model::{Environment, Failure, ProcessRef, Session, VendorId, VendorSessionId};
use segue_core::ports::{
    Answer, Beginning, Capabilities, CommandLine, CommandPlan, Conversation, DialogText, EachTurn,
    Files, Kept, Live, Pace, Place, ProgramSpec, Rehearsal, Screen, Showing, Signal, Stage,
    Support, Transcription, TranscriptionOrder, Typing, Vendor,
};
use uuid::Uuid;

/// Where the program is from the folder of the script that the package manager links to, where the
/// script was not replaced by the program.
const NATIVE: [&str; 4] = [
    "../node_modules/opencode-linux-x64/bin/opencode",
    "../../opencode-linux-x64/bin/opencode",
    "../node_modules/opencode-linux-arm64/bin/opencode",
    "../../opencode-linux-arm64/bin/opencode",
];

/// `OpenCode`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OpenCode;

impl Vendor for OpenCode {
    fn id(&self) -> VendorId {
        VendorId::new("opencode")
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities {
            resume: true,
            headless: true,
            // The first start of all installs something.
            evidence_within: Some(Duration::from_secs(120)),
            // The first one makes the database.
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
        ProgramSpec::Named { name: "opencode".to_owned(), native: &NATIVE }
    }

    fn config_dir(&self, environment: &Environment) -> Result<PathBuf> {
        home::config_dir(environment)
    }

    fn prepare_environment(&self, place: &Place, environment: &mut Environment) {
        home::prepare_environment(place, environment);
    }

    fn tell_environment(&self, session: &Session, folder: &Path, environment: &mut Environment) {
        launch::tell_environment(session, folder, environment);
    }

    fn preset_id(&self, session: &Session, unique: Uuid) -> Option<VendorSessionId> {
        launch::preset_id(session, unique)
    }

    fn is_free(&self, _files: &dyn Files, place: &Place, id: &VendorSessionId) -> bool {
        transcript::is_free(&place.config_dir, id)
    }

    fn command(&self, plan: &CommandPlan<'_>) -> Result<CommandLine> {
        launch::command(plan)
    }

    fn preparation(&self, plan: &CommandPlan<'_>) -> Option<Vec<String>> {
        launch::preparation(plan)
    }

    fn preparation_variables(&self, plan: &CommandPlan<'_>) -> Vec<String> {
        launch::preparation_variables(plan)
    }

    fn standard_input(&self, plan: &CommandPlan<'_>) -> Option<PathBuf> {
        launch::standard_input(plan)
    }

    fn has_own_files(&self) -> bool {
        false
    }

    fn transcript(&self, _files: &dyn Files, place: &Place, id: &VendorSessionId) -> PathBuf {
        home::transcript(&place.config_dir, id)
    }

    fn extent(&self, _files: &dyn Files, place: &Place, id: &VendorSessionId) -> Option<u64> {
        transcript::extent(&place.config_dir, id).ok().flatten()
    }

    fn conversation(
        &self,
        _files: &dyn Files,
        place: &Place,
        id: &VendorSessionId,
    ) -> Result<Option<Conversation>> {
        transcript::conversation(&place.config_dir, id)
    }

    fn conversations(&self, _files: &dyn Files, place: &Place) -> Result<Vec<Conversation>> {
        transcript::conversations(place)
    }

    fn kept(&self, _files: &dyn Files, config_dir: &Path) -> io::Result<Vec<Kept>> {
        transcript::kept(config_dir).map_err(io::Error::other)
    }

    fn beginning(&self, _files: &dyn Files, kept: &Kept) -> io::Result<Option<Beginning>> {
        transcript::beginning(kept).map_err(io::Error::other)
    }

    fn live(&self, files: &dyn Files, place: &Place) -> Result<Vec<Live>> {
        Ok(live::live(files, place))
    }

    /// The plugin tells everything that changes.
    fn watched(&self, _place: &Place) -> Vec<PathBuf> {
        Vec::new()
    }

    fn file_signals(&self, _files: &dyn Files, _file: &Path, _agent: &ProcessRef) -> Vec<Signal> {
        Vec::new()
    }

    fn stream_signals(&self, line: &str) -> Vec<Signal> {
        signals::of_stream(line)
    }

    fn last_words(&self, errors: &str) -> Option<Failure> {
        failures::last_words(errors)
    }

    fn hook_signals(&self, payload: &str) -> Vec<Signal> {
        signals::of_hook(payload)
    }

    fn read_screen(&self, screen: &Screen) -> Option<Showing> {
        screen::read(screen)
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

    /// Once it only asks whether that was meant.
    fn interrupt(&self) -> Vec<u8> {
        b"\x1b[27u\x1b[27u".to_vec()
    }

    fn said_since(
        &self,
        _files: &dyn Files,
        place: &Place,
        id: &VendorSessionId,
        offset: u64,
    ) -> Result<Vec<String>> {
        transcript::said_since(&place.config_dir, id, offset)
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

    fn export(&self, place: &Place, id: &VendorSessionId) -> Result<Option<Vec<u8>>> {
        export::export(&place.config_dir, id)
    }
}
