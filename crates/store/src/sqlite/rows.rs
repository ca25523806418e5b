//! Converts rows to values of the model. Each list of columns is beside the function that reads
//! them, in the same order.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::PathBuf;

use rusqlite::Row;
use rusqlite::types::{FromSql, Type, ValueRef};
use segue_core::model::{
    AccessToken, AgentName, AgentWorktree, Binding, ChildReport, DailyUsage, Event, EventPayload,
    ExchangedMessage, Fleet, Handoff, HousekeepingState, IssueKey, Launch, LaunchId,
    LaunchIndexEntry, Message, NewEvent, Session, SessionId, Status, StoredToken,
    StoredUsageCursor, Task, Timer, Trust, Usage, UsageSource, UsdAmount, WorkRef,
};
use segue_core::ports::{
    LeasedWorktree, OpenLaunch, Place, PlacedTask, SessionSummary, TaskSummary, VendorPlace,
};
use serde::de::value::StrDeserializer;
use serde::de::{DeserializeOwned, IntoDeserializer as _};

macro_rules! session_columns {
    () => {
        "s.id, s.name, s.fleet, s.agent, s.vendor, s.cwd, s.config_dir, s.model, s.permission, \
         s.instructions, s.headless, s.restart, s.args, s.env, s.parent, s.status, s.spoke, \
         s.created_at, s.updated_at, s.description, s.archive, s.up_name, s.mcp, \
         s.repetition, s.settings_changed_at"
    };
}
pub(crate) use session_columns;

pub(crate) fn session(row: &Row<'_>) -> rusqlite::Result<Session> {
    read_session(&mut Columns::of(row))
}

fn read_session(columns: &mut Columns<'_, '_>) -> rusqlite::Result<Session> {
    Ok(Session {
        id: columns.word()?,
        name: columns.word()?,
        fleet: columns.word()?,
        agent: columns.optional_word()?,
        vendor: columns.word()?,
        cwd: columns.path()?,
        config_dir: columns.path()?,
        model: columns.plain()?,
        permission: columns.word()?,
        instructions: columns.plain()?,
        headless: columns.plain()?,
        restart: columns.word()?,
        args: columns.json()?,
        env: columns.json()?,
        parent: columns.optional_word()?,
        status: columns.json()?,
        has_content: columns.plain()?,
        created_at: columns.word()?,
        updated_at: columns.word()?,
        description: columns.optional_json()?,
        archive: columns.plain()?,
        up_name: columns.optional_word()?,
        // Null if a store of an earlier version is salvaged.
        mcp: columns.plain::<Option<bool>>()?.unwrap_or_default(),
        repetition: columns.optional_json()?,
        settings_changed_at: columns.optional_word()?,
    })
}

/// The columns of a session, followed by its newest binding, its open launch, its worktree, and the
/// numbers of its launches and open messages.
macro_rules! summary_columns {
    () => {
        concat!(
            $crate::sqlite::rows::session_columns!(),
            ", b.launch, b.vendor_session, b.evidence, b.at, o.id, o.machine, o.created_at, o.holder, o.agent, \
             w.path, w.branch, \
             (SELECT count(*) FROM launches WHERE session = s.id), \
             (SELECT count(*) FROM messages WHERE session = s.id AND state IN ('queued', 'typing')), \
             u.input, u.cached, u.output, u.cost"
        )
    };
}
pub(crate) use summary_columns;

pub(crate) fn summary(row: &Row<'_>) -> rusqlite::Result<SessionSummary> {
    let mut columns = Columns::of(row);
    let session = read_session(&mut columns)?;
    Ok(SessionSummary {
        binding: newest_binding(&mut columns, session.id)?,
        open: open_launch(&mut columns)?,
        worktree: leased_worktree(&mut columns)?,
        launches: columns.plain()?,
        queued_messages: columns.plain()?,
        usage: optional_usage(&mut columns)?,
        session,
    })
}

/// Reads `input, cached, output, cost`. `None` if they are NULL.
fn optional_usage(columns: &mut Columns<'_, '_>) -> rusqlite::Result<Option<Usage>> {
    let input: Option<i64> = columns.plain()?;
    let (cached, output): (Option<i64>, Option<i64>) = (columns.plain()?, columns.plain()?);
    let cost: Option<i64> = columns.plain()?;
    let number = |value: Option<i64>| value.map_or(0, i64::unsigned_abs);
    let cost_usd = cost.map(|cost| UsdAmount::from_billionths(cost.unsigned_abs()));
    let usage =
        Usage { input: number(input), cached: number(cached), output: number(output), cost_usd };
    Ok(input.map(|_| usage))
}

/// Reads `session, fleet, agent, vendor, day, input, cached, output, cost`.
pub(crate) fn daily_usage(row: &Row<'_>) -> rusqlite::Result<DailyUsage> {
    let mut columns = Columns::of(row);
    Ok(DailyUsage {
        session: columns.word()?,
        fleet: columns.word()?,
        agent: columns.optional_word()?,
        vendor: columns.word()?,
        day: columns.word()?,
        usage: optional_usage(&mut columns)?.unwrap_or_default(),
    })
}

/// Reads `session, conversation, source, cursor`.
pub(crate) fn usage_cursor(row: &Row<'_>) -> rusqlite::Result<StoredUsageCursor> {
    let mut columns = Columns::of(row);
    let session = columns.word()?;
    let source = UsageSource { conversation: columns.word()?, name: columns.plain()? };
    Ok(StoredUsageCursor { session, source, cursor: columns.json()? })
}

fn newest_binding(
    columns: &mut Columns<'_, '_>,
    session: SessionId,
) -> rusqlite::Result<Option<Binding>> {
    let launch = columns.optional_word()?;
    let vendor_session = columns.optional_word()?;
    let evidence = columns.optional_word()?;
    let at = columns.optional_word()?;
    let (Some(vendor_session), Some(evidence), Some(at)) = (vendor_session, evidence, at) else {
        return Ok(None);
    };
    Ok(Some(Binding { session, launch, vendor_session, evidence, at }))
}

fn open_launch(columns: &mut Columns<'_, '_>) -> rusqlite::Result<Option<OpenLaunch>> {
    let id: Option<LaunchId> = columns.optional_word()?;
    let machine = columns.optional_word()?;
    let created_at = columns.optional_word()?;
    let holder = columns.optional_json()?;
    let agent = columns.optional_json()?;
    let open = |(id, created_at)| OpenLaunch { id, machine, created_at, holder, agent };
    Ok(id.zip(created_at).map(open))
}

fn leased_worktree(columns: &mut Columns<'_, '_>) -> rusqlite::Result<Option<LeasedWorktree>> {
    let (path, branch) = (columns.optional_path()?, columns.optional_word()?);
    Ok(path.zip(branch).map(|(path, branch)| LeasedWorktree { path, branch }))
}

macro_rules! worktree_columns {
    () => {
        "id, path, session, agent, branch, port, source, remote_host, beginning, removal, commands, \
         is_set_up, created_at"
    };
}
pub(crate) use worktree_columns;

pub(crate) fn worktree(row: &Row<'_>) -> rusqlite::Result<AgentWorktree> {
    let mut columns = Columns::of(row);
    Ok(AgentWorktree {
        id: columns.word()?,
        path: columns.path()?,
        session: columns.optional_word()?,
        agent: columns.word()?,
        branch: columns.word()?,
        port: columns.plain()?,
        source: columns.json()?,
        remote_host: columns.optional_word()?,
        start: columns.json()?,
        removal: columns.optional_json()?,
        commands: columns.optional_json()?.unwrap_or_default(),
        is_set_up: columns.plain::<Option<bool>>()?.unwrap_or(false),
        created_at: columns.word()?,
    })
}

macro_rules! launch_columns {
    () => {
        "id, session, number, mode, planned, message, program, argv, cwd, vendor_version, git_commit, \
         environment, created_at, machine, holder, agent, ended"
    };
}
pub(crate) use launch_columns;

pub(crate) fn launch(row: &Row<'_>) -> rusqlite::Result<Launch> {
    let mut columns = Columns::of(row);
    Ok(Launch {
        id: columns.word()?,
        session: columns.word()?,
        number: columns.plain()?,
        mode: columns.word()?,
        planned: columns.optional_word()?,
        message: columns.plain()?,
        program: columns.path()?,
        argv: columns.json()?,
        cwd: columns.path()?,
        vendor_version: columns.plain()?,
        git_commit: columns.plain()?,
        environment: columns.json()?,
        created_at: columns.word()?,
        machine: columns.optional_word()?,
        holder: columns.optional_json()?,
        agent: columns.optional_json()?,
        end: columns.optional_json()?,
    })
}

/// Reads `session, launch, vendor_session, evidence, at`.
pub(crate) fn binding(row: &Row<'_>) -> rusqlite::Result<Binding> {
    let mut columns = Columns::of(row);
    Ok(Binding {
        session: columns.word()?,
        launch: columns.optional_word()?,
        vendor_session: columns.word()?,
        evidence: columns.word()?,
        at: columns.word()?,
    })
}

/// Reads `seq, at, session, launch, kind, text, data`.
pub(crate) fn event(row: &Row<'_>) -> rusqlite::Result<Event> {
    let mut columns = Columns::of(row);
    Ok(Event {
        seq: columns.plain()?,
        fact: NewEvent {
            at: columns.word()?,
            session: columns.optional_word()?,
            launch: columns.optional_word()?,
            payload: EventPayload::parse(
                columns.word()?,
                columns.plain()?,
                columns.optional_json()?,
            ),
        },
    })
}

/// Reads `name, folder`.
pub(crate) fn fleet(row: &Row<'_>) -> rusqlite::Result<Fleet> {
    let mut columns = Columns::of(row);
    Ok(Fleet { name: columns.word()?, folder: columns.optional_path()? })
}

/// Reads `vendor, config_dir, cwd`.
pub(crate) fn vendor_place(row: &Row<'_>) -> rusqlite::Result<VendorPlace> {
    let mut columns = Columns::of(row);
    let vendor = columns.word()?;
    let place = Place { config_dir: columns.path()?, cwd: columns.path()? };
    Ok(VendorPlace { vendor, place })
}

/// Reads `status, count`.
pub(crate) fn counted_status(row: &Row<'_>) -> rusqlite::Result<(Status, u64)> {
    let status = Columns::of(row).json()?;
    let count: i64 = row.get(1)?;
    Ok((status, count.unsigned_abs()))
}

/// Reads a single column that is a path.
pub(crate) fn path(row: &Row<'_>) -> rusqlite::Result<PathBuf> {
    Columns::of(row).path()
}

/// Reads `agent, count`.
pub(crate) fn count(row: &Row<'_>) -> rusqlite::Result<(AgentName, u32)> {
    let mut columns = Columns::of(row);
    Ok((columns.word()?, columns.plain()?))
}

/// Reads `timers`.
pub(crate) fn timers(row: &Row<'_>) -> rusqlite::Result<Vec<Timer>> {
    Columns::of(row).json()
}

/// Reads `detail`.
pub(crate) fn handoff(row: &Row<'_>) -> rusqlite::Result<Handoff> {
    Columns::of(row).json()
}

/// Reads `folder, digest, at`.
pub(crate) fn trust(row: &Row<'_>) -> rusqlite::Result<Trust> {
    let mut columns = Columns::of(row);
    Ok(Trust { folder: columns.path()?, claims: columns.plain()?, at: columns.word()? })
}

/// The columns of a message.
macro_rules! message_columns {
    () => {
        "id, session, text, detail, sender, created_at, updated_at, is_command"
    };
}
pub(crate) use message_columns;

pub(crate) fn message(row: &Row<'_>) -> rusqlite::Result<Message> {
    let mut columns = Columns::of(row);
    Ok(Message {
        id: columns.word()?,
        session: columns.word()?,
        text: columns.plain()?,
        state: columns.json()?,
        sender: columns.optional_json()?,
        created_at: columns.word()?,
        updated_at: columns.word()?,
        // Null in a message of an earlier version.
        is_command: columns.plain::<Option<bool>>()?.unwrap_or_default(),
    })
}

/// Reads `session, sender`.
pub(crate) fn exchanged_message(row: &Row<'_>) -> rusqlite::Result<ExchangedMessage> {
    let mut columns = Columns::of(row);
    Ok(ExchangedMessage { to: columns.word()?, sender: columns.optional_json()? })
}

macro_rules! task_columns {
    () => {
        "place, id, key, task_order, detail, progress, attempts, session, result, created_at, \
         started_at, ended_at"
    };
}
pub(crate) use task_columns;

pub(crate) fn task(row: &Row<'_>) -> rusqlite::Result<PlacedTask> {
    let mut columns = Columns::of(row);
    Ok(PlacedTask {
        place: columns.plain()?,
        task: Task {
            id: columns.word()?,
            key: columns.optional_word()?,
            order: columns.json()?,
            state: columns.json()?,
            progress: columns.json()?,
            attempts: columns.plain()?,
            session: columns.optional_word()?,
            result: columns.optional_json()?,
            created_at: columns.word()?,
            started_at: columns.optional_word()?,
            ended_at: columns.optional_word()?,
        },
    })
}

/// Reads `place, id, agent, state, fleet, name, created_at, beginning`, of which `fleet` and `name`
/// are those of the session. Returns the place, too.
pub(crate) fn task_summary(row: &Row<'_>) -> rusqlite::Result<(i64, TaskSummary)> {
    let mut columns = Columns::of(row);
    let place = columns.plain()?;
    let (id, agent, state) = (columns.word()?, columns.word()?, columns.word()?);
    let (fleet, name) = (columns.optional_word()?, columns.optional_word()?);
    let (created_at, beginning) = (columns.word()?, columns.plain()?);
    let session = fleet.zip(name);
    Ok((place, TaskSummary { id, agent, state, session, created_at, beginning }))
}

/// Reads `id, name, kind, scopes, session, digest, created_at, expires_at, last_used_at, made_from`.
pub(crate) fn token(row: &Row<'_>) -> rusqlite::Result<StoredToken> {
    let mut columns = Columns::of(row);
    let (id, name, kind) = (columns.word()?, columns.plain()?, columns.word()?);
    let (scopes, only_session) = (columns.json()?, columns.optional_word()?);
    Ok(StoredToken {
        token: AccessToken { id, name, kind, scopes, only_session },
        digest: columns.word()?,
        created_at: columns.word()?,
        expires_at: columns.optional_word()?,
        last_used_at: columns.optional_word()?,
        made_from: columns.optional_word()?,
    })
}

/// Reads `message, child, parent, text, created_at`.
/// Reads the kind and the id of a task or a session.
fn work_ref(columns: &mut Columns<'_, '_>) -> rusqlite::Result<WorkRef> {
    // Null if a store of an earlier version is salvaged: it has only tasks.
    let kind: Option<String> = columns.plain()?;
    match kind.as_deref() {
        Some("session") => columns.word().map(WorkRef::Session),
        _ => columns.word().map(WorkRef::Task),
    }
}

pub(crate) fn child_report(row: &Row<'_>) -> rusqlite::Result<ChildReport> {
    let mut columns = Columns::of(row);
    Ok(ChildReport {
        message: columns.word()?,
        child: work_ref(&mut columns)?,
        parent: work_ref(&mut columns)?,
        text: columns.plain()?,
        created_at: columns.word()?,
    })
}

/// Reads `fleet, agent, repository, issue, session`.
pub(crate) fn issue_session(row: &Row<'_>) -> rusqlite::Result<(IssueKey, SessionId)> {
    let mut columns = Columns::of(row);
    let key = IssueKey {
        fleet: columns.word()?,
        agent: columns.word()?,
        repository: columns.word()?,
        issue: columns.word()?,
    };
    Ok((key, columns.word()?))
}

/// Reads `next_sweep, disk_level`.
pub(crate) fn housekeeping(row: &Row<'_>) -> rusqlite::Result<HousekeepingState> {
    let mut columns = Columns::of(row);
    Ok(HousekeepingState { next_sweep: columns.optional_word()?, disk_level: columns.word()? })
}

/// Reads `id, session, number`, and the time of the end.
pub(crate) fn launch_index_entry(row: &Row<'_>) -> rusqlite::Result<LaunchIndexEntry> {
    let mut columns = Columns::of(row);
    Ok(LaunchIndexEntry {
        id: columns.word()?,
        session: columns.word()?,
        number: columns.plain()?,
        ended_at: columns.optional_word()?,
    })
}

/// Reads a column that is an identifier or a word.
pub(crate) fn word_at<T: DeserializeOwned>(row: &Row<'_>, index: usize) -> rusqlite::Result<T> {
    Columns { row, next: index }.word()
}

/// Reads a column that is JSON.
pub(crate) fn json_at<T: DeserializeOwned>(row: &Row<'_>, index: usize) -> rusqlite::Result<T> {
    Columns { row, next: index }.json()
}

/// Reads a single column that is JSON.
pub(crate) fn json<T: DeserializeOwned>(row: &Row<'_>) -> rusqlite::Result<T> {
    Columns::of(row).json()
}

/// Reads a single column that is an identifier.
pub(crate) fn word<T: DeserializeOwned>(row: &Row<'_>) -> rusqlite::Result<T> {
    Columns::of(row).word()
}

/// Reads the columns of a row one after the other. A lookup by name costs more than the read
/// itself.
struct Columns<'row, 'statement> {
    row: &'row Row<'statement>,
    next: usize,
}

impl<'row, 'statement> Columns<'row, 'statement> {
    fn of(row: &'row Row<'statement>) -> Self {
        Self { row, next: 0 }
    }

    fn index(&mut self) -> usize {
        self.next += 1;
        self.next - 1
    }

    fn plain<T: FromSql>(&mut self) -> rusqlite::Result<T> {
        let index = self.index();
        self.row.get(index)
    }

    fn word<T: DeserializeOwned>(&mut self) -> rusqlite::Result<T> {
        let index = self.index();
        let text = self.row.get_ref(index)?.as_str()?;
        from_word(index, text)
    }

    fn optional_word<T: DeserializeOwned>(&mut self) -> rusqlite::Result<Option<T>> {
        let index = self.index();
        let text = self.row.get_ref(index)?.as_str_or_null()?;
        text.map(|text| from_word(index, text)).transpose()
    }

    fn json<T: DeserializeOwned>(&mut self) -> rusqlite::Result<T> {
        let index = self.index();
        let text = self.row.get_ref(index)?.as_str()?;
        serde_json::from_str(text).map_err(|error| unreadable(index, error))
    }

    fn optional_json<T: DeserializeOwned>(&mut self) -> rusqlite::Result<Option<T>> {
        let index = self.index();
        let text = self.row.get_ref(index)?.as_str_or_null()?;
        text.map(serde_json::from_str).transpose().map_err(|error| unreadable(index, error))
    }

    fn path(&mut self) -> rusqlite::Result<PathBuf> {
        let index = self.index();
        let bytes = self.row.get_ref(index)?.as_bytes()?;
        Ok(OsStr::from_bytes(bytes).into())
    }

    fn optional_path(&mut self) -> rusqlite::Result<Option<PathBuf>> {
        if self.row.get_ref(self.next)? == ValueRef::Null {
            self.next += 1;
            return Ok(None);
        }
        self.path().map(Some)
    }
}

fn from_word<T: DeserializeOwned>(index: usize, text: &str) -> rusqlite::Result<T> {
    let word: StrDeserializer<'_, serde::de::value::Error> = text.into_deserializer();
    T::deserialize(word).map_err(|error| unreadable(index, error))
}

fn unreadable(
    index: usize,
    error: impl std::error::Error + Send + Sync + 'static,
) -> rusqlite::Error {
    rusqlite::Error::FromSqlConversionFailure(index, Type::Text, Box::new(error))
}
