//! OpenClaw, as its version 2026.9 behaves, one headless turn at a time.
//!
//! A conversation's id is ours: OpenClaw begins a conversation under whatever id it is told, and goes
//! on with it if it has it in its database. It says nothing when it has not, so we look first. Only
//! the report at a turn's end tells which conversation it was.

mod failures;
mod home;
mod launch;
mod records;
mod signals;
mod support;
mod transcript;
mod turns;

use std::path::{Path, PathBuf};
use std::time::Duration;

use segue_core::Result;
use segue_core::model::{Environment, Failure, ProcessRef, Session, VendorId, VendorSessionId};
use segue_core::ports::{
    Capabilities, CommandLine, CommandPlan, Conversation, EachTurn, Files, Live, Pace, Place,
    ProgramSpec, Signal, Support, Vendor,
};
use uuid::Uuid;

/// OpenClaw.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OpenClaw;

impl Vendor for OpenClaw {
    fn id(&self) -> VendorId {
        VendorId::new("openclaw")
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities {
            resume: true,
            headless: true,
            // Its report comes when a turn is over; a turn may take as long as OpenClaw lets it.
            evidence_within: Some(Duration::from_secs(600)),
            // Two turns at once in one folder of settings: the second ends with an error.
            pace: Pace { at_once: 1, first_alone: true },
        }
    }

    fn support(&self) -> Support {
        support::SUPPORT
    }

    fn keeps_permission(&self) -> bool {
        false
    }

    fn program(&self) -> ProgramSpec {
        ProgramSpec::Named { name: "openclaw".to_owned(), native: &[] }
    }

    fn config_dir(&self, environment: &Environment) -> Result<PathBuf> {
        home::config_dir(environment)
    }

    fn prepare_environment(&self, place: &Place, environment: &mut Environment) {
        home::prepare_environment(place, environment);
    }

    fn preset_id(&self, _session: &Session, unique: Uuid) -> Option<VendorSessionId> {
        launch::preset_id(unique)
    }

    fn is_free(&self, files: &dyn Files, place: &Place, id: &VendorSessionId) -> bool {
        matches!(transcript::conversation(files, &place.config_dir, id), Ok(None))
    }

    fn command(&self, plan: &CommandPlan<'_>) -> Result<CommandLine> {
        launch::command(plan)
    }

    fn has_own_files(&self) -> bool {
        false
    }

    fn transcript(&self, files: &dyn Files, place: &Place, id: &VendorSessionId) -> PathBuf {
        transcript::named(files, &place.config_dir, id)
    }

    fn extent(&self, files: &dyn Files, place: &Place, id: &VendorSessionId) -> Option<u64> {
        transcript::extent(files, &place.config_dir, id).ok().flatten()
    }

    fn conversation(
        &self,
        files: &dyn Files,
        place: &Place,
        id: &VendorSessionId,
    ) -> Result<Option<Conversation>> {
        transcript::conversation(files, &place.config_dir, id)
    }

    /// Its conversations belong to no folder, and one without a known id is never looked for.
    fn conversations(&self, _files: &dyn Files, _place: &Place) -> Result<Vec<Conversation>> {
        Ok(Vec::new())
    }

    /// OpenClaw does not say which process has which conversation open.
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

    fn last_words(&self, errors: &str) -> Option<Failure> {
        failures::last_words(errors)
    }

    fn said_since(
        &self,
        files: &dyn Files,
        place: &Place,
        id: &VendorSessionId,
        offset: u64,
    ) -> Result<Vec<String>> {
        transcript::said_since(files, &place.config_dir, id, offset)
    }

    fn turns_back(
        &self,
        _files: &dyn Files,
        transcript: &Path,
        each: &mut EachTurn<'_>,
    ) -> Result<()> {
        turns::turns_back(transcript, each)
    }

    fn turns(&self, _files: &dyn Files, transcript: &Path, each: &mut EachTurn<'_>) -> Result<()> {
        turns::turns(transcript, each)
    }
}
