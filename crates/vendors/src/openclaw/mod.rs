//! OpenClaw, as its version 2026.9 behaves, one headless turn at a time.
//!
//! Segue chooses the id of a conversation. OpenClaw continues the conversation with that id if its
//! database has it. Otherwise OpenClaw begins one under that id without any notice, so Segue looks
//! into the database first. Only the report at the end of a turn names the conversation of the
//! turn.

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
use segue_core::model::{
    Environment, Failure, PermissionEffect, Resumes, Session, Signal, VendorId, VendorSessionId,
};
use segue_core::ports::{
    Capabilities, CommandLine, CommandPlan, Conversation, EachTurn, Files, FirstTurn,
    HeadlessLaunching, Interaction, Launching, Live, Pace, Place, ProgramSpec, SignalSources,
    Support, TranscriptDatabase, TranscriptStorage, Transcripts, Vendor,
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
            resume: Resumes::Yes,
            permission: PermissionEffect::Nothing,
            first_turn: FirstTurn::ShowsAccount,
            // Of two simultaneous turns in one config dir, the second one fails.
            pace: Pace { at_once: 1, first_alone: true },
        }
    }

    fn support(&self) -> Support {
        support::SUPPORT
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
}

impl Launching for OpenClaw {
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

    fn command(&self, plan: &CommandPlan<'_>) -> Result<CommandLine> {
        launch::command(plan)
    }

    fn headless(&self) -> Option<&dyn HeadlessLaunching> {
        Some(self)
    }
}

impl HeadlessLaunching for OpenClaw {}

impl Transcripts for OpenClaw {
    fn storage(&self) -> TranscriptStorage<'_> {
        TranscriptStorage::Database(self)
    }

    fn transcript(&self, files: &dyn Files, place: &Place, id: &VendorSessionId) -> PathBuf {
        transcript::named(files, &place.config_dir, id)
    }

    fn is_free(&self, files: &dyn Files, place: &Place, id: &VendorSessionId) -> bool {
        matches!(transcript::conversation(files, &place.config_dir, id), Ok(None))
    }

    fn length(&self, files: &dyn Files, place: &Place, id: &VendorSessionId) -> Option<u64> {
        transcript::length(files, &place.config_dir, id).ok().flatten()
    }

    fn conversation(
        &self,
        files: &dyn Files,
        place: &Place,
        id: &VendorSessionId,
    ) -> Result<Option<Conversation>> {
        transcript::conversation(files, &place.config_dir, id)
    }

    /// Returns an empty list: OpenClaw's conversations belong to no folder, and Segue only looks
    /// for known ids.
    fn conversations(&self, _files: &dyn Files, _place: &Place) -> Result<Vec<Conversation>> {
        Ok(Vec::new())
    }

    /// Returns an empty list: OpenClaw does not show which process has which conversation open.
    fn open_conversations(&self, _files: &dyn Files, _place: &Place) -> Result<Vec<Live>> {
        Ok(Vec::new())
    }

    fn user_messages_since(
        &self,
        files: &dyn Files,
        place: &Place,
        id: &VendorSessionId,
        offset: u64,
    ) -> Result<Vec<String>> {
        transcript::user_messages_since(files, &place.config_dir, id, offset)
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

impl TranscriptDatabase for OpenClaw {}

impl SignalSources for OpenClaw {
    fn evidence_timeout(&self) -> Duration {
        // The report comes at the end of a turn. A turn may take as long as OpenClaw allows.
        Duration::from_secs(600)
    }

    fn stream_signals(&self, line: &str) -> Vec<Signal> {
        signals::of_stream(line)
    }

    fn last_words(&self, errors: &str) -> Option<Failure> {
        failures::last_words(errors)
    }
}

impl Interaction for OpenClaw {}
