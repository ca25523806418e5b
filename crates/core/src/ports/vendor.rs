//! One agent CLI: what to start, and what its files and output mean. It starts nothing.

use std::fmt::Debug;
use std::io;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use uuid::Uuid;

use super::{Files, Rehearsal, Stage, Support, Transcription, TranscriptionOrder};
use crate::error::Result;
use crate::model::{
    Environment, Evidence, Failure, LaunchMode, ProcessRef, Session, Source, Turn,
    VendorDescription, VendorId, VendorSessionId, WaitingFor,
};
use crate::rules::{address, dialog};

/// The vendors that this build can drive.
pub trait Vendors: Debug + Send + Sync {
    /// Returns a vendor; an unknown one is an error that lists the known.
    fn get(&self, id: &VendorId) -> Result<Arc<dyn Vendor>>;

    /// Returns the vendor that a person means by a word: its name, or the only one that begins so.
    fn named(&self, word: &str) -> Result<Arc<dyn Vendor>> {
        let ids: Vec<VendorId> = self.all().iter().map(|vendor| vendor.id()).collect();
        let names: Vec<&str> = ids.iter().map(VendorId::as_str).collect();
        match address::find_name(&names, word) {
            Ok(name) => self.get(&VendorId::new(name)),
            Err(unclear) => match self.get(&VendorId::new(word)) {
                Ok(vendor) => Ok(vendor),
                Err(unknown) => Err(unclear.explain(word, unknown)),
            },
        }
    }

    /// Returns a vendor that a project file describes.
    fn described(&self, id: &VendorId, description: &VendorDescription) -> Arc<dyn Vendor>;

    /// Returns the vendor of a session.
    fn of(&self, session: &Session) -> Result<Arc<dyn Vendor>> {
        match &session.description {
            Some(description) => Ok(self.described(&session.vendor, description)),
            None => self.get(&session.vendor),
        }
    }

    fn all(&self) -> Vec<Arc<dyn Vendor>>;
}

/// One agent CLI.
pub trait Vendor: Debug + Send + Sync {
    fn id(&self) -> VendorId;

    fn capabilities(&self) -> Capabilities;

    /// Says how well it is supported.
    fn support(&self) -> Support;

    /// Tells whether a session's permission decides what it may do without asking. If not, another
    /// agent could get out of its own limits by starting one.
    fn keeps_permission(&self) -> bool {
        true
    }

    /// Returns what its program needs to be tried without an account; none where it cannot be tried.
    fn rehearsal(&self, _stage: &Stage<'_>) -> Option<Rehearsal> {
        None
    }

    /// Says how the program is found.
    fn program(&self) -> ProgramSpec;

    /// Returns the folder in which this vendor keeps its files, given an agent's environment.
    fn config_dir(&self, environment: &Environment) -> Result<PathBuf>;

    /// Adds what makes the vendor use that folder, and takes out what would make it think that it
    /// runs inside another agent.
    fn prepare_environment(&self, place: &Place, environment: &mut Environment);

    /// Adds what this session's launch can be told by its environment alone; `folder` is the launch's
    /// own.
    fn tell_environment(&self, _session: &Session, _folder: &Path, _environment: &mut Environment) {
    }

    /// Makes an id that the vendor will accept, if it can be told one for this session. `unique` is
    /// a UUIDv7.
    fn preset_id(&self, session: &Session, unique: Uuid) -> Option<VendorSessionId>;

    /// Tells whether a conversation can be begun under this id: nothing is in its place.
    fn is_free(&self, files: &dyn Files, place: &Place, id: &VendorSessionId) -> bool {
        let transcript = self.transcript(files, place, id);
        !matches!(files.facts(&transcript), Ok(Some(_)))
    }

    /// Returns the vendor's arguments for a launch.
    fn command(&self, plan: &CommandPlan<'_>) -> Result<CommandLine>;

    /// Tells whether an agent's first turn shows if the service takes its account: then one of many
    /// goes ahead, and the others follow when it has shown that.
    fn shows_account(&self) -> bool {
        true
    }

    /// Returns the arguments with which the program is run to its end right before the launch that
    /// needs it; it may be run again. None where nothing has to be prepared.
    fn preparation(&self, _plan: &CommandPlan<'_>) -> Option<Vec<String>> {
        None
    }

    /// Returns the variables that the preparation is given beside those of the launch, as `NAME=value`.
    fn preparation_variables(&self, _plan: &CommandPlan<'_>) -> Vec<String> {
        Vec::new()
    }

    /// Returns which of the launch's files a headless launch reads as its standard input; none where
    /// it reads nothing.
    fn standard_input(&self, _plan: &CommandPlan<'_>) -> Option<PathBuf> {
        None
    }

    /// Tells whether its conversations are in files that can be looked at.
    fn keeps_transcripts(&self) -> bool {
        true
    }

    /// Tells whether each conversation has a file of its own, which can be linked, mended and
    /// deleted; a database has all of them.
    fn has_own_files(&self) -> bool {
        true
    }

    /// Tells whether its transcripts only grow, and one that is deleted is begun anew by whoever
    /// writes it: such a file lacks what was said before.
    fn only_appends(&self) -> bool {
        false
    }

    /// Returns where the conversation's transcript is, or would be.
    fn transcript(&self, files: &dyn Files, place: &Place, id: &VendorSessionId) -> PathBuf;

    /// Returns how much the transcript has: what is said later is behind it. None where there is
    /// none.
    fn extent(&self, files: &dyn Files, place: &Place, id: &VendorSessionId) -> Option<u64> {
        let transcript = self.transcript(files, place, id);
        files.facts(&transcript).ok().flatten().map(|facts| facts.length)
    }

    /// Returns where the conversation's transcript is put back when it is gone; its guard has this
    /// name.
    fn restored_as(&self, files: &dyn Files, place: &Place, id: &VendorSessionId) -> PathBuf {
        self.transcript(files, place, id)
    }

    /// Lists the transcripts of others that a start in this place may delete.
    fn endangered(&self, _files: &dyn Files, _place: &Place) -> Vec<PathBuf> {
        Vec::new()
    }

    /// Returns the folder of files that belong to the transcript, where the vendor has one.
    fn belongings(&self, _place: &Place, _id: &VendorSessionId) -> Option<PathBuf> {
        None
    }

    /// Reads what is needed to decide about one conversation; `None` when there is none.
    fn conversation(
        &self,
        files: &dyn Files,
        place: &Place,
        id: &VendorSessionId,
    ) -> Result<Option<Conversation>>;

    /// Lists the conversations that were begun in this folder.
    fn conversations(&self, files: &dyn Files, place: &Place) -> Result<Vec<Conversation>>;

    /// Lists everything that the vendor keeps below a config dir, from whichever folder; only names
    /// and times are looked at.
    fn kept(&self, _files: &dyn Files, _config_dir: &Path) -> io::Result<Vec<Kept>> {
        Ok(Vec::new())
    }

    /// Reads how a conversation begins; `None` where nothing was said in it, or not by a person.
    fn beginning(&self, _files: &dyn Files, _kept: &Kept) -> io::Result<Option<Beginning>> {
        Ok(None)
    }

    /// Lists which processes say that they have which conversation open.
    fn live(&self, files: &dyn Files, place: &Place) -> Result<Vec<Live>>;

    /// Returns the folders whose changes carry signals.
    fn watched(&self, place: &Place) -> Vec<PathBuf>;

    /// Returns the further folders whose changes carry signals about this very conversation, and
    /// about one that a process begins now.
    fn watched_for(
        &self,
        _files: &dyn Files,
        _place: &Place,
        _id: Option<&VendorSessionId>,
        _now: Timestamp,
    ) -> Vec<PathBuf> {
        Vec::new()
    }

    /// Reads the signals of the launch's own process from a changed file.
    fn file_signals(&self, files: &dyn Files, changed: &Path, agent: &ProcessRef) -> Vec<Signal>;

    /// Reads the signals in one line of a headless launch's output.
    fn stream_signals(&self, line: &str) -> Vec<Signal>;

    /// Reads why a launch failed from what it wrote at its end, on its terminal or its standard error,
    /// where nothing else has told.
    fn last_words(&self, _errors: &str) -> Option<Failure> {
        None
    }

    /// Reads the signals in what the vendor told our hook.
    fn hook_signals(&self, _payload: &str) -> Vec<Signal> {
        Vec::new()
    }

    /// Reads the signals in the terminal's title.
    fn title_signals(&self, _title: &str) -> Vec<Signal> {
        Vec::new()
    }

    /// Tells what the screen shows; none where that cannot be told.
    fn read_screen(&self, _screen: &Screen) -> Option<Showing> {
        None
    }

    /// Returns the words and the choices of the question on the screen.
    fn dialog_text(&self, screen: &Screen) -> Option<DialogText> {
        dialog::read(&screen.rows)
    }

    /// Returns how long a question has to be on the screen before it takes keys: this version of the
    /// program ignores earlier ones, because a person could not have read it yet.
    fn question_ignores_keys_for(&self, _version: Option<&str>) -> Duration {
        Duration::ZERO
    }

    /// Says who tells that its input takes something.
    fn readiness(&self) -> Readiness {
        match self.capabilities().evidence_within {
            Some(_) => Readiness::Said,
            None => Readiness::ShownUntilSaid,
        }
    }

    /// Says how a message is typed, and as what it will be found in the transcript.
    fn typing(&self, message: &str) -> Typing {
        Typing { text: message.to_owned(), recorded_as: message.to_owned() }
    }

    /// Returns the keys that give this answer to the dialog on the screen; none where the screen
    /// shows no dialog that has it.
    fn answer(&self, _screen: &Screen, _answer: &Answer) -> Option<Vec<u8>> {
        None
    }

    /// Returns the keys that break off a turn.
    fn interrupt(&self) -> Vec<u8> {
        b"\x1b".to_vec()
    }

    /// Returns what the transcript records as said by the user behind this extent, the oldest first.
    /// The vendor's own additions are left out.
    fn said_since(
        &self,
        files: &dyn Files,
        place: &Place,
        id: &VendorSessionId,
        offset: u64,
    ) -> Result<Vec<String>>;

    /// Reads the conversation that a transcript has now from its newest turn to its oldest, until it
    /// is told to stop. What is torn, unknown, or was left for another branch is no turn; no more of
    /// the file is held than a few lines.
    fn turns_back(
        &self,
        _files: &dyn Files,
        _transcript: &Path,
        _each: &mut EachTurn<'_>,
    ) -> Result<()> {
        Ok(())
    }

    /// Reads the same turns from the oldest to the newest.
    fn turns(
        &self,
        _files: &dyn Files,
        _transcript: &Path,
        _each: &mut EachTurn<'_>,
    ) -> Result<()> {
        Ok(())
    }

    /// Says how a conversation becomes one of this vendor's; none where it takes none.
    fn transcription(&self, _order: &TranscriptionOrder<'_>) -> Result<Option<Transcription>> {
        Ok(None)
    }

    /// Returns how many characters of a conversation its usual model is sure to hold beside what it is
    /// told otherwise: of more, the vendor would leave something out by itself.
    fn room(&self) -> usize {
        200_000
    }

    /// Returns the other transcripts without which this one cannot be read or resumed.
    fn ancestors(&self, _files: &dyn Files, _transcript: &Path) -> Vec<PathBuf> {
        Vec::new()
    }

    /// Returns a conversation that has no file of its own as its program would take it in again;
    /// none where there is none, or it has a file.
    fn export(&self, _place: &Place, _id: &VendorSessionId) -> Result<Option<Vec<u8>>> {
        Ok(None)
    }
}

/// Is given one turn after the other, and says whether it wants more.
pub type EachTurn<'a> = dyn FnMut(Turn) -> ControlFlow<()> + 'a;

/// What a vendor can do; asked before it is asked to do it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Capabilities {
    pub resume: bool,
    pub headless: bool,
    /// How long a launch may take to show which conversation it is in; none where launches never
    /// do, so that a resume stays unverified.
    pub evidence_within: Option<Duration>,
    pub pace: Pace,
}

/// How launches of one account are started.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pace {
    /// How many may be starting at the same time.
    pub at_once: usize,
    /// The first one has to be up before there is a second: it sets up files that two at once would
    /// spoil.
    pub first_alone: bool,
}

/// How a vendor's program is found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ProgramSpec {
    /// This very program, with a subcommand.
    Itself { subcommand: &'static str },
    /// A program of this name.
    Named {
        name: String,
        /// Where the program itself may be if what was found is only a script that starts it,
        /// relative to the folder that the script is really in; the first that exists is taken.
        native: &'static [&'static str],
    },
}

impl ProgramSpec {
    /// Says that the program was not found, and which one that is.
    pub fn absence(&self) -> String {
        match self {
            Self::Named { name, .. } if name.contains('/') => {
                format!("`{name}` is not a program with an absolute path")
            }
            Self::Named { name, .. } => {
                format!("`{name}` is neither in PATH nor in the usual places")
            }
            Self::Itself { subcommand } => format!("`segue {subcommand}` cannot be found"),
        }
    }
}

/// Where a vendor's conversation is at home.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Place {
    pub config_dir: PathBuf,
    pub cwd: PathBuf,
}

/// What a command line is asked to do.
#[derive(Clone, Debug)]
pub struct CommandPlan<'a> {
    pub session: &'a Session,
    /// The version of the program, if its place tells.
    pub version: Option<&'a str>,
    pub mode: LaunchMode,
    pub id: Option<&'a VendorSessionId>,
    pub message: Option<&'a str>,
    /// A conversation that the program has to take in before the launch that goes on with it.
    pub import: Option<&'a Path>,
    /// For reading what the vendor's own settings say.
    pub files: &'a dyn Files,
    /// The launch's own folder, for files that only this launch needs.
    pub folder: &'a Path,
    /// The shell command that a vendor calls as its hook, with the payload on standard input.
    pub hook: &'a str,
    pub now: Timestamp,
}

/// A vendor's arguments, without the program, and the files that they need.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CommandLine {
    pub arguments: Vec<String>,
    /// Written before the start, unless they are there already.
    pub files: Vec<NewFile>,
}

/// A file that is to be there before a launch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewFile {
    pub path: PathBuf,
    pub contents: String,
}

/// A conversation as far as decisions need it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Conversation {
    pub id: VendorSessionId,
    pub transcript: PathBuf,
    pub cwd: PathBuf,
    pub began_at: Timestamp,
    /// The first thing that its user said; none while nothing was said.
    pub first_message: Option<String>,
    /// The last turn has no end: it was cut off, or still runs.
    pub turn_open: bool,
    /// What the agent said last in a turn that has ended.
    pub last_answer: Option<String>,
}

/// A conversation of which only its name and its time are known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kept {
    pub id: VendorSessionId,
    pub transcript: PathBuf,
    pub modified: Timestamp,
}

/// How a conversation begins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Beginning {
    pub cwd: PathBuf,
    pub began_at: Timestamp,
    pub first_message: Option<String>,
}

/// A process that says that it has a conversation open.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Live {
    pub pid: u32,
    /// Clock ticks since boot at which it began, where the vendor writes that down: a file left by
    /// a crash names a number that another process may have by now.
    pub started: Option<u64>,
    pub id: VendorSessionId,
}

/// What a vendor's process shows about itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Signal {
    /// It is in this conversation.
    Conversation {
        id: VendorSessionId,
        evidence: Evidence,
    },
    Activity {
        activity: Activity,
        source: Source,
    },
    /// A turn ended, well or not.
    TurnEnded {
        ok: bool,
        text: String,
        failure: Option<Failure>,
    },
}

/// What the agent does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Activity {
    Working,
    Idle,
    Waiting(WaitingFor),
}

/// What an agent's terminal shows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Screen {
    /// The rows from the top, without the spaces at their ends.
    pub rows: Vec<String>,
    /// The same without what is drawn faint: hints and placeholders, which nobody typed.
    pub firm_rows: Vec<String>,
    pub title: String,
    /// Row and column, from 0; none while it is hidden.
    pub cursor: Option<(u16, u16)>,
    /// Grows with everything that the agent draws and anybody types.
    pub revision: u64,
}

/// What a screen means for whoever wants to type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Showing {
    /// The input is there, and empty.
    Ready,
    /// Somebody's text is in the input.
    Draft,
    /// The agent works.
    Busy,
    /// A dialog wants an answer.
    Dialog(WaitingFor),
}

/// Who tells that an agent's input takes something: it may be drawn before it does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Readiness {
    /// The vendor says so itself, and is waited for.
    Said,
    /// The screen, until the vendor has said anything; of a launch that is told its first message
    /// when it starts, the vendor says how that went.
    ShownUntilSaid,
    /// The screen, always: nothing else tells.
    Shown,
}

/// How a message is typed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Typing {
    /// Pasted in one piece, then sent with Enter.
    pub text: String,
    /// What the transcript will have.
    pub recorded_as: String,
}

/// What a dialog on a screen asks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DialogText {
    pub question: String,
    /// Nothing was left out of the question.
    pub is_whole: bool,
    pub choices: Vec<String>,
}

/// A person's answer to a dialog.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    Yes,
    No,
    /// One of the choices, by its number or the beginning of its words.
    Choice(String),
}
