//! Plans: replaced only if nothing has changed them since they were read.

use rusqlite::Transaction;
use segue_core::model::{Plan, PlanControl, PlanId, PlanTask, PlanTaskName, Task, TaskState};
use segue_core::ports::{Conflict, Missing};

use crate::sqlite::fault::SqliteFault;
use crate::sqlite::read;
use crate::sqlite::rows;
use crate::sqlite::values::{Json, Location, Word};

pub(super) fn put(
    transaction: &Transaction<'_>,
    plan: &Plan,
    from: Option<i64>,
) -> Result<(), SqliteFault> {
    let sql = "SELECT revision FROM plans WHERE folder = ?1 AND name = ?2";
    let key = (Location(&plan.folder), Word(&plan.name));
    let stored: Option<i64> = read::one(transaction, sql, key, |row| row.get(0))?;
    if stored != from {
        return Err(Conflict::PlanHasMoved { name: plan.name.clone() }.into());
    }
    let sql = "
        INSERT INTO plans (id, folder, name, control, revision, detail)
        VALUES (?1, ?2, ?3, ?4, ?5, ?6)
        ON CONFLICT (folder, name) DO UPDATE SET control = ?4, revision = ?5, detail = ?6";
    transaction.prepare_cached(sql)?.execute(rusqlite::params![
        Word(&plan.id),
        Location(&plan.folder),
        Word(&plan.name),
        plan.control.word(),
        plan.revision,
        Json(plan),
    ])?;
    Ok(())
}

pub(super) fn put_task(transaction: &Transaction<'_>, task: &PlanTask) -> Result<(), SqliteFault> {
    check_plan(transaction, task.plan)?;
    let sql = "
        INSERT INTO plan_tasks (plan, name, rank, state, detail) VALUES (?1, ?2, ?3, ?4, ?5)
        ON CONFLICT (plan, name) DO UPDATE SET rank = ?3, state = ?4, detail = ?5";
    let state = task.state.word();
    let row = (Word(&task.plan), Word(&task.name), task.rank, state, Json(task));
    transaction.prepare_cached(sql)?.execute(row)?;
    let sql = "SELECT need FROM plan_needs WHERE plan = ?1 AND task = ?2";
    let key = (Word(&task.plan), Word(&task.name));
    let mut known: Vec<PlanTaskName> = read::all(transaction, sql, key, rows::word)?;
    let mut wanted = task.definition.needs.clone();
    known.sort();
    wanted.sort();
    if known == wanted {
        return Ok(());
    }
    forget_needs(transaction, task.plan, &task.name)?;
    let sql = "INSERT INTO plan_needs (plan, need, task) VALUES (?1, ?2, ?3)";
    for need in &task.definition.needs {
        let row = (Word(&task.plan), Word(need), Word(&task.name));
        transaction.prepare_cached(sql)?.execute(row)?;
    }
    Ok(())
}

pub(super) fn remove_task(
    transaction: &Transaction<'_>,
    plan: PlanId,
    name: &PlanTaskName,
) -> Result<(), SqliteFault> {
    forget_needs(transaction, plan, name)?;
    let sql = "DELETE FROM plan_tasks WHERE plan = ?1 AND name = ?2";
    transaction.prepare_cached(sql)?.execute((Word(&plan), Word(name)))?;
    Ok(())
}

fn forget_needs(
    transaction: &Transaction<'_>,
    plan: PlanId,
    name: &PlanTaskName,
) -> Result<(), SqliteFault> {
    let sql = "DELETE FROM plan_needs WHERE plan = ?1 AND task = ?2";
    transaction.prepare_cached(sql)?.execute((Word(&plan), Word(name)))?;
    Ok(())
}

fn check_plan(transaction: &Transaction<'_>, plan: PlanId) -> Result<(), SqliteFault> {
    let sql = "SELECT 1 FROM plans WHERE id = ?1";
    let known: Option<i64> = read::one(transaction, sql, [Word(&plan)], |row| row.get(0))?;
    known.map(drop).ok_or_else(|| Missing::Plan(plan).into())
}

/// Fails if a task starts whose plan is paused or cancelled.
pub(super) fn check_start(transaction: &Transaction<'_>, task: &Task) -> Result<(), SqliteFault> {
    let Some(member) = task.order.plan.as_ref().filter(|_| task.state == TaskState::Running) else {
        return Ok(());
    };
    let sql = "SELECT control FROM plans WHERE id = ?1";
    let control: Option<PlanControl> =
        read::one(transaction, sql, [Word(&member.plan)], rows::word)?;
    match control {
        Some(PlanControl::Paused | PlanControl::Cancelled) => {
            Err(Conflict::PlanIsHeld { name: member.plan_name.clone() }.into())
        }
        Some(PlanControl::Active) | None => Ok(()),
    }
}
