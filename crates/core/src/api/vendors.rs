//! The report of `segue vendors`.

use std::collections::BTreeMap;
use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::model::VendorId;

/// Every vendor and its installation on this machine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct VendorList {
    pub vendors: Vec<VendorReport>,
}

/// What a vendor supports and how it is installed on this machine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct VendorReport {
    pub name: VendorId,
    /// The name of the vendor for users.
    pub title: String,
    pub installed: bool,
    pub path: Option<PathBuf>,
    pub version: Option<String>,
    /// The vendor's config folder for the caller's environment. It contains the conversations.
    pub config_dir: Option<PathBuf>,
    /// How the support for the vendor was tested.
    pub proof: String,
    pub versions_tried: Vec<String>,
    /// The installed version is newer than every tested version.
    #[serde(default)]
    pub newer_than_tried: bool,
    /// Which operations the vendor supports. `resume`: it can resume a conversation. `verified`: it
    /// shows that the resumed conversation is the right one. `headless`: it can run without a
    /// terminal. `guarded`: its transcripts are protected against deletion.
    pub capabilities: BTreeMap<String, bool>,
    /// The behaviours that `segue vendors check` does not test for this vendor, and why.
    pub exempt: Vec<Exemption>,
    pub notes: Vec<String>,
    /// How to install the vendor's program.
    pub install: String,
}

/// A behaviour that is not tested for a vendor.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Exemption {
    pub behaviour: String,
    pub why: String,
}
