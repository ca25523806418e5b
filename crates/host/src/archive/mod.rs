//! The archive: one folder `archive/<vendor>/<conversation>/` per conversation, in the data folder.
//! Each folder has a record (the manifest) and compressed copies. The record is written last. Copies
//! that it does not list are invalid.

mod copies;
mod damage;
mod frames;
mod manifest;
mod names;
mod sources;

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use segue_core::model::{Archived, CopiedConversation};
use segue_core::ports::{Archive, ArchiveOrder, Content, DamagedCopy, RestoreOrder};
use segue_core::{Error, Result, failpoint};

use self::copies::{has_content, keep_document, keep_file, modified, tidy};
use self::damage::{find_damage, is_damage};
use self::manifest::{FileRole, Manifest, StoredStream};
use self::names::{fingerprint, folder_name};
use self::sources::below;
use crate::failure::{cannot, quoted};
use crate::own_folder::{Openness, ensure_folder};
use crate::paths::Paths;
use crate::removal;

/// The number of locks. At most this many conversations can be processed at the same time.
const LOCKS: usize = 64;

/// The file name of an exported document when it is unpacked (`read_out`).
const DOCUMENT: &str = "conversation.json";

/// The archive of this machine. Only one process writes to it: the daemon.
#[derive(Debug)]
pub struct DiskArchive {
    root: PathBuf,
    /// The locks with which one thread at a time works on a conversation. The name of the
    /// conversation determines its lock.
    locks: [Mutex<()>; LOCKS],
    /// The total size in bytes, if it was computed before.
    size: Mutex<Option<u64>>,
}

impl DiskArchive {
    pub fn new(paths: &Paths) -> Self {
        let locks = std::array::from_fn(|_| Mutex::new(()));
        Self { root: paths.archive(), locks, size: Mutex::new(None) }
    }

    fn folder(&self, conversation: &Archived) -> PathBuf {
        let Archived { vendor, id } = conversation;
        self.root.join(folder_name(vendor.as_str())).join(folder_name(id.as_str()))
    }

    fn lock(&self, conversation: &Archived) -> MutexGuard<'_, ()> {
        let number = mark(conversation) % LOCKS as u64;
        let lock = &self.locks[usize::try_from(number).unwrap_or_default()];
        lock.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn cached_size(&self) -> MutexGuard<'_, Option<u64>> {
        self.size.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the folder and the record of a conversation. `None` if there is no copy of it.
    fn read(&self, conversation: &Archived) -> Option<(PathBuf, Manifest)> {
        let folder = self.folder(conversation);
        let manifest = Manifest::read(&folder).ok().flatten()?;
        (manifest.conversation() == *conversation).then_some((folder, manifest))
    }

    fn find(&self, conversation: &Archived) -> Result<(PathBuf, Manifest)> {
        let none = || Error::not_found(format!("the archive has no copy of `{}`", conversation.id));
        self.read(conversation).ok_or_else(none)
    }

    /// Returns the folder and the record to extend. A damaged record is set aside and replaced by
    /// an empty one.
    fn open(&self, order: &ArchiveOrder) -> Result<(PathBuf, Manifest)> {
        let folder = self.folder(&order.conversation);
        let manifest = match Manifest::read(&folder) {
            Ok(manifest) => manifest,
            Err(error) if error.kind() == io::ErrorKind::InvalidData => {
                tracing::warn!(folder = %folder.display(), %error, "a record is damaged");
                let _aside = manifest::set_aside(&folder)?;
                None
            }
            Err(error) => return Err(cannot("read", &folder, &error)),
        };
        let existing = manifest.filter(|manifest| manifest.conversation() == order.conversation);
        Ok((folder, existing.unwrap_or_else(|| Manifest::new(order))))
    }

    /// Returns the damage of the copies in a folder. `None` if they are intact.
    fn damage(&self, folder: PathBuf, known: &[Archived]) -> io::Result<Option<DamagedCopy>> {
        let conversation = match Manifest::read(&folder) {
            Ok(Some(manifest)) => manifest.conversation(),
            // Without a record, no copy was completed.
            Ok(None) => return Ok(None),
            Err(error) if is_damage(&error) => {
                let conversation = known.iter().find(|it| self.folder(it) == folder).cloned();
                let why = format!("its record cannot be read: {error}");
                return Ok(Some(DamagedCopy { conversation, folder, why }));
            }
            Err(error) => return Err(error),
        };
        if find_damage(&folder)?.is_none() {
            return Ok(None);
        }
        // The copy may have been extended, removed or replaced during the check. Check again while
        // the lock prevents that.
        let _guard = self.lock(&conversation);
        let why = find_damage(&folder)?;
        let conversation = Some(conversation.clone());
        Ok(why.map(|why| DamagedCopy { conversation, folder, why }))
    }

    fn make_folder(&self, folder: &Path) -> Result<()> {
        let vendor = folder.parent().unwrap_or(&self.root);
        for folder in [self.root.as_path(), vendor, folder] {
            ensure_folder(folder, Openness::Private)?;
        }
        Ok(())
    }
}

impl Archive for DiskArchive {
    fn copy(&self, order: &ArchiveOrder) -> Result<u64> {
        let _guard = self.lock(&order.conversation);
        let (folder, mut manifest) = self.open(order)?;
        let before = manifest.clone();
        let sources = sources::of(order);
        if !sources.iter().any(has_content) && matches!(order.content, Content::Transcript(_)) {
            return Ok(0);
        }
        self.make_folder(&folder)?;
        let failed = |path: &Path, error: &io::Error| cannot("archive", path, error);
        let mut added = 0;
        for source in &sources {
            match keep_file(source, (&folder, &order.place.config_dir), &mut manifest) {
                Ok(new) => added += new,
                Err(error) if source.role == FileRole::Transcript => {
                    return Err(failed(&source.path, &error));
                }
                Err(error) => {
                    tracing::warn!(path = %source.path.display(), %error, "not archived");
                }
            }
        }
        if let Content::Export(document) = &order.content {
            added += keep_document(document, &folder, &mut manifest)
                .map_err(|error| failed(&folder, &error))?;
        }
        if manifest.streams != before.streams {
            manifest.kept_at = order.now;
            manifest.config_dir.clone_from(&order.place.config_dir);
            manifest.cwd.clone_from(&order.place.cwd);
            let superseded = manifest.take_superseded();
            manifest.write(&folder)?;
            tidy(&folder, &before, &manifest, &superseded);
            let mut size = self.cached_size();
            *size = size.map(|size| size + stored(&manifest) - stored(&before).min(size));
        }
        Ok(added)
    }

    fn has(&self, conversation: &Archived) -> bool {
        self.read(conversation).is_some_and(|(folder, manifest)| {
            manifest.content().is_some_and(|stream| frames::is_complete(&folder, stream))
        })
    }

    fn is_outdated(&self, conversation: &Archived, transcript: &Path) -> bool {
        let Ok(metadata) = fs::metadata(transcript) else { return false };
        let known = self.read(conversation);
        let newest = known.as_ref().and_then(|(_, manifest)| manifest.content());
        let is_same = |it: &StoredStream| {
            it.length == metadata.len() && it.modified == modified(&metadata).ok()
        };
        metadata.len() > 0 && !newest.is_some_and(is_same)
    }

    fn ancestors(&self, conversation: &Archived) -> Vec<PathBuf> {
        let Some((_, manifest)) = self.read(conversation) else { return Vec::new() };
        let ancestor = |stream: &StoredStream| match &stream.role {
            FileRole::Ancestor(path) => Some(path.clone()),
            _ => None,
        };
        manifest.newest().into_iter().filter_map(ancestor).collect()
    }

    fn restore(&self, order: &RestoreOrder) -> Result<()> {
        let _guard = self.lock(&order.conversation);
        let (folder, manifest) = self.find(&order.conversation)?;
        let mark = mark(&order.conversation);
        // The transcript is restored last. Without it, no program takes the other files for a
        // conversation.
        for stream in manifest.newest() {
            let target = match (&stream.role, &order.companion_folder) {
                (FileRole::Companion(name), Some(companion_folder)) => companion_folder.join(name),
                (FileRole::Ancestor(path), _) => order.config_dir.join(path),
                _ => continue,
            };
            frames::put_back(&folder, stream, &target, mark)
                .map_err(|error| cannot("restore", &target, &error))?;
        }
        let Some(target) = &order.transcript else { return Ok(()) };
        let stream = newest_at(&manifest, &below(&order.config_dir, target));
        let stream = stream.ok_or_else(|| no_transcript(&order.conversation))?;
        let is_new = frames::put_back(&folder, stream, target, mark)
            .map_err(|error| cannot("restore", target, &error))?;
        if is_new { Ok(()) } else { Err(not_replaced(target)) }
    }

    fn extract(&self, conversation: &Archived, folder: &Path) -> Result<PathBuf> {
        let _guard = self.lock(conversation);
        let (copies, manifest) = self.find(conversation)?;
        let content = manifest.content().ok_or_else(|| no_transcript(conversation))?;
        let place = |stream: &StoredStream| match stream.path.file_name() {
            _ if stream.role == FileRole::Export => folder.join(DOCUMENT),
            Some(name) if stream.path.is_absolute() => folder.join(name),
            _ => folder.join(&stream.path),
        };
        for stream in manifest.newest() {
            let target = place(stream);
            let parent = target.parent().unwrap_or(folder);
            ensure_folder(parent, Openness::Private)?;
            frames::write_out(&copies, stream, &target)
                .map_err(|error| cannot("write", &target, &error))?;
        }
        Ok(place(content))
    }

    fn remove(&self, conversation: &Archived) -> Result<()> {
        let _guard = self.lock(conversation);
        let folder = self.folder(conversation);
        failpoint::hit("archive.remove.before");
        removal::remove_folder(&folder).map_err(|error| cannot("remove", &folder, &error))?;
        failpoint::hit("archive.remove.after");
        *self.cached_size() = None;
        Ok(())
    }

    fn copies(&self) -> Result<Vec<CopiedConversation>> {
        let failed = |error: &io::Error| cannot("read", &self.root, error);
        let mut copies = Vec::new();
        for vendor in folders(&self.root).map_err(|error| failed(&error))? {
            for folder in folders(&vendor).map_err(|error| failed(&error))? {
                // Skip a folder that is being removed or is damaged.
                let Ok(Some(manifest)) = Manifest::read(&folder) else { continue };
                let (conversation, bytes) = (manifest.conversation(), stored(&manifest));
                let copied_at = manifest.kept_at;
                copies.push(CopiedConversation { conversation, bytes, copied_at });
            }
        }
        Ok(copies)
    }

    fn damaged(&self, known: &[Archived]) -> Result<Vec<DamagedCopy>> {
        let failed = |error: &io::Error| cannot("read", &self.root, error);
        let mut damaged = Vec::new();
        for vendor in folders(&self.root).map_err(|error| failed(&error))? {
            for folder in folders(&vendor).map_err(|error| failed(&error))? {
                let damage = self.damage(folder.clone(), known);
                damaged.extend(damage.map_err(|error| cannot("check", &folder, &error))?);
            }
        }
        Ok(damaged)
    }

    fn set_aside(&self, copy: &DamagedCopy) -> Result<PathBuf> {
        let _guard = copy.conversation.as_ref().map(|conversation| self.lock(conversation));
        let folder = &copy.folder;
        let damage = find_damage(folder).map_err(|error| cannot("check", folder, &error))?;
        if damage.is_none() {
            let folder = folder.display();
            return Err(Error::conflict(format!("the copy in `{folder}` is intact by now")));
        }
        failpoint::hit("archive.aside.before");
        let aside = manifest::set_aside(folder)?;
        failpoint::hit("archive.aside.after");
        *self.cached_size() = None;
        Ok(aside)
    }

    fn size(&self) -> Result<u64> {
        if let Some(size) = *self.cached_size() {
            return Ok(size);
        }
        let size = self.copies()?.iter().map(|it| it.bytes).sum();
        *self.cached_size() = Some(size);
        Ok(size)
    }
}

/// Returns the newest copy of the transcript at this path. If there is none, the newest copy from
/// any path.
fn newest_at<'a>(manifest: &'a Manifest, path: &Path) -> Option<&'a StoredStream> {
    let mut versions = manifest.versions(&FileRole::Transcript).map(|(_, stream)| stream);
    let newest = manifest.versions(&FileRole::Transcript).next().map(|(_, stream)| stream);
    versions.find(|stream| stream.path == path).or(newest)
}

/// Returns the subfolders of a folder, without hidden ones.
fn folders(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let entries = match fs::read_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries?,
    };
    let paths: io::Result<Vec<PathBuf>> = entries.map(|entry| Ok(entry?.path())).collect();
    let is_hidden = |path: &PathBuf| {
        path.file_name().is_none_or(|name| name.to_string_lossy().starts_with('.'))
    };
    Ok(paths?.into_iter().filter(|path| !is_hidden(path) && path.is_dir()).collect())
}

/// Returns the number of bytes of a conversation's copies.
fn stored(manifest: &Manifest) -> u64 {
    manifest.streams.iter().map(|stream| stream.stored).sum()
}

/// Returns a number that identifies a conversation.
fn mark(conversation: &Archived) -> u64 {
    fingerprint(format!("{}\n{}", conversation.vendor, conversation.id).as_bytes())
}

fn no_transcript(conversation: &Archived) -> Error {
    Error::not_found(format!("the archive has no transcript of `{}`", conversation.id))
}

fn not_replaced(target: &Path) -> Error {
    Error::conflict(format!("`{}` exists, and Segue does not replace it", target.display()))
        .caused_by("it contains no conversation that can be resumed; the archive has a copy")
        .hint(format!("move it away: `mv {0} {0}.old`, then resume again", quoted(target)))
}

#[cfg(test)]
mod tests;
