//! Google's Gemini CLI, as its version 0.61 behaves.
//!
//! A conversation's id is ours: Gemini resumes a transcript that we prepared. It deletes transcripts
//! at its starts, all those whose names end like that of one in which nothing was said; a prepared
//! one has a name that ends like no other, and something in it from the beginning.

mod failures;
mod home;
mod launch;
mod neighbours;
mod own_log;
mod process;
mod records;
mod rehearsal;
mod said;
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

use crate::texts;

/// Google's Gemini CLI.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Gemini;

impl Vendor for Gemini {
    fn id(&self) -> VendorId {
        VendorId::new("gemini")
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities {
            resume: true,
            headless: true,
            // It takes four seconds alone, and several times as long among others.
            evidence_within: Some(Duration::from_secs(90)),
            // The first one makes the list of projects, behind a lock that the others wait for.
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
        ProgramSpec::Named { name: "gemini".to_owned(), native: &[] }
    }

    fn config_dir(&self, environment: &Environment) -> Result<PathBuf> {
        home::config_dir(environment)
    }

    fn prepare_environment(&self, place: &Place, environment: &mut Environment) {
        home::prepare_environment(place, environment);
    }

    fn tell_environment(&self, session: &Session, folder: &Path, environment: &mut Environment) {
        own_log::tell(&session.cwd, folder, environment);
    }

    fn preset_id(&self, session: &Session, unique: Uuid) -> Option<VendorSessionId> {
        launch::preset_id(session, unique)
    }

    fn is_free(&self, files: &dyn Files, place: &Place, id: &VendorSessionId) -> bool {
        transcript::is_free(files, place, id)
    }

    fn command(&self, plan: &CommandPlan<'_>) -> Result<CommandLine> {
        launch::command(plan)
    }

    fn only_appends(&self) -> bool {
        true
    }

    fn transcript(&self, files: &dyn Files, place: &Place, id: &VendorSessionId) -> PathBuf {
        home::transcript(files, place, id)
    }

    fn restored_as(&self, files: &dyn Files, place: &Place, id: &VendorSessionId) -> PathBuf {
        home::restored_as(files, place, id)
    }

    fn endangered(&self, files: &dyn Files, place: &Place) -> Vec<PathBuf> {
        neighbours::endangered(files, place)
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

    fn kept(&self, files: &dyn Files, config_dir: &Path) -> io::Result<Vec<Kept>> {
        home::kept(files, config_dir)
    }

    fn beginning(&self, files: &dyn Files, kept: &Kept) -> io::Result<Option<Beginning>> {
        transcript::beginning(files, &kept.transcript)
    }

    fn standard_input(&self, plan: &CommandPlan<'_>) -> Option<PathBuf> {
        texts::prompt_path(plan)
    }

    fn live(&self, files: &dyn Files, place: &Place) -> Result<Vec<Live>> {
        Ok(process::live(files, &home::chats(files, place)))
    }

    fn watched(&self, _place: &Place) -> Vec<PathBuf> {
        Vec::new()
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

    fn last_words(&self, errors: &str) -> Option<Failure> {
        failures::last_words(errors)
    }

    fn title_signals(&self, title: &str) -> Vec<Signal> {
        signals::of_title(title)
    }

    fn read_screen(&self, screen: &Screen) -> Option<Showing> {
        screen::read(screen)
    }

    fn readiness(&self) -> Readiness {
        Readiness::Shown
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
