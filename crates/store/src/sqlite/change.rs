//! One function for each kind of change. Each function checks for conflicts before it writes.

mod bindings;
mod deliveries;
mod fleets;
mod handoffs;
mod housekeeping;
mod launches;
mod messages;
mod network;
mod plans;
mod requests;
mod sessions;
mod tasks;
mod usage;
mod worktrees;

use rusqlite::Transaction;
use segue_core::model::SessionId;
use segue_core::ports::{Change, Missing};

use crate::sqlite::fault::SqliteFault;
use crate::sqlite::read;
use crate::sqlite::values::Word;

/// Applies one change inside a transaction.
#[expect(clippy::too_many_lines, reason = "one line per change")]
pub(crate) fn apply(transaction: &Transaction<'_>, change: &Change) -> Result<(), SqliteFault> {
    match change {
        Change::PutFleet(fleet) => fleets::put(transaction, fleet),
        Change::PutTrust(trust) => fleets::put_trust(transaction, trust),
        Change::SetCount { fleet, agent, count } => {
            fleets::set_count(transaction, fleet, agent, *count)
        }
        Change::SetTimers { session, timers } => fleets::set_timers(transaction, *session, timers),
        Change::CreateSession(session) => sessions::create(transaction, session),
        Change::SetStatus { session, status, at } => {
            sessions::set_status(transaction, *session, *status, *at)
        }
        Change::MarkHasContent { session } => sessions::mark_has_content(transaction, *session),
        Change::Configure { session, settings, changed_at } => {
            sessions::configure(transaction, *session, settings, *changed_at)
        }
        Change::RenameSession { session, names } => sessions::rename(transaction, *session, names),
        Change::RemoveSession(session) => sessions::remove(transaction, *session),
        Change::CreateLaunch(launch) => launches::create(transaction, launch),
        Change::SetProcesses { launch, holder, agent } => {
            launches::set_processes(transaction, *launch, holder.as_ref(), agent.as_ref())
        }
        Change::EndLaunch { launch, end } => launches::end(transaction, *launch, end),
        Change::AddBinding(binding) => bindings::add(transaction, binding),
        Change::AddHandoff(handoff) => handoffs::add(transaction, handoff),
        Change::SetRepetition { session, repetition } => {
            sessions::set_repetition(transaction, *session, repetition.as_deref())
        }
        Change::AddMessage(message) => messages::add(transaction, message),
        Change::SetMessage { message, state, at } => {
            messages::set(transaction, *message, state, *at)
        }
        Change::AddWorktree(worktree) => worktrees::add(transaction, worktree),
        Change::LeaseWorktree { worktree, session } => {
            worktrees::lease(transaction, *worktree, *session)
        }
        Change::ReleaseWorktree { worktree } => worktrees::release(transaction, *worktree),
        Change::SetWorktreeRemoval { worktree, removal } => {
            worktrees::set_removal(transaction, *worktree, removal.as_ref())
        }
        Change::AddChildReport(report) => tasks::add_report(transaction, report),
        Change::AddAgentReport(report) => tasks::add_agent_report(transaction, report),
        Change::SendChildReport(message) => tasks::send_report(transaction, *message),
        Change::SetWorktreeBranch { worktree, branch } => {
            worktrees::set_branch(transaction, *worktree, branch)
        }
        Change::SetWorktreeCommands { worktree, commands } => {
            worktrees::set_commands(transaction, *worktree, commands)
        }
        Change::SetWorktreeSetUp { worktree, is_set_up } => {
            worktrees::set_set_up(transaction, *worktree, *is_set_up)
        }
        Change::ForgetWorktree(worktree) => worktrees::forget(transaction, *worktree),
        Change::CheckChildren { parent, child, limit } => {
            tasks::check_children(transaction, *parent, *child, *limit)
        }
        Change::AddTask(task) => tasks::add(transaction, task),
        Change::SetTask { task, from } => tasks::set(transaction, task, *from),
        Change::PutPlan { plan, from } => plans::put(transaction, plan, *from),
        Change::PutPlanTask(task) => plans::put_task(transaction, task),
        Change::RemovePlanTask { plan, name } => plans::remove_task(transaction, *plan, name),
        Change::SetIssueSession { key, session } => {
            tasks::set_issue_session(transaction, key, *session)
        }
        Change::AddUsage(increment) => usage::add(transaction, increment),
        Change::AddToken(token) => network::add_token(transaction, token),
        Change::RemoveToken(token) => network::remove_token(transaction, *token),
        Change::UseToken { token, at } => network::use_token(transaction, *token, *at),
        Change::SetListener(settings) => network::set_listener(transaction, settings.as_deref()),
        Change::AddDelivery(delivery) => deliveries::add(transaction, delivery),
        Change::SetDelivery { delivery, state } => deliveries::set(transaction, *delivery, state),
        Change::RemoveDelivery(delivery) => deliveries::remove(transaction, *delivery),
        Change::RemoveDeliveryContent(delivery) => {
            deliveries::remove_content(transaction, *delivery)
        }
        Change::PutPolledRepository(polled) => deliveries::put_polled(transaction, polled),
        Change::PutTrackedIssue(issue) => deliveries::put_issue(transaction, issue),
        Change::RemoveTrackedIssue(key) => deliveries::remove_issue(transaction, key),
        Change::AddReply(reply) => deliveries::add_reply(transaction, reply),
        Change::SetReply(reply) => deliveries::set_reply(transaction, reply),
        Change::SetNextSweep(at) => housekeeping::set_next_sweep(transaction, *at),
        Change::SetDiskLevel(level) => housekeeping::set_disk_level(transaction, *level),
        Change::RecordRequest(record) => requests::record(transaction, record),
    }
}

/// Returns `fleet/name` of a session. Fails if the session does not exist.
fn address(transaction: &Transaction<'_>, session: SessionId) -> Result<String, SqliteFault> {
    let sql = "SELECT fleet || '/' || name FROM sessions WHERE id = ?1";
    let found = read::one(transaction, sql, [Word(&session)], |row| row.get(0))?;
    found.ok_or_else(|| Missing::Session(session).into())
}
