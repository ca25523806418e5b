//! Transcripts of sessions in pages, from their ends. A story continues with the conversations from
//! which handoffs led to the session.

use axum::http::Uri;
use segue_core::api::{
    ConversationPart, ConversationReport, StoryCursor, StoryPart, TranscriptPage, TranscriptQuery,
    TurnCursor, page_size, parse_cursor,
};
use segue_core::flows::{conversation, handoff_chain};
use segue_core::model::{Principal, SessionId};
use segue_core::ports::SessionSummary;
use segue_core::{Error, Result};
use tokio::sync::Semaphore;

use super::super::inputs::{PathValue, QueryValues};
use super::super::{Admitted, ErrorResponse};
use super::paged::PageAnswer;
use super::sessions::find_session;
use crate::blocking::blocking;
use crate::conversation::{ConversationReading, TurnPage, readings};
use crate::supervisor::Supervisor;

/// At most this many transcripts are read at the same time.
static TRANSCRIPT_READERS: Semaphore = Semaphore::const_new(4);

pub(crate) async fn transcript(
    Admitted { supervisor, principal }: Admitted,
    PathValue(id): PathValue<SessionId>,
    QueryValues(query): QueryValues<TranscriptQuery>,
    uri: Uri,
) -> Result<PageAnswer<TranscriptPage>, ErrorResponse> {
    let limit = page_size(query.limit)? as usize;
    let before = query.before.as_deref();
    let summary = find_session(&supervisor, &principal, id).await?;
    let page = if query.story {
        let parts = story_parts(&supervisor, &principal, &summary).await?;
        story_page(parts, parse_cursor(before)?, limit).await?
    } else {
        let part = conversation::of_session(&supervisor.ports, &summary).await?;
        whole_page(part, (id, parse_cursor(before)?), limit).await?
    };
    let next = page.next.clone();
    Ok(PageAnswer::new(page, &uri, "before", next.as_deref()))
}

/// Reads turns of the session's own transcript.
async fn whole_page(
    part: ConversationPart,
    (session, before): (SessionId, Option<TurnCursor>),
    limit: usize,
) -> Result<TranscriptPage> {
    let (vendor, vendor_session_id) = (part.vendor.clone(), part.vendor_session_id.clone());
    let read = move || {
        let reading = readings(&ConversationReport { parts: vec![part] })?.pop();
        let reading = reading.ok_or_else(unreadable)?;
        reading.check()?;
        reading.page(before, limit)
    };
    let page = read_transcript(read).await?;
    let next = page.next.map(|cursor| cursor.to_string());
    let turns = page.turns;
    Ok(TranscriptPage { session, vendor, vendor_session_id, turns, next, part: None })
}

/// Returns the conversations that led to the session, oldest first. The last is the session's own:
/// the page of a session does not show the conversations that continue it.
async fn story_parts(
    supervisor: &Supervisor,
    principal: &Principal,
    summary: &SessionSummary,
) -> Result<Vec<ConversationPart>> {
    let mut parts = handoff_chain::parts(&supervisor.ports, principal, summary).await?;
    let is_own = |part: &ConversationPart| {
        part.session.as_ref().is_some_and(|it| it.session == summary.session.id)
    };
    let own = parts.iter().rposition(is_own).ok_or_else(unreadable)?;
    parts.truncate(own + 1);
    Ok(parts)
}

/// Reads turns of one of the conversations. The cursor of its first page names the conversation
/// before it.
async fn story_page(
    parts: Vec<ConversationPart>,
    before: Option<StoryCursor>,
    limit: usize,
) -> Result<TranscriptPage> {
    let last = parts.len().saturating_sub(1);
    let cursor = before.unwrap_or(StoryCursor { part: to_number(last), before: None });
    let index = cursor.part as usize;
    let report = ConversationReport { parts };
    let part = report.parts.get(index).cloned().ok_or_else(changed_story)?;
    let read = move || {
        let reading = readings(&report)?.into_iter().nth(index).ok_or_else(unreadable)?;
        read_part(&reading, (cursor, index == last), limit)
    };
    let (page, problem) = read_transcript(read).await?;
    let earlier = cursor.part.checked_sub(1).map(|part| StoryCursor { part, before: None });
    let own = page.next.map(|turn| StoryCursor { part: cursor.part, before: Some(turn) });
    let view = part.session.ok_or_else(unreadable)?;
    Ok(TranscriptPage {
        session: view.session,
        vendor: part.vendor,
        vendor_session_id: part.vendor_session_id,
        turns: page.turns,
        next: own.or(earlier).map(|cursor| cursor.to_string()),
        part: Some(StoryPart {
            number: cursor.part,
            address: view.address,
            taken_over: part.taken_over,
            unreadable: problem,
        }),
    })
}

/// Reads a page of one conversation. An earlier conversation that cannot be read is an empty page
/// with the reason, so that the others are shown.
fn read_part(
    reading: &ConversationReading,
    (cursor, is_last): (StoryCursor, bool),
    limit: usize,
) -> Result<(TurnPage, Option<String>)> {
    match reading.check() {
        Ok(()) => Ok((reading.page(cursor.before, limit)?, None)),
        Err(error) if is_last => Err(error),
        Err(error) => Ok((TurnPage { turns: Vec::new(), next: None }, Some(error.message))),
    }
}

async fn read_transcript<T: Send + 'static>(
    read: impl FnOnce() -> Result<T> + Send + 'static,
) -> Result<T> {
    let _reader = TRANSCRIPT_READERS
        .acquire()
        .await
        .map_err(|error| Error::internal("no transcript can be read").caused_by(error))?;
    blocking(read).await
}

fn to_number(index: usize) -> u32 {
    u32::try_from(index).unwrap_or(u32::MAX)
}

fn unreadable() -> Error {
    Error::internal("a transcript cannot be read")
}

fn changed_story() -> Error {
    Error::conflict("the story has changed since the previous page")
        .caused_by("it does not have the conversation of the cursor any more")
        .hint("begin again without `before`")
}
