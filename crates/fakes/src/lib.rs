//! Implementations of every port in memory: deterministic, observable, and able to fail.
//!
//! [`FakeWorld`] has one fake for each port. A test sets it up, runs a flow with
//! [`FakeWorld::ports`], and then looks at the fakes. [`Calls`] lists what was called, in order, and
//! makes a chosen call fail.
//!
//! This crate depends on `core` alone, so that the tests of `core` can use it.

#![expect(clippy::unwrap_used, reason = "a panic fails the test")]
#![expect(clippy::significant_drop_tightening, reason = "nothing waits for the locks of a test")]

mod archive;
mod calls;
mod checkouts;
mod clock;
mod conversion;
mod credentials;
mod disk;
mod disk_meter;
mod files;
mod folders;
mod forges;
mod holders;
mod machine;
pub mod samples;
mod sources;
mod store;
mod terminals;
mod transcript;
mod usage;
mod user;
mod vendor;
mod vendors;

use std::sync::Arc;

use segue_core::ports::Ports;

pub use archive::FakeArchive;
pub use calls::Calls;
pub use checkouts::FakeCheckouts;
pub use clock::FakeClock;
pub use conversion::FakeConversion;
pub use credentials::FakeCredentials;
pub use disk::Disk;
pub use disk_meter::FakeDiskMeter;
pub use files::FakeFiles;
pub use folders::FakeFolders;
pub use forges::{FakeForgeState, FakeForges};
pub use holders::FakeHolders;
pub use machine::FakeMachine;
pub use sources::FakeSources;
pub use store::FakeStore;
pub use terminals::{FakeTerminal, FakeTerminals};
pub use transcript::transcript_line;
pub use user::{FakeCommands, FakeEnvironments, FakeNotifier, FakeProjects, FakeWatchers};
pub use vendor::{FakeVendor, Storage};
pub use vendors::FakeVendors;

/// One fake for each port. They share a disk and a list of calls.
#[derive(Clone, Debug)]
pub struct FakeWorld {
    pub calls: Calls,
    pub disk: Disk,
    pub store: Arc<FakeStore>,
    pub vendors: Arc<FakeVendors>,
    pub holders: Arc<FakeHolders>,
    pub folders: Arc<FakeFolders>,
    pub archive: Arc<FakeArchive>,
    pub checkouts: Arc<FakeCheckouts>,
    pub files: Arc<FakeFiles>,
    pub machine: Arc<FakeMachine>,
    pub terminals: FakeTerminals,
    pub projects: Arc<FakeProjects>,
    pub watchers: FakeWatchers,
    pub environments: Arc<FakeEnvironments>,
    pub credentials: Arc<FakeCredentials>,
    pub forges: FakeForges,
    pub sources: Arc<FakeSources>,
    pub notifier: Arc<FakeNotifier>,
    pub commands: Arc<FakeCommands>,
    pub meter: Arc<FakeDiskMeter>,
    pub clock: Arc<FakeClock>,
}

impl FakeWorld {
    /// Creates a world in which a program of the vendor `tool` is installed, and the folder
    /// [`samples::CWD`] exists.
    pub fn new() -> Self {
        Self::with_vendor(FakeVendor::default())
    }

    /// Creates a world with this vendor. [`FakeVendors::put`] adds more.
    pub fn with_vendor(vendor: FakeVendor) -> Self {
        let (calls, disk) = (Calls::default(), Disk::default());
        let clock = Arc::new(FakeClock::default());
        disk.create_folder(samples::CWD);
        let folders = Arc::new(FakeFolders::new(calls.clone(), disk.clone()));
        let forges = FakeForges::new(calls.clone());
        Self {
            store: Arc::new(FakeStore::new(calls.clone())),
            vendors: Arc::new(FakeVendors::new(vendor)),
            holders: Arc::new(FakeHolders::new(calls.clone(), Arc::clone(&folders))),
            archive: Arc::new(FakeArchive::new(calls.clone(), disk.clone())),
            checkouts: Arc::new(FakeCheckouts::new(
                calls.clone(),
                disk.clone(),
                Arc::clone(&clock),
            )),
            files: Arc::new(FakeFiles::new(calls.clone(), disk.clone())),
            machine: Arc::new(FakeMachine::new(calls.clone(), disk.clone())),
            terminals: FakeTerminals::new(calls.clone()),
            projects: Arc::new(FakeProjects::new(calls.clone())),
            watchers: FakeWatchers::default(),
            environments: Arc::new(FakeEnvironments::new(calls.clone())),
            credentials: Arc::new(FakeCredentials::new(calls.clone())),
            sources: Arc::new(FakeSources::new(calls.clone(), forges.clone())),
            forges,
            notifier: Arc::default(),
            commands: Arc::default(),
            meter: Arc::new(FakeDiskMeter::new(disk.clone())),
            clock,
            folders,
            calls,
            disk,
        }
    }

    /// Returns the fakes as ports.
    pub fn ports(&self) -> Ports {
        Ports {
            store: self.store.clone(),
            vendors: self.vendors.clone(),
            holders: self.holders.clone(),
            folders: self.folders.clone(),
            archive: self.archive.clone(),
            checkouts: self.checkouts.clone(),
            files: self.files.clone(),
            machine: self.machine.clone(),
            projects: self.projects.clone(),
            watchers: Arc::new(self.watchers.clone()),
            environments: self.environments.clone(),
            credentials: self.credentials.clone(),
            notifier: self.notifier.clone(),
            commands: self.commands.clone(),
            sources: self.sources.clone(),
            disk: self.meter.clone(),
            clock: self.clock.clone(),
        }
    }
}

impl Default for FakeWorld {
    fn default() -> Self {
        Self::new()
    }
}
