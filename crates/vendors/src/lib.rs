//! Support for agent CLIs, one folder per vendor: command lines, and readers for the files and the
//! output of the vendor's program. This crate spawns no process.
//!
//! A vendor's folder has a file for each topic: `mod` (the table of the vendor, and how well it is
//! supported), `paths`, `launch` (arguments), `records`, `transcript` and `turns` (reading),
//! `usage` (used tokens), `signals`, `screen`, `typing`, `failures`, `conversion` (writing),
//! `rehearsal` (how to try the vendor without an account). Code that several vendors share is in
//! `shared`. `described` is a vendor that a project file describes.

mod claude;
mod codex;
mod copilot;
mod cursor;
pub mod demo;
mod described;
mod gemini;
mod openclaw;
mod opencode;
mod pi;
mod shared;
#[cfg(test)]
mod testing;

use std::io;
use std::path::Path;
use std::sync::Arc;

use segue_core::model::{VendorDescription, VendorId};
use segue_core::ports::{Files, Vendor, Vendors};
use segue_core::{Error, Result};

/// Returns every vendor that this build supports. A new vendor is registered in this list.
pub fn all() -> BuiltInVendors {
    BuiltInVendors {
        vendors: vec![
            Arc::new(demo::VENDOR),
            Arc::new(claude::VENDOR),
            Arc::new(codex::VENDOR),
            Arc::new(copilot::VENDOR),
            Arc::new(cursor::VENDOR),
            Arc::new(openclaw::VENDOR),
            Arc::new(opencode::VENDOR),
            Arc::new(pi::VENDOR),
            Arc::new(gemini::VENDOR),
        ],
    }
}

/// Reads a file that contains one line of JSON as the parsers read a very long line: the middle of
/// each long string is removed. `None` if the result is still too long. For the fuzzer.
pub fn clipped(files: &dyn Files, path: &Path) -> io::Result<Option<Vec<u8>>> {
    let length = files.facts(path)?.map_or(0, |facts| facts.length);
    shared::reading::read_clipped(files, path, (0, length))
}

/// The vendors that this build supports.
#[derive(Clone, Debug)]
pub struct BuiltInVendors {
    vendors: Vec<Arc<dyn Vendor>>,
}

impl Vendors for BuiltInVendors {
    fn get(&self, id: &VendorId) -> Result<Arc<dyn Vendor>> {
        let found = self.vendors.iter().find(|vendor| vendor.id() == *id);
        found.cloned().ok_or_else(|| self.unknown(id))
    }

    fn described(&self, id: &VendorId, description: &VendorDescription) -> Arc<dyn Vendor> {
        Arc::new(described::DescribedVendor::new(id.clone(), description.clone()))
    }

    fn all(&self) -> Vec<Arc<dyn Vendor>> {
        self.vendors.clone()
    }
}

impl BuiltInVendors {
    fn unknown(&self, id: &VendorId) -> Error {
        let names: Vec<String> =
            self.vendors.iter().map(|vendor| format!("`{}`", vendor.id())).collect();
        let shown: String = id.as_str().chars().take(64).collect();
        Error::usage(format!("there is no vendor `{}`", shown.escape_debug()))
            .hint(format!("use one of the known vendors: {}", names.join(", ")))
    }
}

#[cfg(test)]
mod tests {
    use segue_core::Kind;

    use super::*;

    #[test]
    fn get_finds_every_vendor_by_its_id() {
        let known = all();
        for vendor in known.all() {
            assert_eq!(known.get(&vendor.id()).unwrap().id(), vendor.id());
        }
    }

    #[test]
    fn every_vendor_with_a_conversion_has_transcripts() {
        for vendor in all().all() {
            let has_conversion = vendor.conversion().is_some();
            assert!(!has_conversion || vendor.transcripts().is_some(), "{}", vendor.id());
        }
    }

    #[test]
    fn unknown_vendor_is_a_usage_error_that_lists_the_known_vendors() {
        let known = all();
        let error = known.get(&VendorId::new("nobody\u{1b}")).unwrap_err();
        assert_eq!(error.kind, Kind::Usage);
        assert_eq!(error.message, "there is no vendor `nobody\\u{1b}`");
        let names =
            known.all().iter().map(|vendor| format!("`{}`", vendor.id())).collect::<Vec<_>>();
        assert_eq!(error.hints, [format!("use one of the known vendors: {}", names.join(", "))]);
    }
}
