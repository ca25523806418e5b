//! `OpenCode`, as its version 1.18 behaves.
//!
//! Its conversations are rows of one database, which Segue only reads. Segue chooses the id of a
//! conversation: it imports an empty conversation with that id before the first launch. A plugin of
//! the launch reports which conversation its process is in and what the process does. The plugin
//! also sends the first message; later messages are typed.

mod conversion;
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

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use segue_core::Result;
use segue_core::model::{
    DialogText, Environment, Failure, PermissionEffect, Resumes, Screen, Session, Showing, Signal,
    VendorId, VendorSessionId,
};
use segue_core::ports::{
    Answer, Beginning, Capabilities, CommandLine, CommandPlan, Conversation, Conversion, EachTurn,
    Files, FirstTurn, HeadlessLaunching, Interaction, Launching, Live, Pace, Place, ProgramSpec,
    Rehearsal, SignalSources, StoredConversation, Support, TranscriptDatabase, TranscriptStorage,
    Transcription, TranscriptionOrder, Transcripts, TrialSetup, Typing, Vendor,
};
use uuid::Uuid;

/// Paths of the native program, relative to the folder of the script that the package manager links
/// to. They are needed if the script was not replaced by the program.
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
            resume: Resumes::Yes,
            permission: PermissionEffect::Limits,
            first_turn: FirstTurn::ShowsAccount,
            // The first launch creates the database.
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

impl Launching for OpenCode {
    fn program(&self) -> ProgramSpec {
        ProgramSpec::Named { name: "opencode".to_owned(), native: &NATIVE }
    }

    fn config_dir(&self, environment: &Environment) -> Result<PathBuf> {
        home::config_dir(environment)
    }

    fn prepare_environment(&self, place: &Place, environment: &mut Environment) {
        home::prepare_environment(place, environment);
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

    fn preparation(&self, plan: &CommandPlan<'_>) -> Option<Vec<String>> {
        launch::preparation(plan)
    }

    fn preparation_variables(&self, plan: &CommandPlan<'_>) -> Vec<String> {
        launch::preparation_variables(plan)
    }

    fn headless(&self) -> Option<&dyn HeadlessLaunching> {
        Some(self)
    }
}

impl HeadlessLaunching for OpenCode {
    fn standard_input(&self, plan: &CommandPlan<'_>) -> Option<PathBuf> {
        launch::standard_input(plan)
    }
}

impl Transcripts for OpenCode {
    fn storage(&self) -> TranscriptStorage<'_> {
        TranscriptStorage::Database(self)
    }

    fn transcript(&self, _files: &dyn Files, place: &Place, id: &VendorSessionId) -> PathBuf {
        home::transcript(&place.config_dir, id)
    }

    fn is_free(&self, _files: &dyn Files, place: &Place, id: &VendorSessionId) -> bool {
        transcript::is_free(&place.config_dir, id)
    }

    fn length(&self, _files: &dyn Files, place: &Place, id: &VendorSessionId) -> Option<u64> {
        transcript::length(&place.config_dir, id).ok().flatten()
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

    fn list(&self, _files: &dyn Files, config_dir: &Path) -> io::Result<Vec<StoredConversation>> {
        transcript::kept(config_dir).map_err(io::Error::other)
    }

    fn beginning(
        &self,
        _files: &dyn Files,
        kept: &StoredConversation,
    ) -> io::Result<Option<Beginning>> {
        transcript::beginning(kept).map_err(io::Error::other)
    }

    fn open_conversations(&self, files: &dyn Files, place: &Place) -> Result<Vec<Live>> {
        Ok(live::live(files, place))
    }

    fn user_messages_since(
        &self,
        _files: &dyn Files,
        place: &Place,
        id: &VendorSessionId,
        offset: u64,
    ) -> Result<Vec<String>> {
        transcript::user_messages_since(&place.config_dir, id, offset)
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

impl TranscriptDatabase for OpenCode {
    fn export(&self, place: &Place, id: &VendorSessionId) -> Result<Option<Vec<u8>>> {
        export::export(&place.config_dir, id)
    }
}

/// Nothing is watched, because the plugin reports every change.
impl SignalSources for OpenCode {
    fn evidence_timeout(&self) -> Duration {
        // The very first start installs a package.
        Duration::from_secs(120)
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
}

impl Interaction for OpenCode {
    fn read_screen(&self, screen: &Screen) -> Option<Showing> {
        screen::read(screen)
    }

    fn dialog_text(&self, screen: &Screen) -> Option<DialogText> {
        screen::dialog_text(screen)
    }

    fn typing(&self, message: &str) -> Typing {
        typing::typing(message)
    }

    fn answer(&self, screen: &Screen, answer: &Answer) -> Option<Vec<u8>> {
        screen::answer(screen, answer)
    }

    /// Returns Escape twice. After the first one, OpenCode only asks for a confirmation.
    fn interrupt(&self) -> Vec<u8> {
        b"\x1b[27u\x1b[27u".to_vec()
    }
}

impl Conversion for OpenCode {
    fn transcription(&self, order: &TranscriptionOrder<'_>) -> Result<Transcription> {
        conversion::transcription(order)
    }
}
