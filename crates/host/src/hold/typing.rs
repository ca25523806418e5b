//! Asking a holder for its screen, and to type on it.

use segue_core::Result;
use segue_core::ports::{Screen, TypeOrder, Typed};

use super::client::unexpected;
use super::line::{Line, PATIENCE, silent};
use super::wire::{Answer, Request, capability};

/// Asks what the terminal shows; none without a holder or a terminal.
pub(super) async fn screen(line: Option<Line>) -> Result<Option<Screen>> {
    let Some(line) = line else { return Ok(None) };
    match ask(line, capability::SCREEN, &Request::Screen).await? {
        Some(Answer::Screen(screen)) => Ok(screen.map(|screen| (*screen).into())),
        Some(other) => Err(unexpected(&other)),
        None => Ok(None),
    }
}

/// Orders a message to be typed; none when the holder went meanwhile.
pub(super) async fn type_message(line: Line, order: &TypeOrder) -> Result<Option<Typed>> {
    let TypeOrder { message, text, revision } = order.clone();
    let request = Request::Type { message, text, revision };
    match ask(line, capability::TYPE, &request).await? {
        Some(Answer::Typed(outcome)) => Ok(Some(outcome.into())),
        Some(other) => Err(unexpected(&other)),
        None => Ok(None),
    }
}

/// Orders keys to be pressed; none when the holder went meanwhile.
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
