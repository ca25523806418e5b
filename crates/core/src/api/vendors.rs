//! What `segue vendors` tells.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::model::VendorId;

/// Every vendor, and what there is of it on this machine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct VendorList {
    pub vendors: Vec<VendorReport>,
}

/// What a vendor can do, and what there is of it on this machine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct VendorReport {
    pub name: VendorId,
    /// What people call it.
    pub title: String,
    pub installed: bool,
    pub path: Option<PathBuf>,
    pub version: Option<String>,
    /// Where its conversations are for whoever asks.
    pub config_dir: Option<PathBuf>,
    /// What its support rests on.
    pub proof: String,
    pub versions_tried: Vec<String>,
    /// The installed version is newer than every version that was tried.
    #[serde(default)]
    pub newer_than_tried: bool,
    /// What can be done with it: `resume` a conversation, have it `verified` that it is the right
    /// one, run it `headless`, have its transcript `guarded` against deletion.
    pub capabilities: BTreeMap<String, bool>,
    /// What `segue vendors check` does not ask of it, and why.
    pub exempt: Vec<Exemption>,
    pub notes: Vec<String>,
    /// How its program is installed.
    pub install: String,
}

/// A behaviour that is not asked of a vendor.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Exemption {
    pub behaviour: String,
    pub why: String,
}
