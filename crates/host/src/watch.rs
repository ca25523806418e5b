//! Watches folders for changes. The kernel reports them (inotify). Only `Lookout` polls, if no
//! watch is available.
//!
//! If a folder does not exist yet, its nearest existing ancestor is watched until the folder
//! appears. The rename of a folder *above* a watched one is not noticed.
//!
//! The kernel limits how many folders a user can watch. [`Error`]s about that have the kind
//! [`Unavailable`](segue_core::Kind::Unavailable) and name the setting.

use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};
use std::ffi::{OsStr, OsString};
use std::fs;
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use async_trait::async_trait;
use rustix::fs::inotify::{self, CreateFlags, ReadFlags, WatchFlags};
use rustix::io::Errno;
use segue_core::ports::{FolderChange, FolderWatcher, FolderWatchers};
use segue_core::{Error, Result};
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;

use crate::descriptor::watched;
use crate::failure::cannot;

/// Polling interval of a [`Lookout`] without a watch.
const UNWATCHED_LOOK: Duration = Duration::from_millis(200);

/// Creates watchers for the folders of this machine.
#[derive(Clone, Copy, Debug, Default)]
pub struct LocalWatchers;

impl FolderWatchers for LocalWatchers {
    fn watcher(&self) -> Result<Box<dyn FolderWatcher>> {
        Ok(Box::new(Watcher::new()?))
    }
}

/// Watches folders, but not their subfolders.
#[derive(Debug)]
pub struct Watcher {
    inotify: AsyncFd<OwnedFd>,
    /// Each wanted folder, and the folder that is watched for it.
    aims: BTreeMap<PathBuf, WatchedFolder>,
    /// The wanted folders that each inotify watch serves.
    served: HashMap<i32, BTreeSet<PathBuf>>,
    changes: VecDeque<FolderChange>,
}

/// Waits for changes in a few folders. Polls them if the system has no watch left.
#[derive(Debug)]
pub(crate) struct Lookout(Option<Watcher>);

impl Lookout {
    pub(crate) fn over(folders: &[&Path]) -> Self {
        let watcher = Watcher::new().and_then(|mut watcher| {
            folders.iter().try_for_each(|folder| watcher.add(folder))?;
            Ok(watcher)
        });
        Self(watcher.ok())
    }

    /// Returns when something may have changed.
    pub(crate) async fn changed(&mut self) {
        match &mut self.0 {
            Some(watcher) => match watcher.next().await {
                Ok(FolderChange::At { .. } | FolderChange::Overflow) => {}
                Ok(FolderChange::Unwatched { .. }) | Err(_) => self.0 = None,
            },
            None => tokio::time::sleep(UNWATCHED_LOOK).await,
        }
    }
}

#[async_trait]
impl FolderWatcher for Watcher {
    fn add(&mut self, folder: &Path) -> Result<()> {
        Self::add(self, folder)
    }

    fn remove(&mut self, folder: &Path) {
        Self::remove(self, folder);
    }

    async fn next(&mut self) -> Result<FolderChange> {
        Self::next(self).await
    }
}

/// The folder that is watched for a wanted folder: the wanted folder itself, or its nearest
/// existing ancestor.
#[derive(Clone, Debug, PartialEq, Eq)]
struct WatchedFolder {
    watch: i32,
    at: PathBuf,
}

impl Watcher {
    pub fn new() -> Result<Self> {
        let inotify = inotify::init(CreateFlags::CLOEXEC | CreateFlags::NONBLOCK)
            .map_err(io::Error::from)
            .and_then(|descriptor| watched(descriptor, Interest::READABLE))
            .map_err(|error| too_many(&error, "instances"))?;
        Ok(Self {
            inotify,
            aims: BTreeMap::new(),
            served: HashMap::new(),
            changes: VecDeque::new(),
        })
    }

    /// Starts to watch a folder. Does nothing if it is watched already. Existing files are not
    /// reported: list them after this call, not before.
    pub fn add(&mut self, folder: &Path) -> Result<()> {
        if !folder.is_absolute() {
            return Err(Error::internal(format!("`{}` is not absolute", folder.display())));
        }
        if self.aims.contains_key(folder) {
            return Ok(());
        }
        self.aim(folder)
    }

    /// Stops watching a folder.
    pub fn remove(&mut self, folder: &Path) {
        if let Some(aim) = self.aims.remove(folder) {
            self.leave(folder, aim.watch);
        }
    }

    /// Waits for the next change. The future may be dropped at any time without losing a change.
    pub async fn next(&mut self) -> Result<FolderChange> {
        loop {
            if let Some(change) = self.changes.pop_front() {
                return Ok(change);
            }
            let mut ready = self.inotify.readable().await.map_err(|error| lost(&error))?;
            let happened = read(self.inotify.get_ref()).map_err(|error| lost(&error))?;
            if happened.is_empty() {
                ready.clear_ready();
            }
            drop(ready);
            for event in happened {
                self.take(&event);
            }
        }
    }

    fn take(&mut self, event: &Happened) {
        if event.flags.contains(ReadFlags::QUEUE_OVERFLOW) {
            self.changes.push_back(FolderChange::Overflow);
            let wanted: Vec<PathBuf> = self.aims.keys().cloned().collect();
            wanted.iter().for_each(|folder| self.aim_again(folder));
            return;
        }
        let Some(wanted) = self.served.get(&event.watch).cloned() else { return };
        for folder in wanted {
            self.take_for(&folder, event);
        }
    }

    /// Applies one event to one of the folders that its watch serves.
    fn take_for(&mut self, folder: &Path, event: &Happened) {
        let Some(aim) = self.aims.get(folder) else { return };
        let arrived = aim.at == folder;
        if event.flags.intersects(ReadFlags::IGNORED | ReadFlags::MOVE_SELF) {
            if arrived {
                self.report(folder.to_owned(), true);
            }
            self.aim_again(folder);
        } else if let Some(name) = &event.name {
            if arrived {
                let gone = event.flags.intersects(ReadFlags::DELETE | ReadFlags::MOVED_FROM);
                self.report(folder.join(name), gone);
            } else if next_step(folder, &aim.at) == Some(name.as_os_str()) {
                self.aim_again(folder);
            }
        }
    }

    /// Renews the watch of a folder. Reports the files that may have appeared while it was not
    /// watched.
    fn aim_again(&mut self, folder: &Path) {
        let before = self.aims.remove(folder);
        if let Some(aim) = &before {
            self.leave(folder, aim.watch);
        }
        if let Err(error) = self.aim(folder) {
            self.changes.push_back(FolderChange::Unwatched { folder: folder.to_owned(), error });
            return;
        }
        let arrived = self.aims.get(folder).is_some_and(|aim| aim.at == folder);
        if arrived && before.as_ref() != self.aims.get(folder) {
            let found = fs::read_dir(folder).into_iter().flatten().flatten();
            found.for_each(|entry| self.report(entry.path(), false));
        }
    }

    /// Watches the folder, or its nearest existing ancestor.
    fn aim(&mut self, folder: &Path) -> Result<()> {
        loop {
            let at = nearest(folder);
            let flags = if at == folder { inside() } else { above() };
            let watch = match inotify::add_watch(self.inotify.get_ref(), at, flags) {
                Ok(watch) => watch,
                // The folder was deleted after `nearest` found it.
                Err(Errno::NOENT | Errno::NOTDIR) if at != Path::new("/") => continue,
                Err(Errno::NOSPC) => return Err(too_many(&Errno::NOSPC.into(), "watches")),
                Err(error) => return Err(cannot("watch", at, &error.into())),
            };
            self.served.entry(watch).or_default().insert(folder.to_owned());
            // A folder that was created before the watch existed would never be reported. So look
            // again.
            if nearest(folder) == at {
                self.aims.insert(folder.to_owned(), WatchedFolder { watch, at: at.to_owned() });
                return Ok(());
            }
            self.leave(folder, watch);
        }
    }

    /// Removes a folder from a watch. Ends the watch if it serves no other folder.
    fn leave(&mut self, folder: &Path, watch: i32) {
        let Some(wanted) = self.served.get_mut(&watch) else { return };
        wanted.remove(folder);
        if wanted.is_empty() {
            self.served.remove(&watch);
            // The kernel may have ended the watch already, together with the folder.
            let _gone_already = inotify::remove_watch(self.inotify.get_ref(), watch);
        }
    }

    fn report(&mut self, path: PathBuf, gone: bool) {
        let change = FolderChange::At { path, gone };
        if self.changes.back() != Some(&change) {
            self.changes.push_back(change);
        }
    }
}

/// One event, copied from the kernel's buffer.
struct Happened {
    watch: i32,
    flags: ReadFlags,
    name: Option<OsString>,
}

/// Reads the events that are available now.
fn read(descriptor: &OwnedFd) -> io::Result<Vec<Happened>> {
    let mut buffer = [MaybeUninit::uninit(); 16 << 10];
    let mut reader = inotify::Reader::new(descriptor, &mut buffer);
    let mut happened = Vec::new();
    loop {
        match reader.next() {
            Ok(event) => happened.push(Happened {
                watch: event.wd(),
                flags: event.events(),
                name: event.file_name().map(|name| OsStr::from_bytes(name.to_bytes()).to_owned()),
            }),
            Err(Errno::AGAIN) => return Ok(happened),
            Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
}

fn inside() -> WatchFlags {
    above()
        | WatchFlags::MODIFY
        | WatchFlags::CLOSE_WRITE
        | WatchFlags::DELETE
        | WatchFlags::MOVED_FROM
}

/// Only events that can make a wanted folder appear: other programs write to these folders all the
/// time.
fn above() -> WatchFlags {
    WatchFlags::CREATE
        | WatchFlags::MOVED_TO
        | WatchFlags::MOVE_SELF
        | WatchFlags::DELETE_SELF
        | WatchFlags::ONLYDIR
        | WatchFlags::MASK_ADD
}

/// Returns the folder, or its nearest ancestor that exists.
fn nearest(folder: &Path) -> &Path {
    folder.ancestors().find(|path| path.is_dir()).unwrap_or(Path::new("/"))
}

/// Returns the name that must appear in `at` before `folder` can exist.
fn next_step<'a>(folder: &'a Path, at: &Path) -> Option<&'a OsStr> {
    folder.strip_prefix(at).ok()?.iter().next()
}

/// Makes the error for a user who has no inotify `instances` or no `watches` left.
fn too_many(error: &io::Error, what: &str) -> Error {
    let setting = format!("fs.inotify.max_user_{what}");
    let limit = fs::read_to_string(format!("/proc/sys/fs/inotify/max_user_{what}"));
    let limit = limit.ok().and_then(|text| text.trim().parse().ok()).unwrap_or(0_u64);
    let enough = limit.saturating_mul(2).max(if what == "watches" { 524_288 } else { 1024 });
    Error::unavailable(format!("cannot watch files: the limit `{setting}` is reached"))
        .caused_by(error)
        .hint(format!("raise the limit: `sudo sysctl -w {setting}={enough}`"))
}

fn lost(error: &io::Error) -> Error {
    Error::internal("cannot watch files any more").caused_by(error)
}

#[cfg(test)]
mod tests;
