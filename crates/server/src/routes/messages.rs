//! The routes for messages: send, list, cancel, answer, wait.

use std::collections::{BTreeSet, HashMap};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use axum::Json;
use axum::extract::State;
use segue_core::api::{
    AnswerReport, AnswerRequest, CancelRequest, MessageList, MessageView, MessageWaitRequest,
    MessagesRequest, SelectRequest, SendReport, SendRequest, Until, WaitReport, WaitRequest,
};
use segue_core::flows::select::{self, Chosen};
use segue_core::flows::{bringing_back, caller_environment, commands, repetition, view};
use segue_core::model::{
    Message, MessageStateKind, Principal, RequestKey, RequestStep, Session, SessionId,
};
use segue_core::ports::{self, Commit, MessageQuery, SessionQuery, SessionSummary};
use segue_core::{Error, Result};
use tokio::time::timeout;

use super::{Admitted, App, RequestIdHeader, RouteResult, Sent};
use crate::requests::{AnswerStorage, step};
use crate::supervisor::{MessageAuthor, Outgoing, SessionRequest, Supervisor, Waiter};

/// The largest message. A message that is typed or carried over is never longer.
const MAX_MESSAGE_BYTES: usize = 16 * 1024 * 1024;

pub(crate) async fn send(
    State(app): State<App>,
    Admitted { supervisor, principal }: Admitted,
    request_id: RequestIdHeader,
    Sent(request): Sent<SendRequest>,
) -> RouteResult<SendReport> {
    let SendRequest { caller, session, text, command, interrupt, until, timeout_ms } = request;
    check(&text)?;
    let found = select::find(&supervisor.ports, &principal, &session, &caller.cwd).await?;
    bringing_back::refuse_handed_over(&supervisor.ports, &found, "send").await?;
    if command {
        commands::check(&supervisor.ports, &principal, &found.session, &text)?;
    }
    let session = found.session.id;
    let environment =
        caller_environment::environment(&supervisor.ports, &principal, caller.environment).await?;
    let verb = if command { "command" } else { "send" };
    let once = request_id.once(&app, &supervisor, &principal, &(verb, session, &text, interrupt));
    let (request, same_commit) = (once.key(), Commit::default());
    let author = author(&supervisor, &principal, session).await;
    let outgoing = Outgoing {
        id: None,
        text,
        is_command: command,
        author,
        environment,
        interrupt,
        request,
        same_commit,
    };
    let recorder = Arc::clone(&supervisor);
    let send = |reply| SessionRequest::Send { outgoing, reply };
    let send = async move { recorder.ask(session, send).await };
    let message = once.carry_out(AnswerStorage::NotStored, send).await?;
    let report = |reply| SessionRequest::Report { message, reply };
    if until == Until::Recorded || supervisor.stopped_holder(&found).is_some() {
        return Ok(Json(supervisor.ask(session, report).await?));
    }
    let wait = |reply| SessionRequest::Wait(Waiter::message(message, until, reply));
    match timeout(Duration::from_millis(timeout_ms), supervisor.ask(session, wait)).await {
        Ok(answered) => Ok(Json(answered?)),
        Err(_) => Ok(Json(supervisor.ask(session, report).await?)),
    }
}

async fn author(supervisor: &Supervisor, principal: &Principal, to: SessionId) -> MessageAuthor {
    match principal {
        Principal::Agent(own) if own.id != to => {
            MessageAuthor::Agent(repetition::sender(&supervisor.ports, own).await)
        }
        Principal::Agent(_) => MessageAuthor::Segue,
        Principal::User | Principal::Token(_) => MessageAuthor::Person,
    }
}

fn check(text: &str) -> Result<()> {
    if text.trim().is_empty() {
        let error = Error::usage("the message is empty");
        return Err(error.hint("write a text, or `-` for standard input"));
    }
    let hint = "put it into a file, and ask the agent to read that file";
    if text.len() > MAX_MESSAGE_BYTES {
        let length = text.len();
        return Err(Error::usage(format!(
            "the message has {length} bytes, more than {MAX_MESSAGE_BYTES}"
        ))
        .hint(hint));
    }
    if text.contains('\0') {
        return Err(Error::usage("the message has a zero byte").hint(hint));
    }
    Ok(())
}

pub(crate) async fn list(
    Admitted { supervisor, principal }: Admitted,
    Sent(request): Sent<MessagesRequest>,
) -> RouteResult<MessageList> {
    let MessagesRequest { cwd, names } = request;
    if names.is_empty() {
        let messages = supervisor.ports.store.messages(&MessageQuery::default()).await?;
        let views = reachable(&supervisor, &principal, &messages).await?;
        let messages = views.into_iter().map(|(view, _)| view).collect();
        return Ok(Json(MessageList { messages, failed: Vec::new(), next: None }));
    }
    let request = SelectRequest { cwd, names, whole: false, finished: true };
    let Chosen { sessions, failed } =
        select::select(&supervisor.ports, &principal, &request).await?;
    let mut messages = Vec::new();
    for it in &sessions {
        let session = &it.summary.session;
        let query = MessageQuery { session: Some(session.id), open: false };
        let found = supervisor.ports.store.messages(&query).await?;
        messages.extend(found.iter().map(|message| view::message(session, message)));
    }
    messages.sort_by_key(|message| (message.created_at, message.id));
    Ok(Json(MessageList { messages, failed, next: None }))
}

/// Returns the messages of the sessions that the caller may reach.
async fn reachable<'a>(
    supervisor: &Supervisor,
    principal: &Principal,
    messages: &'a [Message],
) -> Result<Vec<(MessageView, &'a Message)>> {
    let ids: BTreeSet<SessionId> = messages.iter().map(|message| message.session).collect();
    let query = SessionQuery::ids(ids.into_iter().collect());
    let mut sessions = supervisor.ports.store.sessions(&query).await?;
    sessions.retain(|it| principal.allow_session(it.session.id, it.session.parent).is_ok());
    let sessions: HashMap<SessionId, SessionSummary> =
        sessions.into_iter().map(|it| (it.session.id, it)).collect();
    let view = |message: &Message| {
        let summary = sessions.get(&message.session)?;
        Some(view::message(&summary.session, message))
    };
    Ok(messages.iter().filter_map(|message| Some((view(message)?, message))).collect())
}

pub(crate) async fn wait_for_message(
    Admitted { supervisor, principal }: Admitted,
    Sent(request): Sent<MessageWaitRequest>,
) -> RouteResult<SendReport> {
    let MessageWaitRequest { message, known_question } = request;
    let found = supervisor.ports.store.message(message).await?.ok_or_else(|| {
        Error::not_found(format!("no message has the id `{message}`"))
            .hint("run `segue messages` to see all messages")
    })?;
    let address = found.session.to_string();
    let found = select::find(&supervisor.ports, &principal, &address, Path::new("/")).await?;
    if let Some(fault) = supervisor.stopped_holder(&found) {
        return Err(Error::from(fault).into());
    }
    let until = Until::TurnEnded;
    let wait =
        |reply| SessionRequest::Wait(Waiter::Message { message, until, known_question, reply });
    Ok(Json(supervisor.ask(found.session.id, wait).await?))
}

pub(crate) async fn cancel(
    State(app): State<App>,
    Admitted { supervisor, principal }: Admitted,
    request_id: RequestIdHeader,
    Sent(request): Sent<CancelRequest>,
) -> RouteResult<MessageView> {
    let once = request_id.once(&app, &supervisor, &principal, &("cancel", &request));
    let key = once.key();
    let cancel = async move { cancel_once(&supervisor, &principal, key, &request.message).await };
    Ok(Json(once.carry_out(AnswerStorage::WithChanges, cancel).await?))
}

/// Cancels the message whose id begins with `id`.
async fn cancel_once(
    supervisor: &Arc<Supervisor>,
    principal: &Principal,
    key: Option<RequestKey>,
    id: &str,
) -> Result<MessageView> {
    let messages = supervisor.ports.store.messages(&MessageQuery::default()).await?;
    let mut found = reachable(supervisor, principal, &messages).await?;
    found.retain(|(_, message)| message.id.to_string().starts_with(id));
    let [(view, message)] = found.as_slice() else { return Err(not_exactly_one(id, found.len())) };
    let (message, session) = (message.id, message.session);
    let view = MessageView { state: MessageStateKind::Cancelled.into(), ..view.clone() };
    let answer = serde_json::to_string(&view)
        .map_err(|error| Error::internal("an answer cannot be written").caused_by(error))?;
    let same_commit = step(&supervisor.ports, key, RequestStep::Done { answer });
    let cancel = |reply| SessionRequest::Cancel { message, same_commit, reply };
    supervisor.ask(session, cancel).await?;
    Ok(view)
}

fn not_exactly_one(id: &str, count: usize) -> Error {
    let hint = "run `segue messages` to see all messages";
    if count == 0 {
        return Error::not_found(format!("no message has the id `{id}`")).hint(hint);
    }
    Error::usage(format!("`{id}` can mean {count} messages")).hint(hint)
}

pub(crate) async fn answer(
    State(app): State<App>,
    Admitted { supervisor, principal }: Admitted,
    request_id: RequestIdHeader,
    Sent(request): Sent<AnswerRequest>,
) -> RouteResult<AnswerReport> {
    let once = request_id.once(&app, &supervisor, &principal, &("answer", &request));
    let found =
        select::find(&supervisor.ports, &principal, &request.session, &request.cwd).await?.session;
    let answer = match request.answer.to_lowercase().as_str() {
        "yes" | "y" => ports::Answer::Yes,
        "no" | "n" => ports::Answer::No,
        empty if empty.trim().is_empty() => {
            let error = Error::usage("the answer is empty");
            return Err(error.hint("use `yes`, `no` or a choice").into());
        }
        _ => ports::Answer::Choice(request.answer),
    };
    let (question, request) = (request.question, once.key());
    let give = async move {
        // A repeated request is not checked again: its question is answered already.
        check_answer(&supervisor, &principal, &found, question.as_deref())?;
        let give = move |reply| SessionRequest::Answer { answer, question, request, reply };
        supervisor.ask(found.id, give).await
    };
    Ok(Json(once.carry_out(AnswerStorage::WithChanges, give).await?))
}

/// Returns an error if the caller may not answer this question. An agent must name the question, so
/// that its answer is given to no other one.
fn check_answer(
    supervisor: &Supervisor,
    principal: &Principal,
    session: &Session,
    named: Option<&str>,
) -> Result<()> {
    let asked = supervisor.question(session.id).filter(|it| named == Some(it.id.as_str()));
    principal.allow_answer((session.id, session.parent), asked.map(|it| it.kind))
}

pub(crate) async fn wait(
    Admitted { supervisor, principal }: Admitted,
    Sent(request): Sent<WaitRequest>,
) -> RouteResult<WaitReport> {
    let WaitRequest { cwd, session, target, timeout_ms } = request;
    let found = select::find(&supervisor.ports, &principal, &session, &cwd).await?;
    if let Some(fault) = supervisor.stopped_holder(&found) {
        return Err(Error::from(fault).into());
    }
    let found = found.session.id;
    let reached =
        supervisor.ask(found, |reply| SessionRequest::Wait(Waiter::Status { target, reply }));
    let Some(limit) = timeout_ms.map(Duration::from_millis) else {
        return Ok(Json(reached.await?));
    };
    if let Ok(report) = timeout(limit, reached).await {
        return Ok(Json(report?));
    }
    let now =
        select::find(&supervisor.ports, &principal, &found.to_string(), Path::new("/")).await?;
    Ok(Json(WaitReport { session: supervisor.view(&now), reached: false, why: Vec::new() }))
}
