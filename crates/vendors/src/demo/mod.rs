//! The built-in vendor, with which every feature can be tried without an account.
//!
//! This folder contains both sides: what Segue knows about the vendor, and (in `agent`) the agent
//! program itself. That program behaves like a real agent CLI, including its defects.

pub mod agent;
mod home;
mod launch;
mod look;
mod records;
mod registry;
mod signals;
mod transcript;
mod turns;

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use segue_core::Result;
use segue_core::model::{
    DialogText, Environment, Failure, PermissionEffect, ProcessRef, Resumes, Screen, Session,
    Showing, Signal, VendorId, VendorSessionId,
};
use segue_core::ports::{
    Answer, Beginning, Capabilities, CommandLine, CommandPlan, Conversation, Conversion, EachTurn,
    Files, FirstTurn, HeadlessLaunching, Interaction, Launching, Live, Pace, Place, ProgramSpec,
    Proof, SignalSources, StoredConversation, Support, TranscriptFiles, TranscriptStorage,
    Transcription, TranscriptionOrder, Transcripts, Vendor,
};
use uuid::Uuid;

/// The subcommand of `segue` that runs the agent.
pub const SUBCOMMAND: &str = "demo-agent";

/// The built-in vendor.
#[derive(Clone, Copy, Debug)]
pub struct Demo;

impl Vendor for Demo {
    fn id(&self) -> VendorId {
        VendorId::new("demo")
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities {
            resume: Resumes::Yes,
            permission: PermissionEffect::Limits,
            first_turn: FirstTurn::ShowsNothing,
            pace: Pace { at_once: 8, first_alone: false },
        }
    }

    fn support(&self) -> Support {
        Support {
            title: "the built-in agent",
            proof: Proof::BuiltIn,
            tried: &[],
            install: "it is part of Segue",
            notes: &[],
        }
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

impl Launching for Demo {
    fn program(&self) -> ProgramSpec {
        ProgramSpec::Segue { subcommand: SUBCOMMAND }
    }

    fn config_dir(&self, environment: &Environment) -> Result<PathBuf> {
        home::home(environment)
    }

    fn prepare_environment(&self, place: &Place, environment: &mut Environment) {
        launch::prepare_environment(place, environment);
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

impl HeadlessLaunching for Demo {}

impl Transcripts for Demo {
    fn storage(&self) -> TranscriptStorage<'_> {
        TranscriptStorage::Files(self)
    }

    fn transcript(&self, _files: &dyn Files, place: &Place, id: &VendorSessionId) -> PathBuf {
        home::transcript(&place.config_dir, &place.cwd, id.as_str())
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
        transcript::beginning_of(files, &kept.transcript)
    }

    fn open_conversations(&self, files: &dyn Files, place: &Place) -> Result<Vec<Live>> {
        registry::live(files, place)
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

impl TranscriptFiles for Demo {}

impl SignalSources for Demo {
    fn evidence_timeout(&self) -> Duration {
        Duration::from_secs(20)
    }

    fn watched(&self, place: &Place) -> Vec<PathBuf> {
        vec![home::live(&place.config_dir), home::transcripts(&place.config_dir, &place.cwd)]
    }

    fn file_signals(&self, files: &dyn Files, changed: &Path, agent: &ProcessRef) -> Vec<Signal> {
        signals::of_file(files, changed, agent)
    }

    fn stream_signals(&self, line: &str) -> Vec<Signal> {
        signals::of_stream(line)
    }

    fn last_words(&self, errors: &str) -> Option<Failure> {
        launch::last_words(errors)
    }
}

impl Interaction for Demo {
    fn read_screen(&self, screen: &Screen) -> Option<Showing> {
        look::showing(screen)
    }

    fn dialog_text(&self, screen: &Screen) -> Option<DialogText> {
        look::dialog_text(screen)
    }

    fn answer(&self, screen: &Screen, answer: &Answer) -> Option<Vec<u8>> {
        look::keys(screen, answer)
    }
}

impl Conversion for Demo {
    fn transcription(&self, order: &TranscriptionOrder<'_>) -> Result<Transcription> {
        Ok(turns::transcription(order))
    }
}
