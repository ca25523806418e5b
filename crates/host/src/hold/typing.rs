//! Requests of clients to read the screen of an agent, to type messages and to press keys.

use segue_core::Result;
use segue_core::model::Screen;
use segue_core::ports::{TypeOrder, Typed};

use super::client::unexpected;
use super::holder_connection::{ANSWER_TIMEOUT, HolderConnection, silent};
use super::wire::{WireAnswer, WireRequest, capability};

/// Returns the screen of the agent's terminal. `None` without a holder or a terminal.
pub(super) async fn screen(connection: Option<HolderConnection>) -> Result<Option<Screen>> {
    let Some(connection) = connection else { return Ok(None) };
    match ask(connection, capability::SCREEN, &WireRequest::Screen).await? {
        Some(WireAnswer::Screen(screen)) => Ok(screen.map(|screen| (*screen).into())),
        Some(other) => Err(unexpected(&other)),
        None => Ok(None),
    }
}

/// Asks the holder to type a message. `None` if the holder exits meanwhile.
pub(super) async fn type_message(
    connection: HolderConnection,
    order: &TypeOrder,
) -> Result<Option<Typed>> {
    let TypeOrder { message, text, revision } = order.clone();
    let request = WireRequest::Type { message, text, revision };
    match ask(connection, capability::TYPE, &request).await? {
        Some(WireAnswer::Typed(outcome)) => Ok(Some(outcome.into())),
        Some(other) => Err(unexpected(&other)),
        None => Ok(None),
    }
}

/// Asks the holder to press keys. `None` if the holder exits meanwhile.
pub(super) async fn press(
    connection: HolderConnection,
    keys: &[u8],
    revision: u64,
) -> Result<Option<bool>> {
    let request = WireRequest::Press { keys: keys.to_vec(), revision };
    match ask(connection, capability::PRESS, &request).await? {
        Some(WireAnswer::Pressed(pressed)) => Ok(Some(pressed)),
        Some(other) => Err(unexpected(&other)),
        None => Ok(None),
    }
}

async fn ask(
    mut connection: HolderConnection,
    capability: &str,
    request: &WireRequest,
) -> Result<Option<WireAnswer>> {
    connection.require(capability)?;
    tokio::time::timeout(ANSWER_TIMEOUT, connection.ask(request)).await.map_err(|_| silent())?
}
