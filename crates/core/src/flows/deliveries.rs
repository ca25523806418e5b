//! Deliveries: receiving, listing and finding them.

use sha2::{Digest as _, Sha256};

use crate::api::{DeliveryListQuery, page_size, parse_cursor};
use crate::error::{Error, Kind, Result};
use crate::failpoint;
use crate::model::{
    Delivery, DeliveryHeaders, DeliveryId, DeliveryRequest, DeliverySummary, ForgeSource,
    SourceName, StoredDeliveryState,
};
use crate::ports::{Change, Commit, Conflict, DeliveryQuery, Ports};

/// At least this many characters of an id are needed.
const SHORTEST_PREFIX: usize = 4;

/// A delivery that is stored now, or was stored before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DeliveryReceipt {
    pub id: DeliveryId,
    pub is_new: bool,
}

/// Verifies and stores a delivery. A delivery that is stored already is not stored again. A delivery
/// that is not genuine is refused with [`Kind::Unauthorized`], and leaves nothing.
pub async fn receive(
    ports: &Ports,
    source: &SourceName,
    headers: &DeliveryHeaders,
    body: Vec<u8>,
) -> Result<DeliveryReceipt> {
    let forge = ports.sources.forge(&find_source(ports, source)?)?;
    let webhooks = forge.webhooks();
    let secret = ports.sources.secret(source).await?;
    let received_at = ports.clock.now();
    let request = DeliveryRequest { headers, body: &body, received_at };
    webhooks.verify(&request, &secret).map_err(|refusal| {
        Error::new(Kind::Unauthorized, "the delivery is not genuine").caused_by(refusal)
    })?;
    let delivery = Delivery {
        summary: DeliverySummary {
            id: DeliveryId::new(ports.clock.new_id()),
            source: source.clone(),
            forge_id: webhooks.delivery_id(headers),
            event: webhooks.event_name(headers),
            received_at,
            bytes: u32::try_from(body.len()).unwrap_or(u32::MAX),
            state: StoredDeliveryState::Received,
            has_content: true,
        },
        headers: webhooks.storable_headers(headers),
        digest: digest(&body),
        body,
    };
    store(ports, delivery).await
}

async fn store(ports: &Ports, delivery: Delivery) -> Result<DeliveryReceipt> {
    let id = delivery.summary.id;
    let changes = vec![Change::AddDelivery(Box::new(delivery))];
    failpoint::hit("delivery.store.before");
    let stored = ports.store.commit(Commit { changes, events: Vec::new() }).await;
    failpoint::hit("delivery.store.after");
    match stored {
        Ok(_) => Ok(DeliveryReceipt { id, is_new: true }),
        Err(error) => match error.conflict.as_deref() {
            Some(Conflict::DeliveryKnown { id }) => Ok(DeliveryReceipt { id: *id, is_new: false }),
            _ => Err(error),
        },
    }
}

fn digest(body: &[u8]) -> String {
    Sha256::digest(body).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Returns a source of the settings.
pub fn find_source(ports: &Ports, name: &SourceName) -> Result<ForgeSource> {
    let found = ports.sources.sources()?.into_iter().find(|source| source.name == *name);
    found.ok_or_else(|| {
        Error::not_found(format!("config.toml has no source `{name}`"))
            .hint("add a table `[[sources]]` with this name")
    })
}

/// Finds a delivery by its id, or by the beginning of its id.
pub async fn find(ports: &Ports, text: &str) -> Result<Delivery> {
    let is_prefix =
        text.len() >= SHORTEST_PREFIX && text.chars().all(|c| c.is_ascii_hexdigit() || c == '-');
    if !is_prefix {
        return Err(unknown(text));
    }
    let id_prefix = Some(text.to_ascii_lowercase());
    let query = DeliveryQuery { id_prefix, newest: Some(2), ..DeliveryQuery::default() };
    let found = ports.store.deliveries(&query).await?;
    match &found[..] {
        [only] => ports.store.delivery(only.id).await?.ok_or_else(|| unknown(text)),
        [] => Err(unknown(text)),
        _ => Err(Error::usage(format!("`{text}` can mean several deliveries"))
            .hint("give more characters of the id; `segue deliveries ls --json` has whole ids")),
    }
}

fn unknown(text: &str) -> Error {
    let shown: String = text.chars().take(60).collect();
    Error::not_found(format!("no delivery has the id `{}`", shown.escape_debug()))
        .hint("run `segue deliveries ls` to see all deliveries")
}

/// Returns a page of the deliveries that a query describes, the newest first, and the delivery after
/// which the next page begins. `None` on the last page.
pub async fn page(
    ports: &Ports,
    query: &DeliveryListQuery,
) -> Result<(Vec<DeliverySummary>, Option<DeliveryId>)> {
    let size = page_size(query.limit)?;
    let query = DeliveryQuery {
        source: query.source.clone(),
        states: query.state.map(|state| vec![state]),
        older_than: parse_cursor(query.cursor.as_deref())?,
        newest: Some(size + 1),
        ..DeliveryQuery::default()
    };
    let mut found = ports.store.deliveries(&query).await?;
    found.reverse();
    let has_more = found.len() > size as usize;
    found.truncate(size as usize);
    let next = found.last().filter(|_| has_more).map(|it| it.id);
    Ok((found, next))
}

/// Fails if headers and body of a delivery were removed, because it was old.
pub fn require_content(summary: &DeliverySummary) -> Result<()> {
    match summary.has_content {
        true => Ok(()),
        false => {
            Err(Error::not_found(format!("delivery `{}` has no content any more", summary.id))
                .caused_by("headers and bodies of old deliveries are removed")
                .hint("set a longer time for `deliveries` under `[sweep]` in config.toml"))
        }
    }
}

/// Records that a delivery is to be compared with the rules once more.
pub async fn replay(ports: &Ports, delivery: DeliveryId) -> Result<()> {
    let change = Change::SetDelivery { delivery, state: StoredDeliveryState::Received };
    failpoint::hit("delivery.replay.before");
    ports.store.commit(Commit { changes: vec![change], events: Vec::new() }).await?;
    failpoint::hit("delivery.replay.after");
    Ok(())
}
