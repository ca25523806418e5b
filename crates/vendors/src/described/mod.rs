//! An agent CLI that a project file describes.

mod content;
mod document;
mod message;
mod turns;
mod words;

use std::path::{Path, PathBuf};

use segue_core::model::{
    Environment, LaunchMode, ProcessRef, Session, VendorDescription, VendorId, VendorSessionId,
};
use segue_core::ports::{
    Capabilities, CommandLine, CommandPlan, Conversation, EachTurn, Files, Live, Pace, Place,
    ProgramSpec, Proof, Screen, Showing, Signal, Support, Vendor,
};
use segue_core::{Error, Result};
use serde_json::Value;
use uuid::Uuid;

use crate::lines;

/// What stands for the id of a conversation in a description.
const ID: &str = "{id}";

/// An agent CLI of which only its description is known.
#[derive(Clone, Debug)]
pub(crate) struct Described {
    id: VendorId,
    description: VendorDescription,
}

impl Described {
    pub(crate) fn new(id: VendorId, description: VendorDescription) -> Self {
        Self { id, description }
    }

    fn identity(&self, plan: &CommandPlan<'_>) -> Vec<String> {
        let words = match plan.mode {
            LaunchMode::Fresh => self.description.new.as_deref(),
            LaunchMode::Resume => self.description.resume.as_deref(),
        };
        let id = plan.id.map_or("", VendorSessionId::as_str);
        words.unwrap_or_default().iter().map(|word| word.replace(ID, id)).collect()
    }
}

impl Vendor for Described {
    fn id(&self) -> VendorId {
        self.id.clone()
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities {
            resume: self.description.resume.is_some(),
            headless: false,
            evidence_within: None,
            pace: Pace { at_once: 8, first_alone: false },
        }
    }

    fn support(&self) -> Support {
        Support {
            title: "described in the project file",
            proof: Proof::Description,
            tried: &[],
            install: "its project file names the command",
            notes: &["what a resume brings back is unverified unless it names a transcript"],
        }
    }

    fn keeps_permission(&self) -> bool {
        false
    }

    fn program(&self) -> ProgramSpec {
        let name = self.description.command.first().cloned().unwrap_or_default();
        ProgramSpec::Named { name, native: &[] }
    }

    fn config_dir(&self, environment: &Environment) -> Result<PathBuf> {
        environment.get("HOME").map(PathBuf::from).ok_or_else(|| {
            Error::config("HOME is not set").hint("set HOME to the folder of the user")
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
        arguments.extend(self.identity(plan));
        arguments.extend(plan.session.args.iter().cloned());
        arguments.extend(plan.message.map(argument));
        Ok(CommandLine { arguments, files: Vec::new() })
    }

    fn shows_account(&self) -> bool {
        false
    }

    fn keeps_transcripts(&self) -> bool {
        self.description.transcript.is_some()
    }

    fn transcript(&self, _files: &dyn Files, place: &Place, id: &VendorSessionId) -> PathBuf {
        let pattern = self.description.transcript.as_deref().unwrap_or_default();
        let path = pattern.replace(ID, id.as_str());
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
            Error::vendor(format!("cannot look at `{}`", transcript.display())).caused_by(error)
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

    fn conversations(&self, _files: &dyn Files, _place: &Place) -> Result<Vec<Conversation>> {
        Ok(Vec::new())
    }

    fn live(&self, _files: &dyn Files, _place: &Place) -> Result<Vec<Live>> {
        Ok(Vec::new())
    }

    fn watched(&self, _place: &Place) -> Vec<PathBuf> {
        Vec::new()
    }

    fn file_signals(&self, _: &dyn Files, _: &Path, _: &ProcessRef) -> Vec<Signal> {
        Vec::new()
    }

    fn stream_signals(&self, _line: &str) -> Vec<Signal> {
        Vec::new()
    }

    /// Nothing else tells when such an agent is done: one that has drawn and is quiet can be told
    /// something.
    fn read_screen(&self, _screen: &Screen) -> Option<Showing> {
        Some(Showing::Ready)
    }

    fn said_since(
        &self,
        files: &dyn Files,
        place: &Place,
        id: &VendorSessionId,
        offset: u64,
    ) -> Result<Vec<String>> {
        let path = self.transcript(files, place, id);
        if !self.keeps_transcripts() {
            return Err(Error::vendor(format!("`{}` keeps no transcript", self.id)));
        }
        let mut said = Vec::new();
        let read = lines::each_from(files, &path, offset, |line| {
            if let Ok(record) = serde_json::from_slice(line) {
                collect_said(&record, false, &mut said);
            }
        });
        read.map_err(|error| {
            Error::vendor(format!("cannot read `{}`", path.display())).caused_by(error)
        })?;
        Ok(said)
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

/// Returns a message as a word of the command line. Nobody knows what such a program takes for an
/// option, but one that begins with a space is none.
fn argument(message: &str) -> String {
    if message.starts_with('-') { format!(" {message}") } else { message.to_owned() }
}

/// Collects every text of the user in a record of unknown shape: whatever is below an object that
/// says that it is the user's.
fn collect_said(record: &Value, is_users: bool, said: &mut Vec<String>) {
    match record {
        Value::String(text) if is_users => said.push(text.clone()),
        Value::Array(items) => items.iter().for_each(|item| collect_said(item, is_users, said)),
        Value::Object(fields) => {
            let says = |key: &str| fields.get(key).and_then(Value::as_str) == Some("user");
            let is_users = is_users || ["role", "type", "author", "sender"].into_iter().any(says);
            fields.values().for_each(|value| collect_said(value, is_users, said));
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests;
