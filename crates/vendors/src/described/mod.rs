//! A vendor that a project file describes.

mod content;
mod document;
mod fields;
mod message;
mod turns;

use std::path::{Path, PathBuf};

use segue_core::model::{
    Environment, LaunchMode, PermissionEffect, Resumes, Screen, Session, Showing,
    VendorDescription, VendorId, VendorSessionId,
};
use segue_core::ports::{
    Capabilities, CommandLine, CommandPlan, Conversation, EachTurn, Files, FirstTurn, Interaction,
    Launching, Pace, Place, ProgramSpec, Proof, Readiness, Support, TranscriptFiles,
    TranscriptStorage, Transcripts, Vendor,
};
use segue_core::{Error, Result};
use serde_json::Value;
use uuid::Uuid;

use crate::shared::reading::{self, ReadDirection};

/// The placeholder for the id of a conversation in a description.
const ID: &str = "{id}";

/// An agent CLI that is known only by its description in a project file.
#[derive(Clone, Debug)]
pub(crate) struct DescribedVendor {
    id: VendorId,
    description: VendorDescription,
    transcripts: Option<TranscriptPattern>,
}

/// The path of a transcript as the project file describes it, with a placeholder for the id.
#[derive(Clone, Debug)]
struct TranscriptPattern(String);

impl DescribedVendor {
    pub(crate) fn new(id: VendorId, description: VendorDescription) -> Self {
        let transcripts = description.transcript.clone().map(TranscriptPattern);
        Self { id, description, transcripts }
    }

    fn conversation_arguments(&self, plan: &CommandPlan<'_>) -> Vec<String> {
        let arguments = match plan.mode {
            LaunchMode::Fresh => self.description.new.as_deref(),
            LaunchMode::Resume => self.description.resume.as_deref(),
        };
        let id = plan.id.map_or("", VendorSessionId::as_str);
        arguments.unwrap_or_default().iter().map(|word| word.replace(ID, id)).collect()
    }
}

impl Vendor for DescribedVendor {
    fn id(&self) -> VendorId {
        self.id.clone()
    }

    fn capabilities(&self) -> Capabilities {
        let can_resume = self.description.resume.is_some();
        Capabilities {
            resume: if can_resume { Resumes::Yes } else { Resumes::No },
            permission: PermissionEffect::Nothing,
            first_turn: FirstTurn::ShowsNothing,
            pace: Pace { at_once: 8, first_alone: false },
        }
    }

    fn support(&self) -> Support {
        Support {
            title: "described in the project file",
            proof: Proof::Description,
            tried: &[],
            install: "the project file names the command",
            notes: &[
                "without the path of a transcript, Segue cannot verify what a resume restores",
            ],
        }
    }

    fn launching(&self) -> &dyn Launching {
        self
    }

    fn interaction(&self) -> &dyn Interaction {
        self
    }

    fn transcripts(&self) -> Option<&dyn Transcripts> {
        let transcripts = self.transcripts.as_ref()?;
        Some(transcripts)
    }
}

impl Launching for DescribedVendor {
    fn program(&self) -> ProgramSpec {
        let name = self.description.command.first().cloned().unwrap_or_default();
        ProgramSpec::Named { name, native: &[] }
    }

    fn config_dir(&self, environment: &Environment) -> Result<PathBuf> {
        environment.get("HOME").map(PathBuf::from).ok_or_else(|| {
            Error::config("HOME is not set").hint("run `export HOME=~` and try again")
        })
    }

    fn prepare_environment(&self, place: &Place, environment: &mut Environment) {
        environment.set("HOME", place.config_dir.to_string_lossy());
    }

    fn preset_id(&self, _session: &Session, unique: Uuid) -> Option<VendorSessionId> {
        let takes_id = self.description.new.as_ref()?.iter().any(|word| word.contains(ID));
        takes_id.then(|| VendorSessionId::new(unique.to_string()))
    }

    fn command(&self, plan: &CommandPlan<'_>) -> Result<CommandLine> {
        let mut arguments: Vec<String> = self.description.command.iter().skip(1).cloned().collect();
        arguments.extend(self.conversation_arguments(plan));
        arguments.extend(plan.session.args.iter().cloned());
        arguments.extend(plan.message.map(argument));
        Ok(CommandLine { arguments, files: Vec::new() })
    }
}

impl Transcripts for TranscriptPattern {
    fn storage(&self) -> TranscriptStorage<'_> {
        TranscriptStorage::Files(self)
    }

    fn transcript(&self, _files: &dyn Files, place: &Place, id: &VendorSessionId) -> PathBuf {
        let path = self.0.replace(ID, id.as_str());
        match path.strip_prefix("~/") {
            Some(below) => place.config_dir.join(below),
            None => place.cwd.join(path),
        }
    }

    fn conversation(
        &self,
        files: &dyn Files,
        place: &Place,
        id: &VendorSessionId,
    ) -> Result<Option<Conversation>> {
        let transcript = self.transcript(files, place, id);
        let facts = files.facts(&transcript).map_err(|error| {
            Error::vendor(format!("cannot read the metadata of `{}`", transcript.display()))
                .caused_by(error)
        })?;
        Ok(facts.filter(|facts| facts.length > 0).map(|facts| Conversation {
            id: id.clone(),
            transcript,
            cwd: place.cwd.clone(),
            began_at: facts.modified,
            first_message: None,
            turn_open: false,
            last_answer: None,
        }))
    }

    fn user_messages_since(
        &self,
        files: &dyn Files,
        place: &Place,
        id: &VendorSessionId,
        offset: u64,
    ) -> Result<Vec<String>> {
        let path = self.transcript(files, place, id);
        let mut texts = Vec::new();
        let read = reading::each_complete_line(files, &path, offset, |line| {
            if let Ok(record) = serde_json::from_slice(line) {
                collect_user_texts(&record, false, &mut texts);
            }
        });
        read.map_err(|error| {
            Error::vendor(format!("cannot read `{}`", path.display())).caused_by(error)
        })?;
        Ok(texts)
    }

    fn turns_back(
        &self,
        files: &dyn Files,
        transcript: &Path,
        each: &mut EachTurn<'_>,
    ) -> Result<()> {
        turns::read(files, transcript, ReadDirection::Back, each)
    }

    fn turns(&self, files: &dyn Files, transcript: &Path, each: &mut EachTurn<'_>) -> Result<()> {
        turns::read(files, transcript, ReadDirection::Forward, each)
    }
}

impl TranscriptFiles for TranscriptPattern {}

impl Interaction for DescribedVendor {
    /// Returns `Ready` for every screen, because the look of a ready screen is unknown. The caller
    /// waits until the agent has drawn a screen and draws no more.
    fn read_screen(&self, _screen: &Screen) -> Option<Showing> {
        Some(Showing::Ready)
    }

    fn readiness(&self) -> Readiness {
        Readiness::ShownUntilReported
    }
}

/// Returns a message as a command-line argument. A message that begins with a dash gets a leading
/// space, so that the program does not parse it as an option.
fn argument(message: &str) -> String {
    if message.starts_with('-') { format!(" {message}") } else { message.to_owned() }
}

/// Collects the texts of the user in a record of unknown format: all strings inside an object whose
/// author is the user.
fn collect_user_texts(record: &Value, is_from_user: bool, texts: &mut Vec<String>) {
    match record {
        Value::String(text) if is_from_user => texts.push(text.clone()),
        Value::Array(items) => {
            items.iter().for_each(|item| collect_user_texts(item, is_from_user, texts));
        }
        Value::Object(fields) => {
            let is_user = |key: &str| fields.get(key).and_then(Value::as_str) == Some("user");
            let is_from_user =
                is_from_user || ["role", "type", "author", "sender"].into_iter().any(is_user);
            fields.values().for_each(|value| collect_user_texts(value, is_from_user, texts));
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests;
