//! Requests of the UI that change nothing.

use segue_core::api::{
    AdoptReport, AdoptRequest, ConversationRequest, ListRequest, SessionList, UsageRequest,
    WorktreeDiffReport, WorktreeDiffRequest, WorktreeList, WorktreesRequest, parse_cursor,
};
use segue_core::model::{Event, SessionId, Usage, UsageGrouping};
use segue_core::ports::{EventQuery, Proof, TerminalAccess, TerminalStream};
use segue_core::{Error, Result};
use segue_server::{conversation, vendors, wiring};
use segue_tui::{DiffQuestion, TalkPage, VendorChoice};

use super::daemon_client::DaemonClient;

/// How many turns of a conversation are read at once.
const PAGE_TURNS: usize = 100;
/// How many events of a session are shown.
const LOG_EVENTS: u32 = 500;

impl DaemonClient {
    pub(super) async fn read_sessions(&self) -> Result<SessionList> {
        self.client().await?.list(&ListRequest::default()).await
    }

    pub(super) async fn watch(&self, session: SessionId) -> Result<Box<dyn TerminalStream>> {
        let client = self.client().await?;
        let point = client.attach_point(&session.to_string(), self.local.cwd()).await?;
        self.local.terminals().open(point.launch, TerminalAccess::View).await
    }

    /// Reads turns of a conversation in this process, from the file that the daemon names.
    pub(super) async fn read_talk(
        &self,
        session: SessionId,
        before: Option<String>,
    ) -> Result<TalkPage> {
        let before = parse_cursor(before.as_deref())?;
        let (caller, address) = (self.caller(), session.to_string());
        let request = ConversationRequest { caller, address, story: false };
        let report = self.client().await?.conversation(&request).await?;
        let read = move || {
            let reading = conversation::readings(&report)?.pop();
            let reading = reading.ok_or_else(|| Error::not_found("it has no conversation"))?;
            reading.check()?;
            let page = reading.page(before, PAGE_TURNS)?;
            Ok(TalkPage { turns: page.turns, before: page.next.map(|it| it.to_string()) })
        };
        let failed = |error| Error::internal("the conversation cannot be read").caused_by(error);
        tokio::task::spawn_blocking(read).await.map_err(failed)?
    }

    pub(super) async fn read_log(&self, session: SessionId) -> Result<Vec<Event>> {
        let query =
            EventQuery { after: 0, sessions: vec![session], limit: LOG_EVENTS, newest: true };
        self.client().await?.events(&query).await
    }

    pub(super) async fn read_diff(&self, question: DiffQuestion) -> Result<WorktreeDiffReport> {
        let request = WorktreeDiffRequest {
            cwd: self.local.cwd().to_owned(),
            environment: self.local.environment().clone(),
            name: question.name,
            base: None,
            only_stat: false,
        };
        self.client().await?.worktree_diff(&request).await
    }

    pub(super) async fn read_worktrees(&self) -> Result<WorktreeList> {
        let cwd = self.local.cwd().to_owned();
        let request = WorktreesRequest { cwd, names: Vec::new(), with_sizes: false };
        self.client().await?.worktrees(&request).await
    }

    pub(super) async fn read_usage_today(&self) -> Result<Usage> {
        let zone = jiff::tz::TimeZone::try_system().unwrap_or(jiff::tz::TimeZone::UTC);
        let today = wiring::now().to_zoned(zone).start_of_day();
        let since = today.ok().map(|it| it.timestamp());
        let request = UsageRequest { since, by: UsageGrouping::Vendor };
        Ok(self.client().await?.usage(&request).await?.total.usage)
    }

    /// Returns the vendors whose programs are installed. Starts none of them.
    pub(super) fn read_vendors(&self) -> Vec<VendorChoice> {
        let installed = vendors::list(&self.local).vendors;
        let is_built_in = |name: &str| {
            let vendor = vendors::all().into_iter().find(|it| it.id().as_str() == name);
            vendor.is_some_and(|it| matches!(it.support().proof, Proof::BuiltIn))
        };
        let choice = |it: segue_core::api::VendorReport| VendorChoice {
            is_built_in: is_built_in(it.name.as_str()),
            name: it.name.to_string(),
            title: it.title,
        };
        installed.into_iter().filter(|it| it.installed).map(choice).collect()
    }

    pub(super) async fn find_conversations(&self) -> Result<AdoptReport> {
        let caller = self.caller();
        let (vendor, id, name, since) = (None, None, None, None);
        let request = AdoptRequest { caller, vendor, id, name, all: false, since };
        self.client().await?.adopt(&request).await
    }
}
