//! Replies: the results of tasks as comments on a forge, each written once.

use crate::error::Result;
use crate::failpoint;
use crate::model::{
    EventPayload, ForgeReply, ForgeUser, NewEvent, ReplyId, ReplyState, ReplyTarget, Task,
};
use crate::ports::{Change, CommentSearch, Commit, ForgeApi, ForgeFault, Ports};
use crate::rules::replies;

/// Returns the change that records the reply of a task that has ended. `None` if no reply is wanted.
/// It belongs into the commit of the end.
pub(super) fn due(ports: &Ports, ended: &Task) -> Option<Change> {
    let target = ended.order.reply.clone()?;
    Some(Change::AddReply(Box::new(ForgeReply {
        id: ReplyId::new(ports.clock.new_id()),
        task: ended.id,
        target,
        text: replies::comment(ended)?,
        state: ReplyState::Waiting,
        attempts: 0,
        error: None,
        created_at: ports.clock.now(),
    })))
}

/// Writes a reply, unless an earlier attempt has written it. Fails if the forge cannot be asked now;
/// the reply then stays, and a later call writes it.
///
/// The answer of an earlier attempt may have been lost after the forge wrote the comment. So the
/// comment is looked for before it is written.
pub async fn write(
    ports: &Ports,
    (api, account): (&dyn ForgeApi, &ForgeUser),
    (reply, longest): (&ForgeReply, usize),
) -> Result<()> {
    let ReplyTarget { repository, subject, .. } = &reply.target;
    let marker = replies::marker(reply.id);
    // Among all comments, however old: the clock of the forge may differ from that of this machine.
    let search = CommentSearch { marker: &marker, author: account, since: None };
    let attempt = ForgeReply { attempts: reply.attempts + 1, ..reply.clone() };
    let known = match reply.attempts {
        0 => Ok(None),
        _ => api.find_comment(repository, *subject, &search).await,
    };
    let written = match known {
        Ok(Some(_)) => Ok(()),
        Ok(None) => {
            // Recorded before the request, so that a crash after it looks for the comment.
            record(ports, attempt.clone()).await?;
            let body = replies::with_marker(&reply.text, reply.id, longest);
            failpoint::hit("reply.post.before");
            let posted = api.post_comment(repository, *subject, &body).await;
            failpoint::hit("reply.post.after");
            posted.map(drop)
        }
        Err(failure) => Err(failure),
    };
    match written {
        Ok(()) => {
            finish(ports, ForgeReply { state: ReplyState::Written, error: None, ..attempt }).await
        }
        Err(failure) if is_final(&failure.fault) => {
            let error = Some(failure.to_string());
            finish(ports, ForgeReply { state: ReplyState::Failed, error, ..attempt }).await
        }
        Err(failure) => {
            record(ports, ForgeReply { error: Some(failure.to_string()), ..attempt }).await?;
            Err(failure.into())
        }
    }
}

/// Returns whether a later attempt would fail for the same reason.
fn is_final(fault: &ForgeFault) -> bool {
    matches!(fault, ForgeFault::NotFound | ForgeFault::Rejected(..) | ForgeFault::TooManyPages(_))
}

async fn record(ports: &Ports, reply: ForgeReply) -> Result<()> {
    let changes = vec![Change::SetReply(Box::new(reply))];
    ports.store.commit(Commit { changes, events: Vec::new() }).await.map(drop)
}

async fn finish(ports: &Ports, reply: ForgeReply) -> Result<()> {
    let (task, state, reason) = (reply.task, reply.state, reply.error.clone());
    let payload = EventPayload::ReplyChanged { task, state, reason };
    let event = NewEvent { at: ports.clock.now(), session: None, launch: None, payload };
    let changes = vec![Change::SetReply(Box::new(reply))];
    failpoint::hit("reply.record.before");
    ports.store.commit(Commit { changes, events: vec![event] }).await?;
    failpoint::hit("reply.record.after");
    Ok(())
}
