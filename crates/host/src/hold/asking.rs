//! Questions of headless agents: a process of the agent asks, the daemon replies.

use std::io::Read;
use std::path::Path;

use segue_core::rules::dialog;
use segue_core::{Error, Result};
use serde_json::Value;

use super::client::unexpected;
use super::connect::connect;
use super::holder::MAX_REQUEST_BYTES;
use super::holder_connection::{ANSWER_TIMEOUT, HolderConnection, silent};
use super::wire::{WireAnswer, WireRequest, capability};

/// At most this many bytes of a request are read.
const MAX_READ_BYTES: u64 = 16 << 20;

/// The numbers of characters to which texts in a request are shortened, until the request is small
/// enough for the holder.
const TEXT_CHARS: [usize; 3] = [10_000, 1_000, 100];

/// Asks a person through the holder of the launch with this folder, and waits for the reply. Fails if
/// the holder is gone, or if the question is refused. The process that calls this must belong to the
/// launch's agent.
pub fn ask_person(folder: &Path, request: impl Read) -> Result<String> {
    let request = read_request(request)?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime =
        runtime.map_err(|error| Error::internal("cannot start the runtime").caused_by(error))?;
    runtime.block_on(async {
        let gone = || Error::unavailable("no person can be asked: the holder of the agent is gone");
        let mut connection = connect(folder).await?.ok_or_else(gone)?;
        connection.require(capability::ASK)?;
        // A person may take any time. The vendor's program limits how long it waits.
        match connection.ask(&WireRequest::Ask { request }).await?.ok_or_else(gone)? {
            WireAnswer::Asked(Some(reply)) => Ok(reply),
            WireAnswer::Asked(None) => Err(Error::vendor("Segue does not understand the request")),
            other => Err(unexpected(&other)),
        }
    })
}

/// Reads a request, which is JSON, and shortens its texts if it is too long.
fn read_request(request: impl Read) -> Result<String> {
    let request: Value = serde_json::from_reader(request.take(MAX_READ_BYTES))
        .map_err(|error| Error::usage("the request is not JSON").caused_by(error))?;
    let texts = std::iter::once(request.to_string());
    let shorter = TEXT_CHARS.iter().map(|most| shortened(request.clone(), *most).to_string());
    texts.chain(shorter).find(|text| text.len() <= MAX_REQUEST_BYTES).ok_or_else(|| {
        Error::usage(format!("the request has too many parts for {MAX_REQUEST_BYTES} bytes"))
    })
}

/// Cuts out the middle of texts that are too long. The end of a text is as important as its
/// beginning.
fn shortened(value: Value, most: usize) -> Value {
    match value {
        Value::String(text) => Value::String(dialog::shortened(&text, most)),
        Value::Array(items) => items.into_iter().map(|item| shortened(item, most)).collect(),
        Value::Object(fields) => {
            fields.into_iter().map(|(name, value)| (name, shortened(value, most))).collect()
        }
        other => other,
    }
}

/// Replies to a question. `None` if the holder exits meanwhile.
pub(super) async fn reply(
    mut connection: HolderConnection,
    question: &str,
    text: Option<&str>,
) -> Result<Option<bool>> {
    connection.require(capability::ASK)?;
    let (question, text) = (question.to_owned(), text.map(str::to_owned));
    let request = WireRequest::Reply { question, text };
    let answer = tokio::time::timeout(ANSWER_TIMEOUT, connection.ask(&request)).await;
    match answer.map_err(|_| silent())?? {
        Some(WireAnswer::Replied(was_open)) => Ok(Some(was_open)),
        Some(other) => Err(unexpected(&other)),
        None => Ok(None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_request_keeps_the_beginning_and_the_end_of_its_texts() {
        let short = r#"{"command":"ls"}"#;
        assert_eq!(read_request(short.as_bytes()).unwrap(), short);
        let long = format!(r#"{{"command":"first {}; last"}}"#, "x".repeat(100_000));
        let read = read_request(long.as_bytes()).unwrap();
        assert!(read.len() <= MAX_REQUEST_BYTES, "{}", read.len());
        assert!(read.starts_with(r#"{"command":"first "#) && read.ends_with(r#"; last"}"#));
        let parts = format!("[{}1]", "\"x\",".repeat(20_000));
        assert!(read_request(parts.as_bytes()).is_err());
        assert!(read_request(&b"not json"[..]).is_err());
    }
}
