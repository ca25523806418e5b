//! Worktrees, and the sessions that work in them.

use rusqlite::{OptionalExtension as _, Transaction};
use segue_core::model::{
    AgentWorktree, BranchName, SessionId, WorktreeCommands, WorktreeId, WorktreeRemoval,
};
use segue_core::ports::{Conflict, Missing};

use super::address;
use crate::sqlite::fault::SqliteFault;
use crate::sqlite::read;
use crate::sqlite::values::{Json, Location, Time, Word};

pub(super) fn add(
    transaction: &Transaction<'_>,
    worktree: &AgentWorktree,
) -> Result<(), SqliteFault> {
    let AgentWorktree { path, port, .. } = worktree;
    if exists(transaction, "SELECT 1 FROM worktrees WHERE path = ?1", Location(path))? {
        return Err(Conflict::WorktreePathTaken { path: path.clone() }.into());
    }
    if exists(transaction, "SELECT 1 FROM worktrees WHERE port = ?1", port)? {
        return Err(Conflict::WorktreePortTaken { port: *port }.into());
    }
    transaction
        .prepare_cached(
            "INSERT INTO worktrees
             (id, path, session, agent, branch, port, source, remote_host, beginning, removal,
              commands, is_set_up, created_at)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)",
        )?
        .execute((
            Word(&worktree.id),
            Location(path),
            Word(&worktree.session),
            Word(&worktree.agent),
            Word(&worktree.branch),
            port,
            Json(&worktree.source),
            Word(&worktree.remote_host),
            Json(&worktree.start),
            worktree.removal.as_ref().map(Json),
            Json(&worktree.commands),
            worktree.is_set_up,
            Time(worktree.created_at),
        ))?;
    Ok(())
}

fn exists(
    transaction: &Transaction<'_>,
    sql: &str,
    parameter: impl rusqlite::ToSql,
) -> Result<bool, SqliteFault> {
    let found = transaction.prepare_cached(sql)?.query_row([parameter], |_| Ok(())).optional()?;
    Ok(found.is_some())
}

pub(super) fn lease(
    transaction: &Transaction<'_>,
    worktree: WorktreeId,
    session: SessionId,
) -> Result<(), SqliteFault> {
    let known = known(transaction, worktree)?;
    if let Some(owner) = known.session.filter(|owner| *owner != session)
        && !leaves_worktree(transaction, owner)?
    {
        let owner = address(transaction, owner)?;
        return Err(Conflict::WorktreeLeased { branch: known.branch, owner }.into());
    }
    let own = address(transaction, session)?;
    let sql = "SELECT 1 FROM worktrees WHERE session = ?1";
    if known.session != Some(session) && exists(transaction, sql, Word(&session))? {
        return Err(Conflict::SecondWorktree { session: own }.into());
    }
    set_session(transaction, worktree, Some(session))
}

/// Returns whether another session may have the worktree of this session now.
fn leaves_worktree(transaction: &Transaction<'_>, owner: SessionId) -> Result<bool, SqliteFault> {
    let sql = "SELECT 1 FROM launches WHERE session = ?1 AND ended IS NULL";
    let runs = exists(transaction, sql, Word(&owner))?;
    let owner = read::session(transaction, owner)?;
    Ok(owner.is_none_or(|owner| owner.leaves_worktree(runs)))
}

pub(super) fn release(
    transaction: &Transaction<'_>,
    worktree: WorktreeId,
) -> Result<(), SqliteFault> {
    known(transaction, worktree)?;
    set_session(transaction, worktree, None)
}

fn set_session(
    transaction: &Transaction<'_>,
    worktree: WorktreeId,
    session: Option<SessionId>,
) -> Result<(), SqliteFault> {
    transaction
        .prepare_cached("UPDATE worktrees SET session = ?2 WHERE id = ?1")?
        .execute((Word(&worktree), Word(&session)))?;
    Ok(())
}

pub(super) fn set_removal(
    transaction: &Transaction<'_>,
    worktree: WorktreeId,
    removal: Option<&WorktreeRemoval>,
) -> Result<(), SqliteFault> {
    known(transaction, worktree)?;
    transaction
        .prepare_cached("UPDATE worktrees SET removal = ?2 WHERE id = ?1")?
        .execute((Word(&worktree), removal.map(Json)))?;
    Ok(())
}

pub(super) fn set_branch(
    transaction: &Transaction<'_>,
    worktree: WorktreeId,
    branch: &BranchName,
) -> Result<(), SqliteFault> {
    known(transaction, worktree)?;
    transaction
        .prepare_cached("UPDATE worktrees SET branch = ?2 WHERE id = ?1")?
        .execute((Word(&worktree), Word(branch)))?;
    Ok(())
}

pub(super) fn set_commands(
    transaction: &Transaction<'_>,
    worktree: WorktreeId,
    commands: &WorktreeCommands,
) -> Result<(), SqliteFault> {
    known(transaction, worktree)?;
    transaction
        .prepare_cached("UPDATE worktrees SET commands = ?2 WHERE id = ?1")?
        .execute((Word(&worktree), Json(commands)))?;
    Ok(())
}

pub(super) fn set_set_up(
    transaction: &Transaction<'_>,
    worktree: WorktreeId,
    is_set_up: bool,
) -> Result<(), SqliteFault> {
    known(transaction, worktree)?;
    transaction
        .prepare_cached("UPDATE worktrees SET is_set_up = ?2 WHERE id = ?1")?
        .execute((Word(&worktree), is_set_up))?;
    Ok(())
}

pub(super) fn forget(
    transaction: &Transaction<'_>,
    worktree: WorktreeId,
) -> Result<(), SqliteFault> {
    known(transaction, worktree)?;
    transaction
        .prepare_cached("DELETE FROM worktrees WHERE id = ?1")?
        .execute([Word(&worktree)])?;
    Ok(())
}

fn known(transaction: &Transaction<'_>, id: WorktreeId) -> Result<AgentWorktree, SqliteFault> {
    read::worktree(transaction, id)?.ok_or_else(|| Missing::Worktree(id).into())
}
