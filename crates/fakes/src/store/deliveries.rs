//! Deliveries and replies.

use segue_core::Result;
use segue_core::model::{
    Delivery, DeliveryHeaders, DeliveryId, DeliveryStateKind, DeliverySummary, ForgeReply,
    SourceName, StoredDeliveryState, TrackedIssue,
};
use segue_core::ports::{Conflict, DeliveryQuery, Missing};

use super::Tables;

impl Tables {
    pub(super) fn deliveries_of(&self, query: &DeliveryQuery) -> Vec<DeliverySummary> {
        let is_meant = |it: &&DeliverySummary| {
            query.id_prefix.as_ref().is_none_or(|prefix| it.id.to_string().starts_with(prefix))
                && query.source.as_ref().is_none_or(|source| *source == it.source)
                && query.states.as_ref().is_none_or(|states| states.contains(&it.state.kind()))
                && query.before.is_none_or(|before| it.received_at < before)
                && query.has_content.is_none_or(|has_content| it.has_content == has_content)
        };
        let end = query.older_than.map_or(self.deliveries.len(), |id| {
            self.deliveries.iter().position(|it| it.summary.id == id).unwrap_or(0)
        });
        let all = self.deliveries[..end].iter().map(|it| &it.summary).filter(is_meant);
        let mut found: Vec<DeliverySummary> = all.cloned().collect();
        match (query.newest, query.oldest) {
            (Some(limit), _) => drop(found.drain(..found.len().saturating_sub(limit as usize))),
            (None, Some(limit)) => found.truncate(limit as usize),
            (None, None) => {}
        }
        found
    }

    pub(super) fn known_delivery(
        &self,
        source: &SourceName,
        forge_id: Option<&str>,
        digest: &str,
    ) -> Option<DeliveryId> {
        let own = || self.deliveries.iter().filter(|it| it.summary.source == *source);
        let by_digest = own().find(|it| it.digest == digest);
        let has_id = |it: &&Delivery| it.summary.forge_id.as_deref() == forge_id;
        let by_id = || own().find(has_id).filter(|_| forge_id.is_some());
        by_digest.or_else(by_id).map(|it| it.summary.id)
    }

    pub(super) fn add_delivery(&mut self, delivery: Delivery) -> Result<()> {
        let summary = &delivery.summary;
        let forge_id = summary.forge_id.as_deref();
        if let Some(id) = self.known_delivery(&summary.source, forge_id, &delivery.digest) {
            return Err(Conflict::DeliveryKnown { id }.into());
        }
        self.deliveries.push(delivery);
        Ok(())
    }

    pub(super) fn set_delivery(
        &mut self,
        id: DeliveryId,
        state: StoredDeliveryState,
    ) -> Result<()> {
        let found = self.deliveries.iter_mut().find(|it| it.summary.id == id);
        found.ok_or(Missing::Delivery(id))?.summary.state = state;
        Ok(())
    }

    pub(super) fn remove_delivery(&mut self, id: DeliveryId) -> Result<()> {
        let place = self.deliveries.iter().position(|it| it.summary.id == id);
        self.deliveries.remove(place.ok_or(Missing::Delivery(id))?);
        Ok(())
    }

    pub(super) fn remove_delivery_content(&mut self, id: DeliveryId) {
        let is_done = |state: &StoredDeliveryState| {
            matches!(state.kind(), DeliveryStateKind::Processed | DeliveryStateKind::Ignored)
        };
        let found = self.deliveries.iter_mut().find(|it| it.summary.id == id);
        if let Some(delivery) = found.filter(|it| is_done(&it.summary.state)) {
            delivery.summary.has_content = false;
            (delivery.headers, delivery.body) = (DeliveryHeaders::default(), Vec::new());
        }
    }

    pub(super) fn put_tracked_issue(&mut self, issue: TrackedIssue) {
        self.tracked_issues.insert(issue.key(), issue);
    }

    pub(super) fn set_reply(&mut self, reply: ForgeReply) -> Result<()> {
        let id = reply.id;
        let found = self.replies.iter_mut().find(|it| it.id == id);
        *found.ok_or(Missing::Reply(id))? = reply;
        Ok(())
    }
}
