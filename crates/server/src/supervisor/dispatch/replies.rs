//! Writes the results of tasks as comments.

use segue_core::Result;
use segue_core::flows::replies;

use super::worker::SourceWorker;

impl SourceWorker {
    /// Writes the replies of the source, oldest first. Fails if the forge cannot be asked; the replies
    /// then stay in their order, and the next pass writes them.
    pub(super) async fn write_replies(&mut self) -> Result<()> {
        let mut waiting = self.supervisor.ports.store.waiting_replies().await?;
        waiting.retain(|reply| reply.target.source == self.name);
        if waiting.is_empty() {
            return Ok(());
        }
        let Some(source) = self.source()? else { return Ok(()) };
        let Some(api) = self.api(&source).await? else { return Ok(()) };
        let account = self.account(api.as_ref()).await?;
        let longest = self.supervisor.ports.sources.forge(&source)?.longest_comment();
        for reply in &waiting {
            let place = (api.as_ref(), &account);
            replies::write(&self.supervisor.ports, place, (reply, longest)).await?;
        }
        Ok(())
    }
}
