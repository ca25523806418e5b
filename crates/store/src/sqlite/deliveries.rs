//! Reads deliveries, the issues on which agents work, and replies.

use rusqlite::{Connection, Row, params_from_iter};
use segue_core::model::{
    Delivery, DeliveryId, DeliverySummary, ForgeReply, IssueKey, IssueRef, PolledRepository,
    ReplyState, RepositoryId, SessionId, SourceName, TrackedIssue,
};
use segue_core::ports::DeliveryQuery;

use crate::sqlite::conditions::Conditions;
use crate::sqlite::read::{all, one};
use crate::sqlite::rows;
use crate::sqlite::values::{Time, Word};

const SUMMARIES: &str = "
    SELECT id, source, forge_id, event, received_at, bytes, detail, has_content FROM deliveries";

const WHOLE: &str = "
    SELECT id, source, forge_id, event, received_at, bytes, detail, has_content, headers, body,
           digest
    FROM deliveries WHERE id = ?1";

const ISSUE_SESSIONS: &str = "
    SELECT fleet, agent, repository, issue, session FROM issue_sessions
    WHERE repository = ?1 AND issue = ?2 ORDER BY fleet, agent";

fn read_summary(row: &Row<'_>) -> rusqlite::Result<DeliverySummary> {
    Ok(DeliverySummary {
        id: rows::word_at(row, 0)?,
        source: rows::word_at(row, 1)?,
        forge_id: row.get(2)?,
        event: row.get(3)?,
        received_at: rows::word_at(row, 4)?,
        bytes: row.get(5)?,
        state: rows::json_at(row, 6)?,
        has_content: row.get(7)?,
    })
}

fn read_whole(row: &Row<'_>) -> rusqlite::Result<Delivery> {
    Ok(Delivery {
        summary: read_summary(row)?,
        headers: rows::json_at(row, 8)?,
        body: row.get(9)?,
        digest: row.get(10)?,
    })
}

pub(crate) fn list(
    connection: &Connection,
    query: &DeliveryQuery,
) -> rusqlite::Result<Vec<DeliverySummary>> {
    let mut conditions = Conditions::default();
    if let Some(prefix) = &query.id_prefix {
        // `~` is greater than every character of an id.
        conditions.add("id BETWEEN ? AND ?", prefix)?;
        conditions.add_parameter(&format!("{prefix}~"))?;
    }
    if let Some(states) = &query.states {
        // A list of words, so that SQLite sees which states are asked for and uses its index.
        let words: Vec<String> = states.iter().map(|it| format!("'{}'", it.word())).collect();
        conditions.add_plain(&format!("state IN ({})", words.join(", ")));
    }
    conditions.add_if("source = ?", query.source.as_ref().map(Word))?;
    conditions.add_if("received_at < ?", query.before.map(Time))?;
    let older_than = query.older_than.as_ref().map(Word);
    conditions.add_if("place < (SELECT place FROM deliveries WHERE id = ?)", older_than)?;
    conditions.add_if("has_content = ?", query.has_content)?;
    let (order, limit) = match (query.newest, query.oldest) {
        (Some(limit), _) => ("DESC", format!("LIMIT {limit}")),
        (None, Some(limit)) => ("ASC", format!("LIMIT {limit}")),
        (None, None) => ("ASC", String::new()),
    };
    let sql = conditions.statement(SUMMARIES, &format!("ORDER BY place {order} {limit}"));
    let mut found = all(connection, &sql, params_from_iter(conditions.parameters), read_summary)?;
    if query.newest.is_some() {
        found.reverse();
    }
    Ok(found)
}

pub(crate) fn whole(connection: &Connection, id: DeliveryId) -> rusqlite::Result<Option<Delivery>> {
    one(connection, WHOLE, [Word(&id)], read_whole)
}

/// Returns the delivery of a source that has this id of the forge or this digest.
pub(crate) fn known(
    connection: &Connection,
    source: &SourceName,
    forge_id: Option<&str>,
    digest: &str,
) -> rusqlite::Result<Option<DeliveryId>> {
    let by_digest = "SELECT id FROM deliveries WHERE source = ?1 AND digest = ?2";
    if let Some(found) = one(connection, by_digest, (Word(source), digest), rows::word)? {
        return Ok(Some(found));
    }
    let Some(forge_id) = forge_id else { return Ok(None) };
    let by_id = "SELECT id FROM deliveries WHERE source = ?1 AND forge_id = ?2";
    one(connection, by_id, (Word(source), forge_id), rows::word)
}

pub(crate) fn issues(
    connection: &Connection,
    source: Option<&SourceName>,
) -> rusqlite::Result<Vec<TrackedIssue>> {
    let mut conditions = Conditions::default();
    conditions.add_if("source = ?", source.map(Word))?;
    let select = "SELECT record FROM tracked_issues";
    let sql = conditions.statement(select, "ORDER BY source, repository, subject");
    all(connection, &sql, params_from_iter(conditions.parameters), rows::json)
}

pub(crate) fn polled_repositories(
    connection: &Connection,
    source: &SourceName,
) -> rusqlite::Result<Vec<PolledRepository>> {
    let sql = "SELECT record FROM polled_repositories WHERE source = ?1 ORDER BY repository";
    all(connection, sql, [Word(source)], rows::json)
}

pub(crate) fn waiting_replies(connection: &Connection) -> rusqlite::Result<Vec<ForgeReply>> {
    let sql = "SELECT record FROM replies WHERE state = ?1 ORDER BY place";
    all(connection, sql, [ReplyState::Waiting.word()], rows::json)
}

pub(crate) fn sessions_of_issue(
    connection: &Connection,
    repository: &RepositoryId,
    issue: &IssueRef,
) -> rusqlite::Result<Vec<(IssueKey, SessionId)>> {
    all(connection, ISSUE_SESSIONS, (Word(repository), Word(issue)), rows::issue_session)
}
