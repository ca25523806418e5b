//! Pi, as its version 0.73 behaves.
//!
//! A conversation's id is ours: Pi goes on with a file that we prepared. Pi keeps no list of its
//! processes, locks nothing, hides its arguments and has no file open; an extension of ours, which
//! is in no folder of the user, tells which conversation a process is in and what it does.

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
mod written;

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use segue_core::Result;
use segue_core::model::{Environment, Failure, ProcessRef, Session, VendorId, VendorSessionId};
use segue_core::ports::{
    Beginning, Capabilities, CommandLine, CommandPlan, Conversation, EachTurn, Files, Kept, Live,
    Pace, Place, ProgramSpec, Rehearsal, Screen, Showing, Signal, Stage, Support, Transcription,
    TranscriptionOrder, Typing, Vendor,
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
            resume: true,
            headless: true,
            evidence_within: Some(Duration::from_secs(60)),
            pace: Pace { at_once: 4, first_alone: false },
        }
    }

    fn support(&self) -> Support {
        rehearsal::SUPPORT
    }

    fn rehearsal(&self, stage: &Stage<'_>) -> Option<Rehearsal> {
        Some(rehearsal::rehearsal(stage))
    }

    fn keeps_permission(&self) -> bool {
        false
    }

    fn program(&self) -> ProgramSpec {
        // The script is the program: it starts no other process.
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

    fn is_free(&self, files: &dyn Files, place: &Place, id: &VendorSessionId) -> bool {
        transcript::is_free(files, &self.transcript(files, place, id), id)
    }

    fn command(&self, plan: &CommandPlan<'_>) -> Result<CommandLine> {
        launch::command(plan)
    }

    fn only_appends(&self) -> bool {
        true
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
        transcript::conversation(files, &self.transcript(files, place, id), id)
    }

    fn conversations(&self, files: &dyn Files, place: &Place) -> Result<Vec<Conversation>> {
        Ok(transcript::conversations(files, place))
    }

    fn kept(&self, files: &dyn Files, config_dir: &Path) -> io::Result<Vec<Kept>> {
        transcript::kept(files, config_dir)
    }

    fn beginning(&self, files: &dyn Files, kept: &Kept) -> io::Result<Option<Beginning>> {
        transcript::beginning(files, &kept.transcript)
    }

    fn live(&self, files: &dyn Files, place: &Place) -> Result<Vec<Live>> {
        Ok(live::live(files, place))
    }

    fn watched(&self, place: &Place) -> Vec<PathBuf> {
        vec![home::transcripts(place)]
    }

    fn file_signals(&self, _: &dyn Files, _: &Path, _: &ProcessRef) -> Vec<Signal> {
        // Nothing in a transcript tells which process has written it.
        Vec::new()
    }

    fn stream_signals(&self, line: &str) -> Vec<Signal> {
        signals::of_stream(line)
    }

    fn last_words(&self, errors: &str) -> Option<Failure> {
        failures::last_words(errors)
    }

    fn hook_signals(&self, payload: &str) -> Vec<Signal> {
        signals::of_extension(payload)
    }

    fn read_screen(&self, screen: &Screen) -> Option<Showing> {
        Some(screen::read(screen))
    }

    fn typing(&self, message: &str) -> Typing {
        typing::typing(message)
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
}
