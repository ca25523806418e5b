//! OpenAI's Codex, as its version 0.166 behaves.
//!
//! The id of a conversation is ours: we prepare a rollout (Codex's transcript file) with that id,
//! and Codex resumes it. The lock file that a process holds open proves which conversation it is
//! in. Its title, its rollout and its output show what it does.

mod conversion;
mod failures;
mod home;
mod launch;
mod lineage;
mod lock;
mod records;
mod rehearsal;
mod screen;
mod settings;
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
    Rehearsal, SignalSources, StoredConversation, Support, TranscriptFiles, TranscriptStorage,
    Transcription, TranscriptionOrder, Transcripts, TrialSetup, Typing, Vendor,
};
use uuid::Uuid;

use crate::shared::launch_files;

/// Paths of the native program, relative to the folder of the script that the package manager links
/// to. The native program is started directly: with the script, there would be two processes, and a
/// kill could leave either of them running.
const NATIVE: [&str; 4] = [
    "../node_modules/@openai/codex-linux-x64/vendor/x86_64-unknown-linux-musl/bin/codex",
    "../../codex-linux-x64/vendor/x86_64-unknown-linux-musl/bin/codex",
    "../node_modules/@openai/codex-linux-arm64/vendor/aarch64-unknown-linux-musl/bin/codex",
    "../../codex-linux-arm64/vendor/aarch64-unknown-linux-musl/bin/codex",
];

/// OpenAI's Codex.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Codex;

impl Vendor for Codex {
    fn id(&self) -> VendorId {
        VendorId::new("codex")
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities {
            resume: Resumes::Yes,
            permission: PermissionEffect::Limits,
            first_turn: FirstTurn::ShowsAccount,
            // Two processes that set up the same config dir at the same time corrupt it.
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

impl Launching for Codex {
    fn program(&self) -> ProgramSpec {
        ProgramSpec::Named { name: "codex".to_owned(), native: &NATIVE }
    }

    fn config_dir(&self, environment: &Environment) -> Result<PathBuf> {
        home::config_dir(environment)
    }

    fn prepare_environment(&self, place: &Place, environment: &mut Environment) {
        home::prepare_environment(place, environment);
    }

    fn preset_id(&self, _session: &Session, unique: Uuid) -> Option<VendorSessionId> {
        Some(VendorSessionId::new(unique.to_string()))
    }

    fn command(&self, plan: &CommandPlan<'_>) -> Result<CommandLine> {
        launch::command(plan)
    }

    fn headless(&self) -> Option<&dyn HeadlessLaunching> {
        Some(self)
    }
}

impl HeadlessLaunching for Codex {
    fn standard_input(&self, plan: &CommandPlan<'_>) -> Option<PathBuf> {
        launch_files::prompt_path(plan)
    }
}

impl Transcripts for Codex {
    fn storage(&self) -> TranscriptStorage<'_> {
        TranscriptStorage::Files(self)
    }

    fn transcript(&self, files: &dyn Files, place: &Place, id: &VendorSessionId) -> PathBuf {
        home::rollout(files, &place.config_dir, id)
    }

    fn is_free(&self, files: &dyn Files, place: &Place, id: &VendorSessionId) -> bool {
        transcript::is_free(files, &self.transcript(files, place, id), id)
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

    fn list(&self, files: &dyn Files, config_dir: &Path) -> io::Result<Vec<StoredConversation>> {
        Ok(transcript::kept(files, config_dir))
    }

    fn beginning(
        &self,
        files: &dyn Files,
        kept: &StoredConversation,
    ) -> io::Result<Option<Beginning>> {
        transcript::beginning(files, &kept.transcript)
    }

    fn open_conversations(&self, files: &dyn Files, place: &Place) -> Result<Vec<Live>> {
        Ok(lock::live(files, place))
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

impl TranscriptFiles for Codex {
    fn ancestors(&self, files: &dyn Files, transcript: &Path) -> Vec<PathBuf> {
        lineage::ancestors(files, transcript)
    }
}

impl SignalSources for Codex {
    fn evidence_timeout(&self) -> Duration {
        Duration::from_secs(60)
    }

    fn watched(&self, place: &Place) -> Vec<PathBuf> {
        vec![home::locks(&place.config_dir)]
    }

    fn watched_for(
        &self,
        files: &dyn Files,
        place: &Place,
        id: Option<&VendorSessionId>,
        now: Timestamp,
    ) -> Vec<PathBuf> {
        let rollout = id.map(|id| self.transcript(files, place, id));
        let own = rollout.as_deref().and_then(Path::parent).map(Path::to_owned);
        let mut days = home::days_around(&place.config_dir, now);
        days.extend(own.filter(|own| !days.contains(own)));
        days
    }

    fn file_signals(&self, files: &dyn Files, changed: &Path, agent: &ProcessRef) -> Vec<Signal> {
        signals::of_file(files, changed, agent)
    }

    fn stream_signals(&self, line: &str) -> Vec<Signal> {
        signals::of_stream(line)
    }

    fn title_signals(&self, title: &str) -> Vec<Signal> {
        signals::of_title(title)
    }

    fn last_words(&self, errors: &str) -> Option<Failure> {
        failures::last_words(errors)
    }
}

impl Interaction for Codex {
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
}

impl Conversion for Codex {
    fn transcription(&self, order: &TranscriptionOrder<'_>) -> Result<Transcription> {
        conversion::transcription(order)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Home;

    #[test]
    fn watched_for_returns_the_folders_of_the_conversation_and_of_a_new_one() {
        let home = Home::new();
        let folder = |below: &str| home.folder.path().join(below);
        assert_eq!(Codex.watched(&home.place), [folder("thread-writer-locks")]);
        let id = VendorSessionId::new("01a1e1b4-9591-7600-96ed-7294b417ca9a");
        let now = "2026-12-01T12:00:00Z".parse().unwrap();
        let found = Codex.watched_for(&home.disk, &home.place, Some(&id), now);
        let days = ["2026/11/30", "2026/12/01", "2026/12/02", "2026/11/16"];
        assert_eq!(found, days.map(|day| folder("sessions").join(day)));
        let same_day = "2026-11-16T12:00:00Z".parse().unwrap();
        assert_eq!(Codex.watched_for(&home.disk, &home.place, Some(&id), same_day).len(), 3);
        assert_eq!(Codex.watched_for(&home.disk, &home.place, None, now).len(), 3);
    }
}
