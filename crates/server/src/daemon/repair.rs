//! Implements `segue doctor`, for a store that can be used and for a damaged or missing one.

use std::sync::Arc;

use segue_core::api::{DoctorReport, Finding};
use segue_core::flows::doctor::{self, Mode};
use segue_core::flows::salvage;
use segue_core::ports::{Commit, Salvaged, SessionQuery};
use segue_core::rules::display::counted;
use segue_core::{Error, Kind, Result};
use segue_store as store;

use super::Daemon;
use crate::blocking::blocking;
use crate::supervisor::Supervisor;
use crate::wiring;

impl Daemon {
    /// Reports problems. With `fix`, repairs those that can be repaired.
    pub(crate) async fn examine(&self, fix: bool) -> Result<DoctorReport> {
        match self.with_usable_store().await {
            Ok(supervisor) => self.compare(&supervisor, fix).await,
            Err(error) => self.examine_store(error, fix).await,
        }
    }

    /// Returns the supervisor if the store file can be written, is not damaged, and is still the
    /// file that the daemon opened.
    async fn with_usable_store(&self) -> Result<Arc<Supervisor>> {
        let supervisor = self.ready().await?;
        // An empty commit writes nothing, but fails if the store cannot be written.
        supervisor.ports.store.commit(Commit::default()).await?;
        self.check_file().await?;
        Ok(supervisor)
    }

    async fn compare(&self, supervisor: &Arc<Supervisor>, fix: bool) -> Result<DoctorReport> {
        let mode = if fix { Mode::Fix } else { Mode::Look };
        let mut findings = doctor::examine(&supervisor.ports, mode).await?;
        if fix {
            // Sessions that the repair has added may have live processes.
            supervisor.reconcile().await?;
            supervisor.retry_recording();
        }
        findings.extend(supervisor.examine_settings(&self.environment));
        findings.extend(supervisor.watch.examine());
        let archive = supervisor.examine_archive(fix).await;
        findings.extend(archive.unwrap_or_else(|error| vec![Finding::problem(&error)]));
        findings.extend(wiring::machine_notes(&self.environment));
        findings.push(wiring::protection_note(supervisor.live.count()));
        Ok(DoctorReport { findings })
    }

    async fn examine_store(&self, error: Error, fix: bool) -> Result<DoctorReport> {
        let mut finding = Finding { curable: is_curable(&error), ..Finding::problem(&error) };
        let mut findings = Vec::new();
        if fix && is_curable(&error) {
            let (how, open) = self.cure().await?;
            finding.what = format!("{}: {how}", finding.what);
            finding.fixed = true;
            findings = open;
            // The next command starts a new daemon, which opens the repaired store.
            self.shut_down();
        }
        findings.insert(0, finding);
        Ok(DoctorReport { findings })
    }

    /// Repairs the store. Returns how it was repaired, and the problems that remain.
    async fn cure(&self) -> Result<(String, Vec<Finding>)> {
        if self.check_file().await.is_ok() {
            return Ok(("the current file is used from now on".to_owned(), Vec::new()));
        }
        let database = self.paths.database();
        if store::finish_rebuilt(&database)? {
            return Ok(("an earlier rebuild is used from now on".to_owned(), Vec::new()));
        }
        let salvaged = self.salvage().await?;
        let place = store::rebuilding(&database)?;
        let store = store::open_without_backup(&place).await?;
        let ports = wiring::ports(&self.paths, &self.environment, store)?;
        let unavailable = |error| Error { kind: Kind::Unavailable, ..error };
        let (sessions, mut open) = doctor::rebuild(&ports).await.map_err(unavailable)?;
        open.extend(salvage::restore(&ports, salvaged).await.map_err(unavailable)?);
        let all = ports.store.count_sessions(&SessionQuery::default()).await? as usize;
        // Ends the store's thread, so that all data is in one file.
        drop(ports);
        let label = format!("broken-{}", wiring::now().as_millisecond());
        let kept = match store::publish_rebuilt(&database, &label)? {
            Some(aside) => format!(", the old one kept as `{}`", aside.display()),
            None => String::new(),
        };
        let salvaged = all.saturating_sub(sessions);
        let rows =
            if salvaged > 0 { format!(" and {salvaged} from its rows") } else { String::new() };
        let sessions = counted(sessions, "session");
        Ok((format!("rebuilt with {sessions} from the launch folders{rows}{kept}"), open))
    }

    /// Reads the readable rows of the store and of its backup.
    async fn salvage(&self) -> Result<Salvaged> {
        let database = self.paths.database();
        blocking(move || store::salvage(&database)).await
    }

    async fn check_file(&self) -> Result<()> {
        let database = self.paths.database();
        blocking(move || store::check(&database)).await
    }
}

/// Returns whether rebuilding the store helps. It does not help if the disk is full or if the store
/// has a newer version.
fn is_curable(error: &Error) -> bool {
    error.hints.iter().any(|hint| hint.contains("doctor --fix"))
}
