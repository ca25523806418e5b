//! The sources of signals about a vendor's process.

use std::fmt::Debug;
use std::path::{Path, PathBuf};
use std::time::Duration;

use jiff::Timestamp;

use super::Place;
use crate::model::{Failure, ProcessRef, Signal, VendorSessionId};
use crate::ports::Files;

/// The sources of a vendor's signals: files, output, hooks and the terminal's title.
pub trait SignalSources: Debug + Send + Sync {
    /// Returns how long a launch may take to show which conversation it is in.
    fn evidence_timeout(&self) -> Duration;

    /// Returns the folders whose changes contain signals.
    fn watched(&self, _place: &Place) -> Vec<PathBuf> {
        Vec::new()
    }

    /// Returns additional folders whose changes contain signals about this conversation, or about
    /// one that a process starts now.
    fn watched_for(
        &self,
        _files: &dyn Files,
        _place: &Place,
        _id: Option<&VendorSessionId>,
        _now: Timestamp,
    ) -> Vec<PathBuf> {
        Vec::new()
    }

    /// Extracts signals about the launch's own process from a changed file.
    fn file_signals(
        &self,
        _files: &dyn Files,
        _changed: &Path,
        _agent: &ProcessRef,
    ) -> Vec<Signal> {
        Vec::new()
    }

    /// Extracts the signals from one line of a headless launch's output.
    fn stream_signals(&self, _line: &str) -> Vec<Signal> {
        Vec::new()
    }

    /// Extracts the signals from the data that the vendor passed to Segue's hook.
    fn hook_signals(&self, _payload: &str) -> Vec<Signal> {
        Vec::new()
    }

    /// Extracts the signals from the terminal's title.
    fn title_signals(&self, _title: &str) -> Vec<Signal> {
        Vec::new()
    }

    /// Extracts the reason for a failed launch from its last output on the terminal or on standard
    /// error. Used if no other source reported a reason.
    fn failure_in_output(&self, _errors: &str) -> Option<Failure> {
        None
    }
}
