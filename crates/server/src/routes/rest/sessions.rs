//! Sessions by their ids, and their messages.

use std::path::Path;

use axum::Json;
use axum::extract::State;
use axum::http::Uri;
use segue_core::api::{
    MessageList, MessageSendBody, PageQuery, SendReport, SendRequest, SessionList,
    SessionListQuery, SessionView, TimeCursor, page_size, parse_cursor,
};
use segue_core::flows::list::SessionPageResult;
use segue_core::flows::{list, open_elsewhere, select, view};
use segue_core::model::{Message, Principal, SessionId};
use segue_core::ports::{MessageQuery, SessionSummary, VendorPlace};
use segue_core::{Error, Result};

use super::super::inputs::{PathValue, QueryValues};
use super::super::{Admitted, App, ErrorResponse, RequestIdHeader, RouteResult, Sent, messages};
use super::paged::PageAnswer;
use crate::supervisor::Supervisor;

/// At most this many places are checked for processes that have a conversation open.
const MAX_PLACES: usize = 32;

pub(crate) async fn list(
    Admitted { supervisor, principal }: Admitted,
    QueryValues(query): QueryValues<SessionListQuery>,
    uri: Uri,
) -> Result<PageAnswer<SessionList>, ErrorResponse> {
    let SessionPageResult { sessions, next } =
        list::page(&supervisor.ports, &principal, &query).await?;
    let sessions = views(&supervisor, &sessions).await?;
    let next = next.map(|cursor| cursor.to_string());
    let page = SessionList { sessions, hidden: 0, next: next.clone() };
    Ok(PageAnswer::new(page, &uri, "cursor", next.as_deref()))
}

async fn views(supervisor: &Supervisor, sessions: &[SessionSummary]) -> Result<Vec<SessionView>> {
    let mut places: Vec<VendorPlace> = Vec::new();
    for place in sessions.iter().rev().filter_map(open_elsewhere::place_of) {
        if places.len() < MAX_PLACES && !places.contains(&place) {
            places.push(place);
        }
    }
    let open_elsewhere = supervisor.open_elsewhere(places).await?;
    supervisor.views(sessions, &open_elsewhere).await
}

pub(crate) async fn show(
    Admitted { supervisor, principal }: Admitted,
    PathValue(id): PathValue<SessionId>,
) -> RouteResult<SessionView> {
    let summary = find_session(&supervisor, &principal, id).await?;
    let view = views(&supervisor, &[summary]).await?.pop();
    Ok(Json(view.ok_or_else(|| Error::internal("a session cannot be shown"))?))
}

/// Finds a session by its id, if the caller may reach it.
pub(crate) async fn find_session(
    supervisor: &Supervisor,
    principal: &Principal,
    id: SessionId,
) -> Result<SessionSummary> {
    select::find(&supervisor.ports, principal, &id.to_string(), Path::new("/")).await
}

pub(crate) async fn messages(
    Admitted { supervisor, principal }: Admitted,
    PathValue(id): PathValue<SessionId>,
    QueryValues(query): QueryValues<PageQuery>,
    uri: Uri,
) -> Result<PageAnswer<MessageList>, ErrorResponse> {
    let size = page_size(query.limit)? as usize;
    let after: Option<TimeCursor> = parse_cursor(query.cursor.as_deref())?;
    let session = find_session(&supervisor, &principal, id).await?.session;
    let of_session = MessageQuery { session: Some(session.id), open: false };
    let mut found = supervisor.ports.store.messages(&of_session).await?;
    let position = |it: &Message| TimeCursor { at: it.created_at, id: it.id.uuid() };
    found.sort_by_key(position);
    found.retain(|it| after.is_none_or(|after| position(it) > after));
    let has_more = found.len() > size;
    found.truncate(size);
    let next = found.last().filter(|_| has_more).map(|it| position(it).to_string());
    let messages = found.iter().map(|message| view::message(&session, message)).collect();
    let page = MessageList { messages, failed: Vec::new(), next: next.clone() };
    Ok(PageAnswer::new(page, &uri, "cursor", next.as_deref()))
}

pub(crate) async fn send(
    state: State<App>,
    admitted: Admitted,
    request_id: RequestIdHeader,
    PathValue(id): PathValue<SessionId>,
    Sent(body): Sent<MessageSendBody>,
) -> RouteResult<SendReport> {
    let MessageSendBody { caller, text, command, interrupt, until, timeout_ms } = body;
    let session = id.to_string();
    let request = SendRequest { caller, session, text, command, interrupt, until, timeout_ms };
    messages::send(state, admitted, request_id, Sent(request)).await
}
