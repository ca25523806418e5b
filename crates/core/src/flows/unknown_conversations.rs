//! Finds conversations in a folder that belong to no session: a user started them without Segue,
//! with any vendor.

use std::collections::BTreeSet;
use std::path::Path;

use crate::api::UnknownConversation;
use crate::error::Result;
use crate::flows::adopt::first_words;
use crate::flows::look::bound_conversations;
use crate::model::{Environment, VendorId, VendorSessionId};
use crate::ports::{Conversation, Place, Ports, SessionQuery, Vendor};

/// Lists the conversations in `cwd` that belong to no session, newest first.
pub async fn in_folder(
    ports: &Ports,
    cwd: &Path,
    environment: &Environment,
) -> Result<Vec<UnknownConversation>> {
    let query = SessionQuery { cwd: Some(cwd.to_owned()), ..SessionQuery::default() };
    let known = bound_conversations(ports, &ports.store.sessions(&query).await?).await?;
    let mut conversations = Vec::new();
    for vendor in ports.vendors.all() {
        // If the files of one vendor cannot be read, the others are still listed.
        let found = without_session(ports, vendor.as_ref(), cwd, environment, &known);
        conversations.extend(found.unwrap_or_default());
    }
    conversations.sort_by_key(|conversation| std::cmp::Reverse(conversation.began_at));
    Ok(conversations)
}

fn without_session(
    ports: &Ports,
    vendor: &dyn Vendor,
    cwd: &Path,
    environment: &Environment,
    known: &BTreeSet<(VendorId, VendorSessionId)>,
) -> Result<Vec<UnknownConversation>> {
    let Some(transcripts) = vendor.transcripts() else { return Ok(Vec::new()) };
    let config_dir = vendor.launching().config_dir(environment)?;
    let place = Place { config_dir, cwd: cwd.to_owned() };
    let conversations = transcripts.conversations(ports.files.as_ref(), &place)?;
    let unknown =
        conversations.into_iter().filter(|it| !known.contains(&(vendor.id(), it.id.clone())));
    Ok(unknown.map(|it| described(vendor, it)).collect())
}

fn described(vendor: &dyn Vendor, conversation: Conversation) -> UnknownConversation {
    let begins = conversation.first_message.as_deref().map(first_words);
    UnknownConversation {
        vendor: vendor.id(),
        vendor_session_id: conversation.id,
        began_at: conversation.began_at,
        begins,
    }
}
