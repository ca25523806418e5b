//! Maintains the archive: copies conversations that no actor watched, deletes copies if the archive
//! is too large, and checks copies for damage.

use std::sync::Arc;

use segue_core::Result;
use segue_core::api::{Finding, Severity};
use segue_core::flows::{archive, usage};
use segue_core::model::{Session, SessionId, StoredUsageCursor};
use segue_core::ports::{DamagedCopy, Ports, SessionPage, SessionQuery, SessionSummary};
use segue_core::rules::display::{byte_count, counted};

use super::{SessionRequest, Supervisor};
use crate::blocking::blocking;
use crate::project;

/// The number of sessions that are loaded at a time to compare all conversations with their copies.
const PAGE_SESSIONS: u32 = 200;

impl Supervisor {
    /// Copies the conversations that have grown since their last copy, and counts their usage: a
    /// daemon may have died before it could do so. Runs in the background. Starts an actor only for
    /// sessions with such a conversation.
    pub(super) fn archive_missed_changes(self: &Arc<Self>) {
        let supervisor = Arc::clone(self);
        tokio::spawn(async move {
            if let Err(error) = supervisor.archive_page_by_page().await {
                tracing::warn!(%error, "not every conversation could be compared with its copy");
            }
        });
    }

    async fn archive_page_by_page(self: &Arc<Self>) -> Result<()> {
        let mut page = SessionPage { after: None, size: PAGE_SESSIONS };
        loop {
            let query = SessionQuery { page: Some(page), ..SessionQuery::default() };
            let sessions = self.ports.store.sessions(&query).await?;
            let Some(last) = sessions.last() else { return Ok(()) };
            page.after = Some((last.session.created_at, last.session.id));
            let ports = self.ports.clone();
            let ids: Vec<SessionId> = sessions.iter().map(|it| it.session.id).collect();
            let cursors = ports.store.usage_cursors(&ids).await?;
            let behind = tokio::task::spawn_blocking(move || behind(&ports, &sessions, &cursors));
            for session in behind.await.unwrap_or_default() {
                // A session that was removed meanwhile has nothing to copy.
                if let Ok(inbox) = self.actor(session).await {
                    let _ended = inbox.send(SessionRequest::Archive.into());
                }
            }
        }
    }

    /// Deletes copies if the archive is larger than its limit. Runs in the background.
    pub(super) fn make_room_in_archive(self: &Arc<Self>) {
        let limit = self.archive_limit();
        if self.ports.archive.size().is_ok_and(|size| size <= limit) {
            return;
        }
        let supervisor = Arc::clone(self);
        tokio::spawn(async move {
            // At most one task makes room. If it misses the newest copy, the task after the next
            // copy includes it.
            let Ok(_permit) = supervisor.room.try_acquire() else { return };
            if let Err(error) = archive::make_room(&supervisor.ports, limit).await {
                tracing::warn!(%error, "the archive is larger than its limit");
            }
        });
    }

    /// Reads all copies. Reports the damaged copies and the size of the archive. With `fix`,
    /// replaces a damaged copy if the conversation can be read from another source.
    pub(crate) async fn examine_archive(&self, fix: bool) -> Result<Vec<Finding>> {
        let owners = archive::owners(&self.ports).await?;
        let (ports, known) = (self.ports.clone(), owners.keys().cloned().collect::<Vec<_>>());
        let mut findings = Vec::new();
        for copy in blocking(move || ports.archive.damaged(&known)).await? {
            let owner = copy.conversation.as_ref().and_then(|it| owners.get(it)).cloned();
            findings.push(self.examine_copy(copy, owner, fix).await?);
        }
        findings.push(self.describe_archive()?);
        Ok(findings)
    }

    async fn examine_copy(
        &self,
        copy: DamagedCopy,
        owner: Option<Session>,
        fix: bool,
    ) -> Result<Finding> {
        let what = damage(&copy, owner.as_ref());
        let finding =
            Finding { severity: Severity::Problem, what, cure: None, curable: false, fixed: false };
        let (Some(id), Some(owner)) = (copy.conversation.clone().map(|it| it.id), owner) else {
            let cure = "no session has this conversation: move the folder away, or delete it";
            let cure = cure.to_owned();
            return Ok(Finding { severity: Severity::Warning, cure: Some(cure), ..finding });
        };
        let launches = self.ports.store.launches(owner.id).await?;
        let ports = self.ports.clone();
        let examined = blocking(move || {
            let Some(renewal) = archive::renewal(&ports, &owner, &id, &launches)? else {
                return Ok((None, None));
            };
            let aside = if fix { Some(archive::renew(&ports, &copy, &renewal)?) } else { None };
            Ok((Some(renewal.from), aside))
        });
        Ok(match examined.await {
            Ok((None, _)) => {
                let cure =
                    "nothing else has the conversation: put its transcript back from a backup";
                Finding { cure: Some(cure.to_owned()), ..finding }
            }
            Ok((Some(from), None)) => {
                let cure =
                    format!("set it aside and make a new copy from {from}: `segue doctor --fix`");
                Finding { cure: Some(cure), curable: true, ..finding }
            }
            Ok((Some(from), Some(aside))) => {
                let what = format!(
                    "{}; a new copy was made from {from}, the damaged copy is `{}`",
                    finding.what,
                    aside.display()
                );
                Finding { what, fixed: true, ..finding }
            }
            Err(error) => Finding { what: format!("{}: {error}", finding.what), ..finding },
        })
    }

    /// Returns the size of the archive as a finding.
    fn describe_archive(&self) -> Result<Finding> {
        let copies = self.ports.archive.copies()?;
        let size: u64 = copies.iter().map(|it| it.bytes).sum();
        let (limit, count) = (self.archive_limit(), counted(copies.len(), "conversation"));
        let what = format!(
            "the archive has {count} in {}, of at most {}",
            byte_count(size),
            byte_count(limit)
        );
        let cure = "set a larger limit: `archive_limit = \"20 GB\"` in config.toml";
        let is_full = size > limit;
        Ok(Finding {
            severity: if is_full { Severity::Warning } else { Severity::Note },
            what,
            cure: is_full.then(|| cure.to_owned()),
            curable: false,
            fixed: false,
        })
    }

    fn archive_limit(&self) -> u64 {
        project::archive_limit(self.config_file())
    }
}

/// Returns the sessions whose conversations have grown since they were copied, or since their usage
/// was counted.
fn behind(
    ports: &Ports,
    sessions: &[SessionSummary],
    cursors: &[StoredUsageCursor],
) -> Vec<SessionId> {
    let is_behind = |it: &&SessionSummary| {
        let id = it.binding.as_ref().map(|binding| &binding.vendor_session);
        let id = id.filter(|_| it.session.has_content);
        id.is_some_and(|id| {
            archive::is_outdated(ports, &it.session, id)
                || usage::is_behind(ports, &it.session, id, cursors)
        })
    };
    sessions.iter().filter(is_behind).map(|it| it.session.id).collect()
}

fn damage(copy: &DamagedCopy, owner: Option<&Session>) -> String {
    let DamagedCopy { conversation, folder, why } = copy;
    let of = match (owner, conversation) {
        (Some(owner), Some(it)) => format!("of `{}` ({}:{})", owner.address(), it.vendor, it.id),
        (None, Some(it)) => format!("of {}:{}", it.vendor, it.id),
        _ => "of an unknown conversation".to_owned(),
    };
    format!("the archive's copy {of} in `{}` is damaged: {why}", folder.display())
}
