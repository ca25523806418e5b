//! How well a vendor is supported, and what its program needs to be tested without an account.

use std::path::Path;

use super::NewFile;

/// How well a vendor is supported, as data for users.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Support {
    /// The name of the vendor for users.
    pub title: &'static str,
    pub proof: Proof,
    /// The versions of its program that were tested, newest last.
    pub tried: &'static [&'static str],
    /// How to install its program.
    pub install: &'static str,
    /// Notes for users of this vendor.
    pub notes: &'static [&'static str],
}

/// What the support of a vendor is based on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Proof {
    /// The vendor is part of Segue.
    BuiltIn,
    /// The real program was tested.
    Program,
    /// Only recordings and public documentation of the program were available.
    Recordings,
    /// The vendor is described in a project file.
    Description,
}

/// A test environment for a vendor's program. It contains no data of a real user.
#[derive(Clone, Copy, Debug)]
pub struct TrialSetup<'a> {
    /// A new home folder.
    pub home: &'a Path,
    /// The folder to work in, without symlinks.
    pub project: &'a Path,
    /// A folder that all tests of a run share, for files that a program unpacks before its first
    /// start.
    pub shared: &'a Path,
    /// The address of the scripted model, without a path.
    pub model: &'a str,
    /// An API key that is not valid anywhere.
    pub key: &'a str,
}

impl TrialSetup<'static> {
    /// Returns a placeholder for callers that only need the data of a [`Rehearsal`] and do not run
    /// it.
    pub fn placeholder() -> Self {
        let root = Path::new("/");
        Self { home: root, project: root, shared: root, model: "", key: "" }
    }
}

/// The minimal configuration with which a vendor's program uses the scripted model and asks no
/// questions first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rehearsal {
    pub environment: Vec<(&'static str, String)>,
    pub files: Vec<NewFile>,
    /// The command that a user types to start another conversation in the same process.
    pub new_conversation_command: Option<&'static str>,
    /// A model that is not the default model.
    pub other_model: Option<&'static str>,
    /// The conformance behaviours that do not apply to this vendor, each with the reason.
    pub exempt: &'static [(&'static str, &'static str)],
}
