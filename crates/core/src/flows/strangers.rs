//! Conversations in a folder that no session has: begun by hand, with any vendor.

use std::path::Path;

use crate::api::Stranger;
use crate::error::Result;
use crate::flows::look::claimed;
use crate::model::{Environment, VendorSessionId};
use crate::ports::{Conversation, Place, Ports, Vendor};

/// How much of a first message is shown.
const SHOWN: usize = 80;

/// Lists them, the newest first.
pub async fn strangers(
    ports: &Ports,
    cwd: &Path,
    environment: &Environment,
) -> Result<Vec<Stranger>> {
    let mut sessions = ports.store.sessions().await?;
    sessions.retain(|it| it.session.cwd == cwd);
    let known = claimed(ports, &sessions).await?;
    let mut strangers = Vec::new();
    for vendor in ports.vendors.all() {
        // A vendor whose files cannot be read does not hide the others.
        let found = unknown(ports, vendor.as_ref(), cwd, environment, &known);
        strangers.extend(found.unwrap_or_default());
    }
    strangers.sort_by_key(|stranger| std::cmp::Reverse(stranger.began_at));
    Ok(strangers)
}

fn unknown(
    ports: &Ports,
    vendor: &dyn Vendor,
    cwd: &Path,
    environment: &Environment,
    known: &[VendorSessionId],
) -> Result<Vec<Stranger>> {
    let place = Place { config_dir: vendor.config_dir(environment)?, cwd: cwd.to_owned() };
    let conversations = vendor.conversations(ports.files.as_ref(), &place)?;
    let strange = conversations.into_iter().filter(|it| !known.contains(&it.id));
    Ok(strange.map(|it| stranger(vendor, it)).collect())
}

fn stranger(vendor: &dyn Vendor, conversation: Conversation) -> Stranger {
    let begins = conversation.first_message.map(|text| text.chars().take(SHOWN).collect());
    Stranger {
        vendor: vendor.id(),
        vendor_session_id: conversation.id,
        began_at: conversation.began_at,
        begins,
    }
}
