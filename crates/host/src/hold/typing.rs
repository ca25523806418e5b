//! Requests the screen of a holder, and asks it to type.

use segue_core::Result;
use segue_core::ports::{Screen, TypeOrder, Typed};

use super::client::unexpected;
use super::line::{Line, PATIENCE, silent};
use super::wire::{Answer, Request, capability};

/// Returns what the terminal shows. `None` without a holder or a terminal.
pub(super) async fn screen(line: Option<Line>) -> Result<Option<Screen>> {
    let Some(line) = line else { return Ok(None) };
    match ask(line, capability::SCREEN, &Request::Screen).await? {
        Some(Answer::Screen(screen)) => Ok(screen.map(|screen| (*screen).into())),
        Some(other) => Err(unexpected(&other)),
        None => Ok(None),
    }
}

/// Asks the holder to type a message. `None` if the holder exits meanwhile.
pub(super) async fn type_message(line: Line, order: &TypeOrder) -> Result<Option<Typed>> {
    let TypeOrder { message, text, revision } = order.clone();
    let request = Request::Type { message, text, revision };
    match ask(line, capability::TYPE, &request).await? {
        Some(Answer::Typed(outcome)) => Ok(Some(outcome.into())),
        Some(other) => Err(unexpected(&other)),
        None => Ok(None),
    }
}

/// Asks the holder to press keys. `None` if the holder exits meanwhile.
pub(super) async fn press(line: Line, keys: &[u8], revision: u64) -> Result<Option<bool>> {
    let request = Request::Press { keys: keys.to_vec(), revision };
    match ask(line, capability::PRESS, &request).await? {
        Some(Answer::Pressed(pressed)) => Ok(Some(pressed)),
        Some(other) => Err(unexpected(&other)),
        None => Ok(None),
    }
}

async fn ask(mut line: Line, capability: &str, request: &Request) -> Result<Option<Answer>> {
    line.needs(capability)?;
    tokio::time::timeout(PATIENCE, line.ask(request)).await.map_err(|_| silent())?
}
