//! The archive as a whole: what no actor saw is copied, what is too much goes.

use std::sync::Arc;

use segue_core::Result;
use segue_core::api::{Finding, Severity};
use segue_core::flows::archive;
use segue_core::ports::SessionSummary;

use super::{Message, Supervisor};
use crate::project;

impl Supervisor {
    /// Has those conversations copied that went on after they were copied last: a daemon may have
    /// died before it could. Only those get an actor.
    pub(super) fn archive_what_nobody_saw(self: &Arc<Self>, sessions: Vec<SessionSummary>) {
        let supervisor = Arc::clone(self);
        tokio::spawn(async move {
            let ports = supervisor.ports.clone();
            let behind = tokio::task::spawn_blocking(move || {
                let is_behind = |it: &SessionSummary| {
                    let id = it.binding.as_ref().map(|binding| &binding.vendor_session);
                    let id = id.filter(|_| it.session.spoke);
                    id.is_some_and(|id| archive::is_behind(&ports, &it.session, id))
                };
                let behind = sessions.into_iter().filter(is_behind);
                behind.map(|it| it.session.id).collect::<Vec<_>>()
            });
            for session in behind.await.unwrap_or_default() {
                // One that is gone by now has nothing to copy.
                if let Ok(inbox) = supervisor.actor(session).await {
                    let _ended = inbox.send(Message::Archive);
                }
            }
        });
    }

    /// Drops what is too much in the archive, beside everything else.
    pub(super) fn make_room_in_archive(self: &Arc<Self>) {
        let limit = self.archive_limit();
        if self.ports.archive.size().is_ok_and(|size| size <= limit) {
            return;
        }
        let supervisor = Arc::clone(self);
        tokio::spawn(async move {
            // Whoever makes room already sees what was added, or the next one does.
            let Ok(_turn) = supervisor.room.try_acquire() else { return };
            if let Err(error) = archive::make_room(&supervisor.ports, limit).await {
                tracing::warn!(%error, "the archive is larger than it may be");
            }
        });
    }

    /// Says how much the archive takes up.
    pub(crate) fn describe_archive(&self) -> Result<Finding> {
        let holdings = self.ports.archive.holdings()?;
        let size: u64 = holdings.iter().map(|it| it.bytes).sum();
        let (limit, count) = (self.archive_limit(), holdings.len());
        let what = format!(
            "the archive has {count} conversations in {}, and may have {}",
            readable(size),
            readable(limit)
        );
        let cure = "say how much it may have: `archive_limit = \"20 GB\"` in config.toml";
        let is_full = size > limit;
        Ok(Finding {
            severity: if is_full { Severity::Warning } else { Severity::Note },
            what,
            cure: is_full.then(|| cure.to_owned()),
            fixed: false,
        })
    }

    fn archive_limit(&self) -> u64 {
        project::archive_limit(self.config_file())
    }
}

/// Writes a number of bytes as people do.
fn readable(bytes: u64) -> String {
    let units = [("GB", 1_000_000_000), ("MB", 1_000_000), ("kB", 1000)];
    match units.into_iter().find(|(_, size)| bytes >= *size) {
        Some((unit, size)) if bytes.is_multiple_of(size) => format!("{} {unit}", bytes / size),
        Some((unit, size)) => format!("{}.{} {unit}", bytes / size, bytes % size / (size / 10)),
        None => format!("{bytes} B"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_written_as_people_do() {
        let table = [(0, "0 B"), (999, "999 B"), (1500, "1.5 kB"), (10_000_000_000, "10 GB")];
        for (bytes, text) in table {
            assert_eq!(readable(bytes), text);
        }
        assert_eq!(readable(2_049_999), "2.0 MB");
    }
}
