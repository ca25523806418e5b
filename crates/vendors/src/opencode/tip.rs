//! The end of an existing conversation, to which turns are added.

use segue_core::ports::TranscriptionOrder;
use segue_core::{Error, Result};

use super::message_ids::CLOCK;
use super::model::OpencodeModel;
use super::paths;
use super::rows::{MessagePages, MessageRow, RevertPoint};
use crate::shared::database::VendorDatabase;
use crate::shared::reading::ReadDirection;

/// The end of an existing conversation to which turns are added.
#[derive(Debug, Default)]
pub(super) struct OpencodeTip {
    /// The timestamp in the id of the newest message, and the time of that message.
    pub(super) clock: u64,
    pub(super) time: i64,
    /// The latest time that an added message can have. Later messages are reverted, and OpenCode
    /// deletes them with the next message. `None` if nothing is reverted.
    pub(super) latest: Option<i64>,
    /// The id of the newest message of the user.
    pub(super) parent: Option<String>,
    pub(super) agent: Option<String>,
    pub(super) model: Option<OpencodeModel>,
}

/// Reads the end of an existing conversation. Fails if the conversation is missing, or if it was
/// reverted to the middle of a message.
pub(super) fn tip(order: &TranscriptionOrder<'_>) -> Result<OpencodeTip> {
    let session = order.id.as_str();
    let gone = || Error::vendor(format!("the conversation `{session}` is gone"));
    let database = paths::open_database(&order.place.config_dir)?.ok_or_else(gone)?;
    if !is_there(&database, session)? {
        return Err(gone());
    }
    let cut = RevertPoint::of(&database, session)?;
    if cut.as_ref().is_some_and(|cut| cut.part.is_some()) {
        return Err(Error::vendor(format!("cannot add turns to conversation `{session}`"))
            .caused_by("it was reverted to the middle of a message")
            .hint("send a message in it with OpenCode, then try again"));
    }
    let mut tip = OpencodeTip {
        latest: cut.as_ref().map(|cut| cut.time().saturating_sub(1)),
        ..OpencodeTip::default()
    };
    let mut messages = MessagePages::new(&database, session, ReadDirection::Back);
    let mut is_newest = true;
    while let Some(message) = messages.next()? {
        if cut.as_ref().is_some_and(|cut| cut.takes(&message)) {
            continue;
        }
        if is_newest {
            (tip.clock, tip.time) = (clock(&message), message.time);
        }
        is_newest = false;
        if message.is_users() {
            tip.agent = message.data["agent"].as_str().map(str::to_owned);
            tip.model = OpencodeModel::read(&message.data["model"]);
            tip.parent = Some(message.id);
            break;
        }
    }
    Ok(tip)
}

fn is_there(database: &VendorDatabase, session: &str) -> Result<bool> {
    let found = database.row("SELECT 1 FROM session WHERE id = ?1", [session], |_| Ok(()))?;
    Ok(found.is_some())
}

/// Returns the timestamp in a message's id. If the id contains none, computes it from the message's
/// time.
fn clock(message: &MessageRow) -> u64 {
    let digits = message.id.strip_prefix("msg_").and_then(|rest| rest.get(..12));
    let told = digits.and_then(|digits| u64::from_str_radix(digits, 16).ok());
    let made = u64::try_from(message.time).unwrap_or_default().wrapping_mul(0x1000);
    told.unwrap_or(made & CLOCK)
}
