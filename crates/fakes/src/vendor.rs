//! A vendor whose transcripts are lines of plain text.
//!
//! A line is `WHO: TEXT`, with `user` or `agent` for `WHO`; an agent's line ends the turn. So
//! `user: hi` alone is a turn that was cut off.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use jiff::Timestamp;
use segue_core::model::{
    Environment, Failure, FailureClass, PermissionEffect, Resumes, Role, Screen, Session, Showing,
    Turn, VendorDescription, VendorId, VendorSessionId, WaitingFor,
};
use segue_core::ports::{
    Beginning, Capabilities, CommandLine, CommandPlan, Conversation, EachTurn, Files, FirstTurn,
    HeadlessLaunching, Interaction, Launching, Live, Pace, Place, ProgramSpec, Proof,
    SignalSources, StoredConversation, Support, TranscriptDatabase, TranscriptFiles,
    TranscriptStorage, Transcripts, Vendor, Vendors, WriteMode,
};
use segue_core::{Error, Result};
use uuid::Uuid;

/// Returns a line of a transcript.
pub fn transcript_line(who: &str, text: &str) -> String {
    format!("{who}: {text}\n")
}

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
    pub storage: Storage,
    pub resumes: Resumes,
    /// Segue chooses the ids of new conversations.
    pub has_preset_ids: bool,
    /// Launches show which conversation they are in.
    pub has_signals: bool,
    /// The program can run a turn without a terminal.
    pub is_headless: bool,
    pub write_mode: WriteMode,
    /// Transcripts that a start may delete.
    pub endangered: Vec<PathBuf>,
    /// Transcripts without which others cannot be read.
    pub ancestors: Vec<PathBuf>,
    /// Processes that report an open conversation.
    pub live: Arc<Mutex<Vec<Live>>>,
}

impl Default for FakeVendor {
    fn default() -> Self {
        Self {
            storage: Storage::Files,
            resumes: Resumes::Yes,
            has_preset_ids: true,
            has_signals: true,
            is_headless: true,
            write_mode: WriteMode::Append,
            endangered: Vec::new(),
            ancestors: Vec::new(),
            live: Arc::default(),
        }
    }
}

impl Vendor for FakeVendor {
    fn id(&self) -> VendorId {
        VendorId::new("tool")
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
}

impl Launching for FakeVendor {
    fn program(&self) -> ProgramSpec {
        ProgramSpec::Named { name: "tool".to_owned(), native: &[] }
    }

    fn config_dir(&self, _environment: &Environment) -> Result<PathBuf> {
        Ok(crate::samples::CONFIG_DIR.into())
    }

    fn prepare_environment(&self, place: &Place, environment: &mut Environment) {
        environment.set("TOOL_HOME", place.config_dir.display().to_string());
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

impl HeadlessLaunching for FakeVendor {}

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
    fn last_words(&self, errors: &str) -> Option<Failure> {
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

    fn transcript(&self, _files: &dyn Files, place: &Place, id: &VendorSessionId) -> PathBuf {
        place.config_dir.join(format!("{id}.txt"))
    }

    fn conversation(
        &self,
        files: &dyn Files,
        place: &Place,
        id: &VendorSessionId,
    ) -> Result<Option<Conversation>> {
        let transcript = self.transcript(files, place, id);
        let lines = lines(files, &transcript)?;
        let Some((last_speaker, last)) = lines.last().cloned() else { return Ok(None) };
        let is_open = last_speaker == "user";
        Ok(Some(Conversation {
            id: id.clone(),
            transcript,
            cwd: place.cwd.clone(),
            began_at: crate::samples::start(),
            first_message: lines.iter().find(|it| it.0 == "user").map(|it| it.1.clone()),
            turn_open: is_open,
            last_answer: (!is_open).then_some(last),
        }))
    }

    fn conversations(&self, files: &dyn Files, place: &Place) -> Result<Vec<Conversation>> {
        let paths = files.list(&place.config_dir).map_err(unreadable(&place.config_dir))?;
        let id = |path: &PathBuf| Some(VendorSessionId::new(path.file_stem()?.to_str()?));
        let read = |id| self.conversation(files, place, &id);
        paths.iter().filter_map(id).filter_map(|id| read(id).transpose()).collect()
    }

    fn list(&self, files: &dyn Files, config_dir: &Path) -> io::Result<Vec<StoredConversation>> {
        let kept = |path: PathBuf| {
            let id = VendorSessionId::new(path.file_stem()?.to_str()?);
            Some(StoredConversation { id, transcript: path, modified: crate::samples::start() })
        };
        Ok(files.list(config_dir)?.into_iter().filter_map(kept).collect())
    }

    fn beginning(
        &self,
        files: &dyn Files,
        kept: &StoredConversation,
    ) -> io::Result<Option<Beginning>> {
        let said = parsed(&files.head(&kept.transcript, usize::MAX)?);
        Ok(said.into_iter().next().map(|(_, text)| Beginning {
            cwd: crate::samples::CWD.into(),
            began_at: crate::samples::start(),
            first_message: Some(text),
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
        let said = parsed(&bytes.map_err(unreadable(&path))?);
        Ok(said.into_iter().filter(|it| it.0 == "user").map(|it| it.1).collect())
    }

    fn turns_back(
        &self,
        files: &dyn Files,
        transcript: &Path,
        each: &mut EachTurn<'_>,
    ) -> Result<()> {
        let mut turns = turns(files, transcript)?;
        turns.reverse();
        let _stopped = turns.into_iter().try_for_each(each);
        Ok(())
    }

    fn turns(&self, files: &dyn Files, transcript: &Path, each: &mut EachTurn<'_>) -> Result<()> {
        let _stopped = turns(files, transcript)?.into_iter().try_for_each(each);
        Ok(())
    }
}

impl TranscriptFiles for FakeVendor {
    fn write_mode(&self) -> WriteMode {
        self.write_mode
    }

    fn endangered(&self, _files: &dyn Files, _place: &Place) -> Vec<PathBuf> {
        self.endangered.clone()
    }

    fn belongings(&self, place: &Place, id: &VendorSessionId) -> Option<PathBuf> {
        Some(place.config_dir.join(id.as_str()))
    }

    fn ancestors(&self, _files: &dyn Files, _transcript: &Path) -> Vec<PathBuf> {
        self.ancestors.clone()
    }
}

impl TranscriptDatabase for FakeVendor {}

fn turns(files: &dyn Files, transcript: &Path) -> Result<Vec<Turn>> {
    let role = |who: &str| if who == "user" { Role::User } else { Role::Assistant };
    let at: Option<Timestamp> = Some(crate::samples::start());
    let turn = |(who, text): (String, String)| Turn { at, ..Turn::new(role(&who), text) };
    Ok(lines(files, transcript)?.into_iter().map(turn).collect())
}

/// Returns the speaker and the text of each line of a transcript. A missing transcript is empty.
fn lines(files: &dyn Files, path: &Path) -> Result<Vec<(String, String)>> {
    match files.facts(path).map_err(unreadable(path))? {
        None => Ok(Vec::new()),
        Some(_) => Ok(parsed(&files.head(path, usize::MAX).map_err(unreadable(path))?)),
    }
}

fn parsed(bytes: &[u8]) -> Vec<(String, String)> {
    let text = String::from_utf8_lossy(bytes);
    let line =
        |line: &str| line.split_once(": ").map(|(who, text)| (who.to_owned(), text.to_owned()));
    text.lines().filter_map(line).collect()
}

fn unreadable(path: &Path) -> impl FnOnce(io::Error) -> Error {
    let path = path.display().to_string();
    move |error| Error::internal(format!("cannot read `{path}`")).caused_by(error)
}

/// Vendors of a world: one, and those that project files describe.
#[derive(Debug)]
pub struct FakeVendors(Mutex<Arc<FakeVendor>>);

impl FakeVendors {
    pub(crate) fn new(vendor: FakeVendor) -> Self {
        Self(Mutex::new(Arc::new(vendor)))
    }

    /// Replaces the vendor, for example with one that has lost a capability.
    pub fn replace(&self, vendor: FakeVendor) {
        *self.0.lock().unwrap() = Arc::new(vendor);
    }

    fn only(&self) -> Arc<FakeVendor> {
        Arc::clone(&self.0.lock().unwrap())
    }
}

impl Vendors for FakeVendors {
    fn get(&self, id: &VendorId) -> Result<Arc<dyn Vendor>> {
        let vendor = self.only();
        if vendor.id() == *id {
            return Ok(vendor);
        }
        Err(Error::not_found(format!("there is no vendor `{id}`")).hint("use `tool`"))
    }

    fn described(&self, _id: &VendorId, _description: &VendorDescription) -> Arc<dyn Vendor> {
        self.only()
    }

    fn all(&self) -> Vec<Arc<dyn Vendor>> {
        vec![self.only()]
    }
}
