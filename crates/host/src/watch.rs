//! Watches folders for changes with inotify. If no watch is available, a `FolderWait` polls instead.
//!
//! If a folder does not exist yet, its nearest existing ancestor is watched until the folder
//! appears. If a folder above a watched one is renamed, that is not noticed.
//!
//! The kernel limits how many folders a user can watch. If the limit is reached, the [`Error`] has
//! the kind [`Unavailable`](segue_core::Kind::Unavailable), and its text names the kernel setting.

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

use crate::descriptor;
use crate::failure::cannot;

/// Polling interval of a [`FolderWait`] without a watch.
const POLL_INTERVAL: Duration = Duration::from_millis(200);

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
    /// Each requested folder, and the folder that is watched for it.
    watched: BTreeMap<PathBuf, WatchedFolder>,
    /// For each inotify watch, the requested folders that need it.
    requested: HashMap<i32, BTreeSet<PathBuf>>,
    changes: VecDeque<FolderChange>,
}

/// Waits for changes in a few folders. Polls if the system has no inotify watch left.
#[derive(Debug)]
pub(crate) struct FolderWait(Option<Watcher>);

impl FolderWait {
    pub(crate) fn new(folders: &[&Path]) -> Self {
        let watcher = Watcher::new().and_then(|mut watcher| {
            folders.iter().try_for_each(|folder| watcher.add(folder))?;
            Ok(watcher)
        });
        Self(watcher.ok())
    }

    /// Returns when a folder may have changed. Without a watch, this is after the polling interval.
    pub(crate) async fn changed(&mut self) {
        match &mut self.0 {
            Some(watcher) => match watcher.next().await {
                Ok(FolderChange::At { .. } | FolderChange::Overflow) => {}
                Ok(FolderChange::Unwatched { .. }) | Err(_) => self.0 = None,
            },
            None => tokio::time::sleep(POLL_INTERVAL).await,
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

/// The folder that is watched for a requested folder: the requested folder itself, or its nearest
/// existing ancestor.
#[derive(Clone, Debug, PartialEq, Eq)]
struct WatchedFolder {
    watch: i32,
    path: PathBuf,
}

impl Watcher {
    pub fn new() -> Result<Self> {
        let inotify = inotify::init(CreateFlags::CLOEXEC | CreateFlags::NONBLOCK)
            .map_err(io::Error::from)
            .and_then(|descriptor| descriptor::watched(descriptor, Interest::READABLE))
            .map_err(|error| limit_reached(&error, "instances"))?;
        Ok(Self {
            inotify,
            watched: BTreeMap::new(),
            requested: HashMap::new(),
            changes: VecDeque::new(),
        })
    }

    /// Starts to watch a folder. Does nothing if it is watched already. Existing files are not
    /// reported. A caller that needs them lists them after this call: if it did so before, it would
    /// miss the files that are created in between.
    pub fn add(&mut self, folder: &Path) -> Result<()> {
        if !folder.is_absolute() {
            return Err(Error::internal(format!("`{}` is not absolute", folder.display())));
        }
        if self.watched.contains_key(folder) {
            return Ok(());
        }
        self.watch(folder)
    }

    /// Stops watching a folder.
    pub fn remove(&mut self, folder: &Path) {
        if let Some(watched) = self.watched.remove(folder) {
            self.release(folder, watched.watch);
        }
    }

    /// Waits for the next change. The future may be dropped at any time without losing a change.
    pub async fn next(&mut self) -> Result<FolderChange> {
        loop {
            if let Some(change) = self.changes.pop_front() {
                return Ok(change);
            }
            let mut ready = self.inotify.readable().await.map_err(|error| watch_failure(&error))?;
            let events = read(self.inotify.get_ref()).map_err(|error| watch_failure(&error))?;
            if events.is_empty() {
                ready.clear_ready();
            }
            drop(ready);
            for event in events {
                self.handle(&event);
            }
        }
    }

    fn handle(&mut self, event: &InotifyEvent) {
        if event.flags.contains(ReadFlags::QUEUE_OVERFLOW) {
            self.changes.push_back(FolderChange::Overflow);
            let folders: Vec<PathBuf> = self.watched.keys().cloned().collect();
            folders.iter().for_each(|folder| self.watch_again(folder));
            return;
        }
        let Some(folders) = self.requested.get(&event.watch).cloned() else { return };
        for folder in folders {
            self.handle_for(&folder, event);
        }
    }

    /// Handles an event for one of the requested folders that need its watch.
    fn handle_for(&mut self, folder: &Path, event: &InotifyEvent) {
        let Some(watched) = self.watched.get(folder) else { return };
        let exists = watched.path == folder;
        if event.flags.intersects(ReadFlags::IGNORED | ReadFlags::MOVE_SELF) {
            if exists {
                self.report(folder.to_owned(), true);
            }
            self.watch_again(folder);
        } else if let Some(name) = &event.name {
            if exists {
                let gone = event.flags.intersects(ReadFlags::DELETE | ReadFlags::MOVED_FROM);
                self.report(folder.join(name), gone);
            } else if next_name(folder, &watched.path) == Some(name.as_os_str()) {
                self.watch_again(folder);
            }
        }
    }

    /// Renews the watch of a folder. Reports the files that may have appeared while it was not
    /// watched.
    fn watch_again(&mut self, folder: &Path) {
        let before = self.watched.remove(folder);
        if let Some(watched) = &before {
            self.release(folder, watched.watch);
        }
        if let Err(error) = self.watch(folder) {
            self.changes.push_back(FolderChange::Unwatched { folder: folder.to_owned(), error });
            return;
        }
        let exists = self.watched.get(folder).is_some_and(|watched| watched.path == folder);
        if exists && before.as_ref() != self.watched.get(folder) {
            let entries = fs::read_dir(folder).into_iter().flatten().flatten();
            entries.for_each(|entry| self.report(entry.path(), false));
        }
    }

    /// Watches the folder, or its nearest existing ancestor.
    fn watch(&mut self, folder: &Path) -> Result<()> {
        loop {
            let path = nearest_existing(folder);
            let flags = if path == folder { folder_flags() } else { ancestor_flags() };
            let watch = match inotify::add_watch(self.inotify.get_ref(), path, flags) {
                Ok(watch) => watch,
                // The folder was deleted after `nearest_existing` found it.
                Err(Errno::NOENT | Errno::NOTDIR) if path != Path::new("/") => continue,
                Err(Errno::NOSPC) => return Err(limit_reached(&Errno::NOSPC.into(), "watches")),
                Err(error) => return Err(cannot("watch", path, &error.into())),
            };
            self.requested.entry(watch).or_default().insert(folder.to_owned());
            // The inotify watch does not report what was created before it. So check whether a
            // nearer folder was created meanwhile.
            if nearest_existing(folder) == path {
                self.watched
                    .insert(folder.to_owned(), WatchedFolder { watch, path: path.to_owned() });
                return Ok(());
            }
            self.release(folder, watch);
        }
    }

    /// Records that a folder does not need a watch any more. Ends the watch if no other folder needs
    /// it.
    fn release(&mut self, folder: &Path, watch: i32) {
        let Some(folders) = self.requested.get_mut(&watch) else { return };
        folders.remove(folder);
        if folders.is_empty() {
            self.requested.remove(&watch);
            // This fails if the folder was deleted: the kernel ended the watch then.
            let _removed = inotify::remove_watch(self.inotify.get_ref(), watch);
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
struct InotifyEvent {
    watch: i32,
    flags: ReadFlags,
    name: Option<OsString>,
}

/// Reads the events that are available now.
fn read(descriptor: &OwnedFd) -> io::Result<Vec<InotifyEvent>> {
    let mut buffer = [MaybeUninit::uninit(); 16 << 10];
    let mut reader = inotify::Reader::new(descriptor, &mut buffer);
    let mut events = Vec::new();
    loop {
        match reader.next() {
            Ok(event) => events.push(InotifyEvent {
                watch: event.wd(),
                flags: event.events(),
                name: event.file_name().map(|name| OsStr::from_bytes(name.to_bytes()).to_owned()),
            }),
            Err(Errno::AGAIN) => return Ok(events),
            Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
}

/// The events of a requested folder that exists.
fn folder_flags() -> WatchFlags {
    ancestor_flags()
        | WatchFlags::MODIFY
        | WatchFlags::CLOSE_WRITE
        | WatchFlags::DELETE
        | WatchFlags::MOVED_FROM
}

/// The events of an ancestor that can make a requested folder appear. Other programs may write to
/// the ancestor often, so its other events are not requested.
fn ancestor_flags() -> WatchFlags {
    WatchFlags::CREATE
        | WatchFlags::MOVED_TO
        | WatchFlags::MOVE_SELF
        | WatchFlags::DELETE_SELF
        | WatchFlags::ONLYDIR
        | WatchFlags::MASK_ADD
}

/// Returns the folder, or its nearest ancestor that exists.
fn nearest_existing(folder: &Path) -> &Path {
    folder.ancestors().find(|path| path.is_dir()).unwrap_or(Path::new("/"))
}

/// Returns the name that must appear in the ancestor before `folder` can exist.
fn next_name<'a>(folder: &'a Path, ancestor: &Path) -> Option<&'a OsStr> {
    folder.strip_prefix(ancestor).ok()?.iter().next()
}

/// Returns the error for a user who has reached the limit of inotify objects. `objects` is
/// `instances` or `watches`, as in the name of the kernel setting.
fn limit_reached(error: &io::Error, objects: &str) -> Error {
    let setting = format!("fs.inotify.max_user_{objects}");
    let limit = fs::read_to_string(format!("/proc/sys/fs/inotify/max_user_{objects}"));
    let limit = limit.ok().and_then(|text| text.trim().parse().ok()).unwrap_or(0_u64);
    let raised = limit.saturating_mul(2).max(if objects == "watches" { 524_288 } else { 1024 });
    Error::unavailable(format!("cannot watch files: the limit `{setting}` is reached"))
        .caused_by(error)
        .hint(format!("raise the limit: `sudo sysctl -w {setting}={raised}`"))
}

fn watch_failure(error: &io::Error) -> Error {
    Error::internal("cannot watch files any more").caused_by(error)
}

#[cfg(test)]
mod tests;
