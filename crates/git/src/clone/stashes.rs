//! Carries over the stashes of a damaged clone. All but the newest one are only in a reflog.

use std::fs;

use segue_core::Result;

use super::carry::Carrying;
use crate::failure::cannot;
use crate::salvage;

/// The ref of the newest stash.
pub(super) const STASH: &str = "refs/stash";

impl Carrying<'_> {
    pub(super) async fn carry_stashes(&self) -> Result<()> {
        let log = self.aside.join("logs").join(STASH);
        let new_log = self.new_folder().join("logs").join(STASH);
        if !log.is_file() || new_log.exists() {
            return Ok(());
        }
        self.carry_existing(salvage::commit_ids(&log)?).await?;
        let refs = crate::refs::Refs { git: self.repository.git, repository: &self.old_folders() };
        let Some(newest) = refs.commit(STASH).await? else { return Ok(()) };
        let command = self.repository.changing()?.args(["update-ref", STASH, newest.as_str()]);
        command.run().await?;
        if let Some(parent) = new_log.parent() {
            fs::create_dir_all(parent).map_err(|error| cannot("create", parent, &error))?;
        }
        fs::copy(&log, &new_log).map(drop).map_err(|error| cannot("copy", &log, &error))
    }
}
