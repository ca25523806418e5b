//! Sessions: made once, changed little, removed as a whole.

use jiff::Timestamp;
use rusqlite::{Transaction, named_params};
use segue_core::Error;
use segue_core::model::{Permission, Session, SessionId, SessionName, Status};

use super::{address, no_session};
use crate::fault::Fault;
use crate::read;
use crate::values::{Json, Location, Time, Word};

const INSERT: &str = "
    INSERT INTO sessions (
        id, fleet, name, agent, vendor, cwd, config_dir, model, permission, headless, restart,
        parent, status, spoke, created_at, updated_at, args, env, instructions,
        description, archive
    ) VALUES (
        :id, :fleet, :name, :agent, :vendor, :cwd, :config_dir, :model, :permission, :headless,
        :restart, :parent, :status, :spoke, :created_at, :updated_at, :args, :env, :instructions,
        :description, :archive
    )";

pub(super) fn create(transaction: &Transaction<'_>, session: &Session) -> Result<(), Fault> {
    check_name_is_free(transaction, session)?;
    check_id_is_free(transaction, session)?;
    transaction.prepare_cached(INSERT)?.execute(named_params! {
        ":id": Word(&session.id),
        ":fleet": Word(&session.fleet),
        ":name": Word(&session.name),
        ":agent": Word(&session.agent),
        ":vendor": Word(&session.vendor),
        ":cwd": Location(&session.cwd),
        ":config_dir": Location(&session.config_dir),
        ":model": session.model,
        ":permission": Word(&session.permission),
        ":headless": session.headless,
        ":restart": Word(&session.restart),
        ":parent": Word(&session.parent),
        ":status": Json(&session.status),
        ":spoke": session.spoke,
        ":created_at": Time(session.created_at),
        ":updated_at": Time(session.updated_at),
        ":args": Json(&session.args),
        ":env": Json(&session.env),
        ":instructions": session.instructions,
        ":description": session.description.as_ref().map(Json),
        ":archive": session.archive,
    })?;
    Ok(())
}

pub(super) fn set_status(
    transaction: &Transaction<'_>,
    session: SessionId,
    status: Status,
    at: Timestamp,
) -> Result<(), Fault> {
    let sql = "UPDATE sessions SET status = ?2, updated_at = ?3 WHERE id = ?1";
    let parameters = (Word(&session), Json(&status), Time(at));
    let changed = transaction.prepare_cached(sql)?.execute(parameters)?;
    found(changed, session)
}

pub(super) fn mark_spoke(transaction: &Transaction<'_>, session: SessionId) -> Result<(), Fault> {
    let sql = "UPDATE sessions SET spoke = 1 WHERE id = ?1";
    let changed = transaction.prepare_cached(sql)?.execute([Word(&session)])?;
    found(changed, session)
}

pub(super) fn rename(
    transaction: &Transaction<'_>,
    session: SessionId,
    name: &SessionName,
) -> Result<(), Fault> {
    let known = read::session(transaction, session)?.ok_or_else(|| no_session(session))?;
    if known.name == *name {
        return Ok(());
    }
    check_name_is_free(transaction, &Session { name: name.clone(), ..known })?;
    let sql = "UPDATE sessions SET name = ?2 WHERE id = ?1";
    transaction.prepare_cached(sql)?.execute((Word(&session), Word(name)))?;
    Ok(())
}

pub(super) fn set_archive(
    transaction: &Transaction<'_>,
    session: SessionId,
    archive: bool,
) -> Result<(), Fault> {
    let sql = "UPDATE sessions SET archive = ?2 WHERE id = ?1";
    let changed = transaction.prepare_cached(sql)?.execute((Word(&session), archive))?;
    found(changed, session)
}

pub(super) fn tighten(
    transaction: &Transaction<'_>,
    session: SessionId,
    permission: Permission,
    at: Timestamp,
) -> Result<(), Fault> {
    let known = read::session(transaction, session)?.ok_or_else(|| no_session(session))?;
    if permission > known.permission {
        return Err(looser(&known, permission).into());
    }
    let sql = "UPDATE sessions SET permission = ?2, updated_at = ?3 WHERE id = ?1";
    let parameters = (Word(&session), Word(&permission), Time(at));
    transaction.prepare_cached(sql)?.execute(parameters)?;
    Ok(())
}

pub(super) fn remove(transaction: &Transaction<'_>, session: SessionId) -> Result<(), Fault> {
    let address = address(transaction, session)?;
    let open = "SELECT 1 FROM launches WHERE session = ?1 AND ended IS NULL";
    if transaction.prepare_cached(open)?.exists([Word(&session)])? {
        return Err(Error::conflict(format!("session `{address}` has a live launch"))
            .hint(format!("run `segue stop {address}` first"))
            .into());
    }
    super::requests::forget(transaction, session)?;
    // Its launches, claims and bindings go with it.
    transaction.prepare_cached("DELETE FROM sessions WHERE id = ?1")?.execute([Word(&session)])?;
    Ok(())
}

fn check_name_is_free(transaction: &Transaction<'_>, session: &Session) -> Result<(), Fault> {
    let taken = "SELECT 1 FROM sessions WHERE fleet = ?1 AND name = ?2";
    let parameters = (Word(&session.fleet), Word(&session.name));
    if !transaction.prepare_cached(taken)?.exists(parameters)? {
        return Ok(());
    }
    let Session { name, fleet, .. } = session;
    Err(Error::conflict(format!("the name `{name}` is taken in fleet `{fleet}`"))
        .hint("choose another name with `--name NAME`")
        .hint(format!("run `segue resume {fleet}/{name}` to go on with the session that has it"))
        .into())
}

fn check_id_is_free(transaction: &Transaction<'_>, session: &Session) -> Result<(), Fault> {
    let Some(known) = read::session(transaction, session.id)? else {
        return Ok(());
    };
    let message = format!("the session id `{}` belongs to `{}`", session.id, known.address());
    Err(Error::conflict(message).hint("run `segue ls --all` to see all sessions").into())
}

fn looser(session: &Session, permission: Permission) -> Error {
    let (address, from, to) = (session.address(), session.permission.word(), permission.word());
    Error::conflict(format!("session `{address}` may not get the looser permission `{to}`"))
        .caused_by(format!("it has `{from}`, and permissions only get tighter"))
        .hint(format!("run `segue run --permission {to}` to start another session"))
}

fn found(changed: usize, session: SessionId) -> Result<(), Fault> {
    if changed == 0 { Err(no_session(session).into()) } else { Ok(()) }
}
