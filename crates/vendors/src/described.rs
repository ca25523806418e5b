//! An agent CLI that a project file describes.

use std::path::{Path, PathBuf};

use segue_core::model::{
    Environment, LaunchMode, ProcessRef, Session, VendorDescription, VendorId, VendorSessionId,
};
use segue_core::ports::{
    Capabilities, CommandLine, CommandPlan, Conversation, Files, Live, Pace, Place, ProgramSpec,
    Signal, Vendor,
};
use segue_core::{Error, Result};
use uuid::Uuid;

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
        arguments.extend(plan.message.map(str::to_owned));
        Ok(CommandLine { arguments, files: Vec::new() })
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

    fn said_since(
        &self,
        _files: &dyn Files,
        _place: &Place,
        _id: &VendorSessionId,
        _offset: u64,
    ) -> Result<Vec<String>> {
        Ok(Vec::new())
    }
}
