//! Launches: at most one is open for each session, and the first recorded end stays.

use rusqlite::{Transaction, named_params};
use segue_core::model::{Launch, LaunchEnd, LaunchId, ProcessRef, SessionId};
use segue_core::ports::{Conflict, Missing};

use super::address;
use crate::sqlite::fault::SqliteFault;
use crate::sqlite::read;
use crate::sqlite::rows;
use crate::sqlite::values::{Json, Location, Time, Word};

const INSERT: &str = "
    INSERT INTO launches (
        id, session, number, mode, created_at, machine, holder, agent, ended, planned, vendor_version,
        git_commit, program, cwd, environment, argv, message
    ) VALUES (
        :id, :session, :number, :mode, :created_at, :machine, :holder, :agent, :ended, :planned,
        :vendor_version, :git_commit, :program, :cwd, :environment, :argv, :message
    )";

pub(super) fn create(transaction: &Transaction<'_>, launch: &Launch) -> Result<(), SqliteFault> {
    let address = address(transaction, launch.session)?;
    if launch.is_open() {
        check_none_is_open(transaction, launch.session, &address)?;
    }
    check_id_is_free(transaction, launch.id)?;
    transaction.prepare_cached(INSERT)?.execute(named_params! {
        ":id": Word(&launch.id),
        ":session": Word(&launch.session),
        ":number": launch.number,
        ":mode": Word(&launch.mode),
        ":created_at": Time(launch.created_at),
        ":machine": Word(&launch.machine),
        ":holder": launch.holder.as_ref().map(Json),
        ":agent": launch.agent.as_ref().map(Json),
        ":ended": launch.end.as_ref().map(Json),
        ":planned": Word(&launch.planned),
        ":vendor_version": launch.vendor_version,
        ":git_commit": launch.git_commit,
        ":program": Location(&launch.program),
        ":cwd": Location(&launch.cwd),
        ":environment": Json(&launch.environment),
        ":argv": Json(&launch.argv),
        ":message": launch.message,
    })?;
    Ok(())
}

/// Records the processes of a launch. A process that is not given keeps its recorded value.
pub(super) fn set_processes(
    transaction: &Transaction<'_>,
    launch: LaunchId,
    holder: Option<&ProcessRef>,
    agent: Option<&ProcessRef>,
) -> Result<(), SqliteFault> {
    let session = session_of(transaction, launch)?;
    let sql = "UPDATE launches SET holder = coalesce(?2, holder), agent = coalesce(?3, agent)
               WHERE id = ?1 AND ended IS NULL";
    let parameters = (Word(&launch), holder.map(Json), agent.map(Json));
    if transaction.prepare_cached(sql)?.execute(parameters)? == 0 {
        let address = address(transaction, session)?;
        return Err(Conflict::LaunchHasEnded { id: launch, session: address }.into());
    }
    Ok(())
}

pub(super) fn end(
    transaction: &Transaction<'_>,
    launch: LaunchId,
    end: &LaunchEnd,
) -> Result<(), SqliteFault> {
    session_of(transaction, launch)?;
    let sql = "UPDATE launches SET ended = ?2 WHERE id = ?1 AND ended IS NULL";
    transaction.prepare_cached(sql)?.execute((Word(&launch), Json(end)))?;
    Ok(())
}

/// Returns the session of a launch. Fails if the launch does not exist.
pub(super) fn session_of(
    transaction: &Transaction<'_>,
    launch: LaunchId,
) -> Result<SessionId, SqliteFault> {
    let sql = "SELECT session FROM launches WHERE id = ?1";
    let found = read::one(transaction, sql, [Word(&launch)], rows::word)?;
    found.ok_or_else(|| Missing::Launch(launch).into())
}

fn check_none_is_open(
    transaction: &Transaction<'_>,
    session: SessionId,
    address: &str,
) -> Result<(), SqliteFault> {
    let open = "SELECT 1 FROM launches WHERE session = ?1 AND ended IS NULL";
    if !transaction.prepare_cached(open)?.exists([Word(&session)])? {
        return Ok(());
    }
    Err(Conflict::SecondOpenLaunch { session: address.to_owned() }.into())
}

fn check_id_is_free(transaction: &Transaction<'_>, launch: LaunchId) -> Result<(), SqliteFault> {
    let taken = "SELECT 1 FROM launches WHERE id = ?1";
    if !transaction.prepare_cached(taken)?.exists([Word(&launch)])? {
        return Ok(());
    }
    Err(Conflict::LaunchIdTaken { id: launch }.into())
}
