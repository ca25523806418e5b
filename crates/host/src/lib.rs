//! Everything that depends on this machine: holders, terminals, processes, files, locks and the
//! clock.

mod checkout;
mod companion_files;
mod failure;
mod folder;
mod git;
mod guard;
mod inherited_descriptors;
mod leftovers;
mod notifier;
mod own_folder;
mod removal;
mod staged_file;
mod variables;
mod version;

pub mod archive;
pub mod atomic;
pub mod cgroup;
pub mod clock;
pub mod confined;
pub mod daemon;
pub mod daemon_process;
pub mod descriptor;
pub mod environments;
pub mod failpoints;
pub mod files;
pub mod folders;
pub mod hold;
pub mod hook;
pub mod last_output;
pub mod listener;
pub mod lock;
pub mod machine;
pub mod orphans;
pub mod pager;
pub mod paths;
pub mod peer;
pub mod process;
pub mod process_context;
pub mod programs;
pub mod scope;
pub mod socket;
pub mod tools;
pub mod watch;

pub use clock::SystemClock;
pub use failure::quoted;
pub use files::LocalFiles;
pub use folders::DiskFolders;
pub use leftovers::LAUNCH_MARK;
pub use machine::LocalMachine;
pub use notifier::LocalNotifier;
pub use paths::Paths;
pub use process_context::{ProcessContext, has_variable};
pub use watch::Watcher;
