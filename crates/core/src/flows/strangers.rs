//! Finds conversations in a folder that belong to no session: a user started them without Segue,
//! with any vendor.

use std::collections::BTreeSet;
use std::path::Path;

use crate::api::Stranger;
use crate::error::Result;
use crate::flows::adopt::first_words;
use crate::flows::look::claimed;
use crate::model::{Environment, VendorId, VendorSessionId};
use crate::ports::{Conversation, Place, Ports, SessionQuery, Vendor};

/// Lists the conversations in `cwd` that belong to no session, newest first.
pub async fn strangers(
    ports: &Ports,
    cwd: &Path,
    environment: &Environment,
) -> Result<Vec<Stranger>> {
    let query = SessionQuery { cwd: Some(cwd.to_owned()), ..SessionQuery::default() };
    let known = claimed(ports, &ports.store.sessions(&query).await?).await?;
    let mut strangers = Vec::new();
    for vendor in ports.vendors.all() {
        // If the files of one vendor cannot be read, the others are still listed.
        let found = without_session(ports, vendor.as_ref(), cwd, environment, &known);
        strangers.extend(found.unwrap_or_default());
    }
    strangers.sort_by_key(|stranger| std::cmp::Reverse(stranger.began_at));
    Ok(strangers)
}

fn without_session(
    ports: &Ports,
    vendor: &dyn Vendor,
    cwd: &Path,
    environment: &Environment,
    known: &BTreeSet<(VendorId, VendorSessionId)>,
) -> Result<Vec<Stranger>> {
    let Some(transcripts) = vendor.transcripts() else { return Ok(Vec::new()) };
    let config_dir = vendor.launching().config_dir(environment)?;
    let place = Place { config_dir, cwd: cwd.to_owned() };
    let conversations = transcripts.conversations(ports.files.as_ref(), &place)?;
    let strange =
        conversations.into_iter().filter(|it| !known.contains(&(vendor.id(), it.id.clone())));
    Ok(strange.map(|it| stranger(vendor, it)).collect())
}

fn stranger(vendor: &dyn Vendor, conversation: Conversation) -> Stranger {
    let begins = conversation.first_message.as_deref().map(first_words);
    Stranger {
        vendor: vendor.id(),
        vendor_session_id: conversation.id,
        began_at: conversation.began_at,
        begins,
    }
}
