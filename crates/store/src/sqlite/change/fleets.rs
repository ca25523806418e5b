//! Fleets, trusted project files, agent counts and timers.

use rusqlite::Transaction;
use segue_core::model::{AgentName, Fleet, FleetName, SessionId, Timer, Trust};
use segue_core::ports::Conflict;

use crate::sqlite::fault::SqliteFault;
use crate::sqlite::read;
use crate::sqlite::values::{Json, Location, Time, Word};

pub(super) fn put(transaction: &Transaction<'_>, fleet: &Fleet) -> Result<(), SqliteFault> {
    if let Some(known) = read::fleet(transaction, &fleet.name)? {
        let wanted = fleet.clone();
        let is_same = known == wanted;
        let conflict = || Conflict::FleetOfAnotherFolder { known, wanted }.into();
        return if is_same { Ok(()) } else { Err(conflict()) };
    }
    transaction
        .prepare_cached("INSERT INTO fleets (name, folder) VALUES (?1, ?2)")?
        .execute((Word(&fleet.name), fleet.folder.as_deref().map(Location)))?;
    Ok(())
}

pub(super) fn put_trust(transaction: &Transaction<'_>, trust: &Trust) -> Result<(), SqliteFault> {
    transaction
        .prepare_cached(
            "INSERT INTO trusts (folder, digest, at) VALUES (?1, ?2, ?3)
             ON CONFLICT (folder) DO UPDATE SET digest = excluded.digest, at = excluded.at",
        )?
        .execute((Location(&trust.folder), &trust.claims, Time(trust.at)))?;
    Ok(())
}

pub(super) fn set_count(
    transaction: &Transaction<'_>,
    fleet: &FleetName,
    agent: &AgentName,
    count: u32,
) -> Result<(), SqliteFault> {
    transaction
        .prepare_cached(
            "INSERT INTO counts (fleet, agent, count) VALUES (?1, ?2, ?3)
             ON CONFLICT (fleet, agent) DO UPDATE SET count = excluded.count",
        )?
        .execute((Word(fleet), Word(agent), count))?;
    Ok(())
}

pub(super) fn set_timers(
    transaction: &Transaction<'_>,
    session: SessionId,
    timers: &[Timer],
) -> Result<(), SqliteFault> {
    super::address(transaction, session)?;
    transaction
        .prepare_cached(
            "INSERT INTO timers (session, timers) VALUES (?1, ?2)
             ON CONFLICT (session) DO UPDATE SET timers = excluded.timers",
        )?
        .execute((Word(&session), Json(&timers)))?;
    Ok(())
}
