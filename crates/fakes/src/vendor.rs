//! A vendor with the capabilities that a test wants. [`crate::transcript_line`] describes its
//! transcripts.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use segue_core::model::{
    DialogText, Environment, Failure, FailureClass, PermissionEffect, Resumes, Role, Screen,
    Session, Showing, VendorId, VendorSessionId, WaitingFor,
};
use segue_core::ports::{
    Answer, Beginning, Capabilities, CommandLine, CommandPlan, Conversation, Conversion, EachTurn,
    Files, FirstTurn, HeadlessLaunching, HeadlessQuestion, HeadlessQuestions, Interaction,
    Launching, Live, Pace, Place, ProgramSpec, Proof, SignalSources, StoredConversation, Support,
    TranscriptDatabase, TranscriptFiles, TranscriptStorage, Transcripts, UsageReports, Vendor,
    WriteMode,
};
use segue_core::{Error, Result};
use uuid::Uuid;

use crate::FakeConversion;
use crate::transcript::{FakeTranscript, unreadable};

/// How a fake vendor stores conversations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Storage {
    /// One file for each conversation.
    Files,
    /// A database, so that there is no file to guard. Its entries are files all the same.
    Database,
    /// Nothing that Segue can read.
    Unreadable,
}

/// A vendor with the capabilities that a test wants.
#[derive(Clone, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "a real vendor has any combination of them")]
pub struct FakeVendor {
    /// Its id, and the name of its program.
    pub name: &'static str,
    pub storage: Storage,
    pub resumes: Resumes,
    /// Segue chooses the ids of new conversations.
    pub has_preset_ids: bool,
    /// Launches show which conversation they are in.
    pub has_signals: bool,
    /// The program can run a turn without a terminal.
    pub is_headless: bool,
    /// The program can ask a person while it runs headless.
    pub asks_headless: bool,
    pub write_mode: WriteMode,
    /// A transcript that is restored gets another name than its process gives it.
    pub is_renamed: bool,
    /// Transcripts that a start may delete.
    pub endangered: Vec<PathBuf>,
    /// Transcripts without which others cannot be read.
    pub ancestors: Vec<PathBuf>,
    /// The document that a database exports for every conversation.
    pub export: Option<&'static str>,
    /// Processes that report an open conversation.
    pub live: Arc<Mutex<Vec<Live>>>,
    /// How the vendor takes over conversations. `None` if it cannot.
    pub conversion: Option<FakeConversion>,
}

impl FakeVendor {
    /// Creates a vendor that takes over conversations of other vendors.
    pub fn taking_over(name: &'static str) -> Self {
        Self { name, conversion: Some(FakeConversion::default()), ..Self::default() }
    }

    fn home_variable(&self) -> String {
        format!("{}_HOME", self.name.to_uppercase())
    }
}

impl Default for FakeVendor {
    fn default() -> Self {
        Self {
            name: "tool",
            storage: Storage::Files,
            resumes: Resumes::Yes,
            has_preset_ids: true,
            has_signals: true,
            is_headless: true,
            asks_headless: true,
            write_mode: WriteMode::Append,
            is_renamed: false,
            endangered: Vec::new(),
            ancestors: Vec::new(),
            export: None,
            live: Arc::default(),
            conversion: None,
        }
    }
}

impl Vendor for FakeVendor {
    fn id(&self) -> VendorId {
        VendorId::new(self.name)
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities {
            resume: self.resumes,
            permission: PermissionEffect::Limits,
            first_turn: FirstTurn::ShowsNothing,
            pace: Pace { at_once: 4, first_alone: false },
        }
    }

    fn support(&self) -> Support {
        let (title, proof, install) = ("Tool", Proof::BuiltIn, "it is part of the tests");
        Support { title, proof, tried: &[], install, notes: &[] }
    }

    fn launching(&self) -> &dyn Launching {
        self
    }

    fn interaction(&self) -> &dyn Interaction {
        self
    }

    fn transcripts(&self) -> Option<&dyn Transcripts> {
        (self.storage != Storage::Unreadable).then_some(self)
    }

    fn signals(&self) -> Option<&dyn SignalSources> {
        self.has_signals.then_some(self)
    }

    fn usage(&self) -> Option<&dyn UsageReports> {
        (self.storage != Storage::Unreadable).then_some(self)
    }

    fn conversion(&self) -> Option<&dyn Conversion> {
        self.conversion.as_ref().map(|conversion| conversion as &dyn Conversion)
    }
}

impl Launching for FakeVendor {
    fn program(&self) -> ProgramSpec {
        ProgramSpec::Named { name: self.name.to_owned(), native: &[] }
    }

    /// `NAME_HOME` of the environment, which must not be empty, or `/home/NAME`.
    fn config_dir(&self, environment: &Environment) -> Result<PathBuf> {
        match environment.get(&self.home_variable()) {
            Some("") => Err(Error::config(format!("`{}` is empty", self.home_variable()))),
            Some(home) => Ok(home.into()),
            None => Ok(Path::new("/home").join(self.name)),
        }
    }

    fn prepare_environment(&self, place: &Place, environment: &mut Environment) {
        environment.set(self.home_variable(), place.config_dir.display().to_string());
    }

    fn preset_id(&self, _session: &Session, unique: Uuid) -> Option<VendorSessionId> {
        self.has_preset_ids.then(|| VendorSessionId::new(unique.to_string()))
    }

    /// `--id ID` or `--resume ID`, then the message.
    fn command(&self, plan: &CommandPlan<'_>) -> Result<CommandLine> {
        let mut arguments = Vec::new();
        if let Some(id) = plan.id {
            arguments.extend([format!("--{}", plan.mode.word()), id.to_string()]);
        }
        if let Some(instructions) = &plan.session.instructions {
            arguments.extend(["--instructions".to_owned(), instructions.clone()]);
        }
        arguments.extend(plan.import.map(|path| format!("--import={}", path.display())));
        arguments.extend(plan.message.map(str::to_owned));
        Ok(CommandLine { arguments, files: Vec::new() })
    }

    fn headless(&self) -> Option<&dyn HeadlessLaunching> {
        self.is_headless.then_some(self)
    }
}

impl HeadlessLaunching for FakeVendor {
    fn questions(&self, _version: Option<&str>) -> Option<&dyn HeadlessQuestions> {
        self.asks_headless.then_some(self)
    }
}

impl HeadlessQuestions for FakeVendor {
    /// The request is the text of a question with the choices `yes` and `no`.
    fn question(&self, request: &str) -> Option<HeadlessQuestion> {
        let choices = vec!["yes".to_owned(), "no".to_owned()];
        let text = DialogText { question: request.to_owned(), is_whole: true, choices };
        Some(HeadlessQuestion { kind: WaitingFor::Permission, text })
    }

    fn reply(&self, _request: &str, answer: &Answer) -> Option<String> {
        match answer {
            Answer::Yes => Some("allow".to_owned()),
            Answer::No => Some("deny".to_owned()),
            Answer::Choice(_) => None,
        }
    }
}

impl Interaction for FakeVendor {
    /// The last row is `>` if the input is empty, `> TEXT` if it has a draft, `…` while the agent
    /// works, and `? QUESTION` for a dialog.
    fn read_screen(&self, screen: &Screen) -> Option<Showing> {
        let last = screen.rows.last()?;
        match last.chars().next()? {
            '>' if last.trim_end() == ">" => Some(Showing::Ready),
            '>' => Some(Showing::Draft),
            '…' => Some(Showing::Busy),
            '?' => Some(Showing::Dialog(WaitingFor::Permission)),
            _ => None,
        }
    }
}

impl SignalSources for FakeVendor {
    fn evidence_timeout(&self) -> Duration {
        Duration::from_secs(10)
    }

    /// `refused: WHY` is a failure of the account.
    fn failure_in_output(&self, errors: &str) -> Option<Failure> {
        let message = errors.lines().find_map(|line| line.strip_prefix("refused: "))?;
        let (class, message) = (FailureClass::Account, message.trim().to_owned());
        Some(Failure { class, message, resets_at: None })
    }
}

impl Transcripts for FakeVendor {
    fn storage(&self) -> TranscriptStorage<'_> {
        match self.storage {
            Storage::Database => TranscriptStorage::Database(self),
            Storage::Files | Storage::Unreadable => TranscriptStorage::Files(self),
        }
    }

    fn transcript(&self, files: &dyn Files, place: &Place, id: &VendorSessionId) -> PathBuf {
        let renamed = self.restored_as(files, place, id);
        let is_renamed = self.is_renamed && matches!(files.facts(&renamed), Ok(Some(_)));
        if is_renamed { renamed } else { place.config_dir.join(format!("{id}.txt")) }
    }

    fn conversation(
        &self,
        files: &dyn Files,
        place: &Place,
        id: &VendorSessionId,
    ) -> Result<Option<Conversation>> {
        let transcript = self.transcript(files, place, id);
        let read = FakeTranscript::read(files, &transcript)?;
        let Some(last) = read.turns.last() else { return Ok(None) };
        let is_open = last.role != Role::Assistant;
        Ok(Some(Conversation {
            id: id.clone(),
            transcript,
            cwd: read.cwd.clone().unwrap_or_else(|| place.cwd.clone()),
            began_at: read.began_at(),
            first_message: read.first_message(),
            turn_open: is_open,
            last_answer: (!is_open).then(|| last.text.clone()),
        }))
    }

    fn conversations(&self, files: &dyn Files, place: &Place) -> Result<Vec<Conversation>> {
        let paths = files.list(&place.config_dir).map_err(unreadable(&place.config_dir))?;
        let id = |path: &PathBuf| Some(VendorSessionId::new(path.file_stem()?.to_str()?));
        let read = |id| self.conversation(files, place, &id);
        let found = paths.iter().filter_map(id).filter_map(|id| read(id).transpose());
        let is_there =
            |it: &Result<Conversation>| it.as_ref().map_or(true, |it| it.cwd == place.cwd);
        found.filter(is_there).collect()
    }

    fn list(&self, files: &dyn Files, config_dir: &Path) -> io::Result<Vec<StoredConversation>> {
        let mut kept = Vec::new();
        for transcript in files.list(config_dir)? {
            let id =
                transcript.file_stem().and_then(|stem| stem.to_str()).map(VendorSessionId::new);
            if let (Some(id), Some(facts)) = (id, files.facts(&transcript)?) {
                kept.push(StoredConversation { id, transcript, modified: facts.modified });
            }
        }
        Ok(kept)
    }

    fn beginning(
        &self,
        files: &dyn Files,
        kept: &StoredConversation,
    ) -> io::Result<Option<Beginning>> {
        let read = FakeTranscript::parse(&files.head(&kept.transcript, usize::MAX)?);
        Ok((!read.turns.is_empty()).then(|| Beginning {
            cwd: read.cwd.clone().unwrap_or_else(|| crate::samples::CWD.into()),
            began_at: read.began_at(),
            first_message: read.first_message(),
        }))
    }

    fn open_conversations(&self, _files: &dyn Files, _place: &Place) -> Result<Vec<Live>> {
        Ok(self.live.lock().unwrap().clone())
    }

    fn user_messages_since(
        &self,
        files: &dyn Files,
        place: &Place,
        id: &VendorSessionId,
        offset: u64,
    ) -> Result<Vec<String>> {
        let path = self.transcript(files, place, id);
        let bytes = files.read_at(&path, offset, usize::MAX);
        let read = FakeTranscript::parse(&bytes.map_err(unreadable(&path))?);
        let said = read.turns.into_iter().filter(|it| it.role == Role::User);
        Ok(said.map(|it| it.text).collect())
    }

    fn turns_back(
        &self,
        files: &dyn Files,
        transcript: &Path,
        each: &mut EachTurn<'_>,
    ) -> Result<()> {
        let turns = FakeTranscript::read(files, transcript)?.turns;
        let _stopped = turns.into_iter().rev().try_for_each(each);
        Ok(())
    }

    fn turns(&self, files: &dyn Files, transcript: &Path, each: &mut EachTurn<'_>) -> Result<()> {
        let turns = FakeTranscript::read(files, transcript)?.turns;
        let _stopped = turns.into_iter().try_for_each(each);
        Ok(())
    }
}

impl TranscriptFiles for FakeVendor {
    fn write_mode(&self) -> WriteMode {
        self.write_mode
    }

    fn restored_as(&self, _files: &dyn Files, place: &Place, id: &VendorSessionId) -> PathBuf {
        let end = if self.is_renamed { ".restored.txt" } else { ".txt" };
        place.config_dir.join(format!("{id}{end}"))
    }

    fn endangered(&self, _files: &dyn Files, _place: &Place) -> Vec<PathBuf> {
        self.endangered.clone()
    }

    fn companion_folder(&self, place: &Place, id: &VendorSessionId) -> Option<PathBuf> {
        Some(place.config_dir.join(id.as_str()))
    }

    fn ancestors(&self, _files: &dyn Files, _transcript: &Path) -> Vec<PathBuf> {
        self.ancestors.clone()
    }
}

impl TranscriptDatabase for FakeVendor {
    fn export(&self, _place: &Place, _id: &VendorSessionId) -> Result<Option<Vec<u8>>> {
        Ok(self.export.map(|document| document.as_bytes().to_vec()))
    }
}
