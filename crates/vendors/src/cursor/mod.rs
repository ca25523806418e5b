//! Cursor's agent, as public descriptions of its versions up to September 2026 have it: its program
//! could not be had. What is not described anywhere is not relied on.
//!
//! Cursor makes the id of a conversation itself, and begins a blank one, under the very id that it
//! was asked for, where it does not know that id. So an id is known only when its process has told
//! it, and a conversation is brought back only while the database is there from which Cursor does so.

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
use segue_core::model::{Environment, Failure, ProcessRef, Session, VendorId, VendorSessionId};
use segue_core::ports::{
    Beginning, Capabilities, CommandLine, CommandPlan, Conversation, EachTurn, Files, Kept, Live,
    Pace, Place, ProgramSpec, Signal, Support, Typing, Vendor,
};
use uuid::Uuid;

/// Cursor's agent.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cursor;

impl Vendor for Cursor {
    fn id(&self) -> VendorId {
        VendorId::new("cursor")
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities {
            resume: true,
            headless: true,
            evidence_within: Some(Duration::from_secs(60)),
            // What two that set up its files at the same time do to them is not known.
            pace: Pace { at_once: 2, first_alone: true },
        }
    }

    fn support(&self) -> Support {
        support::SUPPORT
    }

    fn keeps_permission(&self) -> bool {
        false
    }

    fn program(&self) -> ProgramSpec {
        ProgramSpec::Named { name: "cursor-agent".to_owned(), native: &[] }
    }

    fn config_dir(&self, environment: &Environment) -> Result<PathBuf> {
        home::config_dir(environment)
    }

    fn prepare_environment(&self, place: &Place, environment: &mut Environment) {
        home::prepare_environment(place, environment);
    }

    /// It has no argument for an id, and its own command for making one is said not to end.
    fn preset_id(&self, _session: &Session, _unique: Uuid) -> Option<VendorSessionId> {
        None
    }

    fn command(&self, plan: &CommandPlan<'_>) -> Result<CommandLine> {
        launch::command(plan)
    }

    /// Its database is more than a file, and without it a transcript that is put back is worth
    /// nothing.
    fn has_own_files(&self) -> bool {
        false
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

    fn kept(&self, files: &dyn Files, config_dir: &Path) -> io::Result<Vec<Kept>> {
        transcript::kept(files, config_dir)
    }

    fn beginning(&self, files: &dyn Files, kept: &Kept) -> io::Result<Option<Beginning>> {
        transcript::beginning(files, kept)
    }

    /// Cursor lists no processes. It refuses a second one in the same conversation by itself.
    fn live(&self, _files: &dyn Files, _place: &Place) -> Result<Vec<Live>> {
        Ok(Vec::new())
    }

    fn watched(&self, _place: &Place) -> Vec<PathBuf> {
        Vec::new()
    }

    fn file_signals(&self, _: &dyn Files, _: &Path, _: &ProcessRef) -> Vec<Signal> {
        Vec::new()
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
}
