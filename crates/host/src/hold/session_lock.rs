//! The lock of a session. The session's holder has the lock as long as the agent lives. The lock
//! file names the holder.

use std::fmt;
use std::fs;
use std::path::Path;
use std::str::FromStr;

use segue_core::model::LaunchId;
use segue_core::{Error, Result};

use crate::lock::FileLock;
use crate::process;

/// The content of a lock file: the holder that has the lock. The lock itself does not depend on it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct LockNote {
    pub(super) pid: u32,
    pub(super) launch: LaunchId,
    /// The PID namespace of the holder's process id. `None` if an older version wrote the file.
    namespace: Option<String>,
}

impl LockNote {
    /// Returns the note of this process.
    pub(super) fn own(launch: LaunchId) -> Self {
        Self { pid: std::process::id(), launch, namespace: process::namespace() }
    }

    /// Reads the note in a lock file. `None` if there is no valid note.
    pub(super) fn read(lock: &Path) -> Option<Self> {
        fs::read_to_string(lock).ok()?.parse().ok()
    }

    fn is_of_another_namespace(&self) -> bool {
        self.namespace.is_some() && self.namespace != process::namespace()
    }
}

impl fmt::Display for LockNote {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let namespace = self.namespace.as_deref().unwrap_or_default();
        writeln!(f, "{} {} {namespace}", self.pid, self.launch)
    }
}

impl FromStr for LockNote {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let unreadable = || Error::internal("the note in a lock file cannot be parsed");
        let mut words = text.split_ascii_whitespace();
        let mut word = || words.next().ok_or_else(unreadable);
        let pid = word()?.parse().map_err(|_| unreadable())?;
        let launch = word()?.parse().map_err(|_| unreadable())?;
        Ok(Self { pid, launch, namespace: word().ok().map(str::to_owned) })
    }
}

/// Fails if a process of another PID namespace has the lock of any session. This process cannot see
/// that holder, and would treat its agent as lost.
pub(super) fn refuse_outside(locks: &Path) -> Result<()> {
    for entry in fs::read_dir(locks).into_iter().flatten().flatten() {
        let path = entry.path();
        let note = LockNote::read(&path).filter(LockNote::is_of_another_namespace);
        let Some(note) = note else { continue };
        // If a holder has ended together with its namespace, for example with its container, the
        // lock is free.
        if FileLock::try_acquire_unseen(&path)?.is_none() {
            return Err(Error::unavailable(format!(
                "launch `{}` cannot be identified",
                note.launch
            ))
            .caused_by("its holder runs in another PID namespace")
            .hint("run `segue` where its agents were started"));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;

    fn note(namespace: Option<&str>) -> LockNote {
        let launch = LaunchId::new(Uuid::from_u128(7));
        LockNote { pid: 4711, launch, namespace: namespace.map(str::to_owned) }
    }

    #[test]
    fn note_is_read_as_it_was_written_also_by_an_older_version() {
        for note in [note(Some("pid:[4026531836]")), note(None)] {
            assert_eq!(note.to_string().parse::<LockNote>().unwrap(), note);
        }
        let older = format!("4711 {}\n", note(None).launch);
        assert_eq!(older.parse::<LockNote>().unwrap(), note(None));
        for text in ["", "4711", "x y z"] {
            assert!(text.parse::<LockNote>().is_err(), "{text}");
        }
    }

    #[test]
    fn only_a_lock_that_a_process_of_another_namespace_has_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("session-1");
        fs::write(&path, note(Some("pid:[1]")).to_string()).unwrap();
        refuse_outside(folder.path()).unwrap();
        let lock = FileLock::try_acquire(&path).unwrap().unwrap();
        let error = refuse_outside(folder.path()).unwrap_err();
        assert!(error.to_string().contains("cannot be identified"), "{error}");
        fs::write(&path, LockNote::own(note(None).launch).to_string()).unwrap();
        refuse_outside(folder.path()).unwrap();
        drop(lock);
    }
}
