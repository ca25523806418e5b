//! Everything that depends on this machine: holders, terminals, processes, files, locks and the
//! clock.

mod belongings;
mod checkout;
mod contents;
mod failure;
mod folder;
mod git;
mod guard;
mod inherited;
mod leftovers;
mod version;

pub mod archive;
pub mod atomic;
pub mod beneath;
pub mod cgroup;
pub mod clock;
pub mod daemon;
pub mod descriptor;
pub mod environments;
pub mod failpoints;
pub mod files;
pub mod folders;
pub mod hold;
pub mod hook;
pub mod last_words;
pub mod listener;
pub mod lock;
pub mod machine;
mod notifier;
pub mod orphans;
pub mod pager;
pub mod paths;
pub mod peer;
pub mod process;
pub mod programs;
pub mod resident;
pub mod scope;
pub mod socket;
pub mod surroundings;
pub mod tools;
mod variables;
pub mod watch;

pub use clock::SystemClock;
pub use failure::quoted;
pub use files::LocalFiles;
pub use folders::DiskFolders;
pub use leftovers::LAUNCH_MARK;
pub use machine::LocalMachine;
pub use notifier::LocalNotifier;
pub use paths::Paths;
pub use surroundings::{Surroundings, has_variable};
pub use watch::Watcher;
