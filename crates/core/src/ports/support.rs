//! How well a vendor is supported, and what its program needs to be tried without an account.

use std::path::Path;

use super::NewFile;

/// What people are told about the support of a vendor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Support {
    /// What people call it.
    pub title: &'static str,
    pub proof: Proof,
    /// The versions of its program that it was tried with, the newest last.
    pub tried: &'static [&'static str],
    /// How its program is installed.
    pub install: &'static str,
    /// What its users had better know.
    pub notes: &'static [&'static str],
}

/// What the support of a vendor rests on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Proof {
    /// It is part of Segue.
    BuiltIn,
    /// Its real program was tried.
    Program,
    /// Only recordings and public descriptions of its program were to be had.
    Recordings,
    /// Somebody else describes it.
    Description,
}

/// Where a vendor's program is tried: nothing in it is anybody's own.
#[derive(Clone, Copy, Debug)]
pub struct Stage<'a> {
    /// A fresh home.
    pub home: &'a Path,
    /// The real path of the folder to work in.
    pub project: &'a Path,
    /// A folder that all trials of a run share, for what a program unpacks before its first start.
    pub shared: &'a Path,
    /// The address of the scripted model, without a path.
    pub model: &'a str,
    /// A key that opens nothing.
    pub key: &'a str,
}

impl Stage<'static> {
    /// Returns a stage for whoever wants to know about a rehearsal and does not hold it.
    pub fn nowhere() -> Self {
        let root = Path::new("/");
        Self { home: root, project: root, shared: root, model: "", key: "" }
    }
}

/// The least with which a vendor's program talks to the scripted model and asks nothing first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rehearsal {
    pub environment: Vec<(&'static str, String)>,
    pub files: Vec<NewFile>,
    /// What a person types to begin another conversation in the same process.
    pub anew: Option<&'static str>,
    /// A model other than the one that is taken unless another is asked for.
    pub other_model: Option<&'static str>,
    /// The behaviours that cannot be asked of this vendor, and why.
    pub exempt: &'static [(&'static str, &'static str)],
}
