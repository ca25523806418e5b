//! Creates, changes and removes sessions. A removal deletes everything that belongs to the session.

use jiff::Timestamp;
use rusqlite::{Transaction, named_params};
use segue_core::model::{Repetition, Session, SessionId, SessionNames, SessionSettings, Status};
use segue_core::ports::{Conflict, Missing};

use super::address;
use crate::sqlite::fault::SqliteFault;
use crate::sqlite::read;
use crate::sqlite::values::{Json, Location, Time, Word};

const INSERT: &str = "
    INSERT INTO sessions (
        id, fleet, name, agent, vendor, cwd, config_dir, model, permission, headless, restart,
        parent, status, spoke, created_at, updated_at, args, env, instructions,
        description, archive, mcp, settled, up_name, repetition, settings_changed_at
    ) VALUES (
        :id, :fleet, :name, :agent, :vendor, :cwd, :config_dir, :model, :permission, :headless,
        :restart, :parent, :status, :spoke, :created_at, :updated_at, :args, :env, :instructions,
        :description, :archive, :mcp, :settled, :up_name, :repetition, :settings_changed_at
    )";

pub(super) fn create(transaction: &Transaction<'_>, session: &Session) -> Result<(), SqliteFault> {
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
        ":spoke": session.has_content,
        ":created_at": Time(session.created_at),
        ":updated_at": Time(session.updated_at),
        ":args": Json(&session.args),
        ":env": Json(&session.env),
        ":instructions": session.instructions,
        ":description": session.description.as_ref().map(Json),
        ":archive": session.archive,
        ":mcp": session.mcp,
        ":settled": session.is_at_rest(),
        ":up_name": Word(&session.up_name),
        ":repetition": session.repetition.as_ref().map(Json),
        ":settings_changed_at": session.settings_changed_at.map(Time),
    })?;
    Ok(())
}

pub(super) fn set_status(
    transaction: &Transaction<'_>,
    session: SessionId,
    status: Status,
    at: Timestamp,
) -> Result<(), SqliteFault> {
    let known = read::session(transaction, session)?.ok_or(Missing::Session(session))?;
    let settled = Session { status, ..known }.is_at_rest();
    let sql = "UPDATE sessions SET status = ?2, updated_at = ?3, settled = ?4 WHERE id = ?1";
    let parameters = (Word(&session), Json(&status), Time(at), settled);
    transaction.prepare_cached(sql)?.execute(parameters)?;
    Ok(())
}

pub(super) fn set_repetition(
    transaction: &Transaction<'_>,
    session: SessionId,
    repetition: Option<&Repetition>,
) -> Result<(), SqliteFault> {
    let sql = "UPDATE sessions SET repetition = ?2 WHERE id = ?1";
    let parameters = (Word(&session), repetition.map(Json));
    let changed = transaction.prepare_cached(sql)?.execute(parameters)?;
    check_exists(changed, session)
}

/// Sets `Session::has_content` (column `spoke`).
pub(super) fn mark_has_content(
    transaction: &Transaction<'_>,
    session: SessionId,
) -> Result<(), SqliteFault> {
    let sql = "UPDATE sessions SET spoke = 1 WHERE id = ?1";
    let changed = transaction.prepare_cached(sql)?.execute([Word(&session)])?;
    check_exists(changed, session)
}

pub(super) fn rename(
    transaction: &Transaction<'_>,
    session: SessionId,
    SessionNames { name, up_name }: &SessionNames,
) -> Result<(), SqliteFault> {
    let known = read::session(transaction, session)?.ok_or(Missing::Session(session))?;
    if known.name != *name {
        check_name_is_free(transaction, &Session { name: name.clone(), ..known })?;
    }
    let sql = "UPDATE sessions SET name = ?2, up_name = ?3 WHERE id = ?1";
    transaction.prepare_cached(sql)?.execute((Word(&session), Word(name), Word(up_name)))?;
    Ok(())
}

const CONFIGURE: &str = "
    UPDATE sessions SET
        description = :description, model = :model, permission = :permission,
        instructions = :instructions, restart = :restart, archive = :archive, mcp = :mcp,
        args = :args, env = :env,
        settings_changed_at = coalesce(:changed_at, settings_changed_at)
    WHERE id = :id";

pub(super) fn configure(
    transaction: &Transaction<'_>,
    session: SessionId,
    settings: &SessionSettings,
    changed_at: Option<Timestamp>,
) -> Result<(), SqliteFault> {
    let changed = transaction.prepare_cached(CONFIGURE)?.execute(named_params! {
        ":id": Word(&session),
        ":description": settings.description.as_ref().map(Json),
        ":model": settings.model,
        ":permission": Word(&settings.permission),
        ":instructions": settings.instructions,
        ":restart": Word(&settings.restart),
        ":archive": settings.archive,
        ":mcp": settings.mcp,
        ":args": Json(&settings.args),
        ":env": Json(&settings.env),
        ":changed_at": changed_at.map(Time),
    })?;
    check_exists(changed, session)
}

pub(super) fn remove(transaction: &Transaction<'_>, session: SessionId) -> Result<(), SqliteFault> {
    let address = address(transaction, session)?;
    let open = "SELECT 1 FROM launches WHERE session = ?1 AND ended IS NULL";
    if transaction.prepare_cached(open)?.exists([Word(&session)])? {
        return Err(Conflict::SessionIsOpen { session: address }.into());
    }
    super::requests::delete_of_agent(transaction, session)?;
    // The database also deletes the launches, claims and bindings of the session.
    transaction.prepare_cached("DELETE FROM sessions WHERE id = ?1")?.execute([Word(&session)])?;
    Ok(())
}

fn check_name_is_free(transaction: &Transaction<'_>, session: &Session) -> Result<(), SqliteFault> {
    let taken = "SELECT 1 FROM sessions WHERE fleet = ?1 AND name = ?2";
    let parameters = (Word(&session.fleet), Word(&session.name));
    if !transaction.prepare_cached(taken)?.exists(parameters)? {
        return Ok(());
    }
    let (fleet, name) = (session.fleet.clone(), session.name.clone());
    Err(Conflict::NameTaken { fleet, name }.into())
}

fn check_id_is_free(transaction: &Transaction<'_>, session: &Session) -> Result<(), SqliteFault> {
    let Some(known) = read::session(transaction, session.id)? else {
        return Ok(());
    };
    Err(Conflict::SessionIdTaken { id: session.id, owner: known.address() }.into())
}

fn check_exists(changed: usize, session: SessionId) -> Result<(), SqliteFault> {
    if changed == 0 { Err(Missing::Session(session).into()) } else { Ok(()) }
}
