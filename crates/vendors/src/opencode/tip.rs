//! The end of an existing conversation, to which turns are added.

use segue_core::ports::TranscriptionOrder;
use segue_core::{Error, Result};

use super::message_ids::TIMESTAMP_MASK;
use super::model::OpencodeModel;
use super::paths;
use super::rows::{MessagePages, MessageRow, RevertPoint};
use crate::shared::database::VendorDatabase;
use crate::shared::reading::ReadDirection;

/// The end of an existing conversation to which turns are added.
#[derive(Debug, Default)]
pub(super) struct OpencodeTip {
    /// The timestamp in the id of the last message, and the time of that message.
    pub(super) id_timestamp: u64,
    pub(super) time: i64,
    /// The latest allowed time of an added message. Later messages count as reverted, and OpenCode
    /// deletes reverted messages. `None` if no message is reverted.
    pub(super) latest_time: Option<i64>,
    /// The id of the last message of the user.
    pub(super) last_user_message: Option<String>,
    pub(super) agent: Option<String>,
    pub(super) model: Option<OpencodeModel>,
}

/// Reads the end of an existing conversation. Fails if the conversation is missing, or if it was
/// reverted to the middle of a message.
pub(super) fn tip(order: &TranscriptionOrder<'_>) -> Result<OpencodeTip> {
    let session = order.id.as_str();
    let missing = || Error::vendor(format!("conversation `{session}` does not exist"));
    let database = paths::open_database(&order.place.config_dir)?.ok_or_else(missing)?;
    if !exists(&database, session)? {
        return Err(missing());
    }
    let revert = RevertPoint::of(&database, session)?;
    if revert.as_ref().is_some_and(|revert| revert.part.is_some()) {
        return Err(Error::vendor(format!("cannot add turns to conversation `{session}`"))
            .caused_by("it was reverted to the middle of a message")
            .hint("send a message in it with OpenCode, then try again"));
    }
    let mut tip = OpencodeTip {
        latest_time: revert.as_ref().map(|revert| revert.time().saturating_sub(1)),
        ..OpencodeTip::default()
    };
    let mut messages = MessagePages::new(&database, session, ReadDirection::Back);
    let mut is_newest = true;
    while let Some(message) = messages.next()? {
        if revert.as_ref().is_some_and(|revert| revert.reverts(&message)) {
            continue;
        }
        if is_newest {
            (tip.id_timestamp, tip.time) = (id_timestamp(&message), message.time);
        }
        is_newest = false;
        if message.is_from_user() {
            tip.agent = message.data["agent"].as_str().map(str::to_owned);
            tip.model = OpencodeModel::read(&message.data["model"]);
            tip.last_user_message = Some(message.id);
            break;
        }
    }
    Ok(tip)
}

fn exists(database: &VendorDatabase, session: &str) -> Result<bool> {
    let found = database.row("SELECT 1 FROM session WHERE id = ?1", [session], |_| Ok(()))?;
    Ok(found.is_some())
}

/// Returns the timestamp in a message's id. Computes it from the message's time if the id contains
/// no timestamp.
fn id_timestamp(message: &MessageRow) -> u64 {
    let digits = message.id.strip_prefix("msg_").and_then(|rest| rest.get(..12));
    let parsed = digits.and_then(|digits| u64::from_str_radix(digits, 16).ok());
    let computed = u64::try_from(message.time).unwrap_or_default().wrapping_mul(0x1000);
    parsed.unwrap_or(computed & TIMESTAMP_MASK)
}
