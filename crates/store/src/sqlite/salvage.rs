//! Reads all rows that can be read from a damaged database and from its backup.
//!
//! Only copies are opened, so that the damaged files are not changed.

use std::collections::BTreeMap;
use std::fs::{self, DirBuilder, OpenOptions};
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};

use rusqlite::{Connection, OpenFlags, Row};
use segue_core::Result;
use segue_core::model::{RequestKey, RequestRecord};
use segue_core::ports::{Salvaged, SalvagedSession};

use crate::sqlite::files::{beside, exists};
use crate::sqlite::{backup, fault, rows};

/// Reads everything that can be read. Blocks the thread.
pub(crate) fn salvage(path: &Path) -> Result<Salvaged> {
    let folder = beside(path, ".salvage");
    let failed = |error| fault::system("copy the damaged store", path, &error);
    clear(&folder).and_then(|()| make(&folder)).map_err(failed)?;
    let backup = backup::newest(path).and_then(|it| copy(&it, &folder.join("backup.db")).ok());
    let backup = backup.as_deref().and_then(open);
    let damaged = Some(path).filter(|path| exists(path));
    let damaged = damaged.and_then(|it| copy(it, &folder.join("damaged.db")).ok());
    let damaged =
        damaged.and_then(|copy| open(&copy).or_else(|| replace_first_page(&copy, &folder)));
    let salvaged = Sources { damaged, backup }.read();
    clear(&folder).map_err(failed)?;
    Ok(salvaged)
}

fn clear(folder: &Path) -> io::Result<()> {
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

fn make(folder: &Path) -> io::Result<()> {
    DirBuilder::new().mode(0o700).create(folder)
}

/// Copies a database with its write-ahead log.
fn copy(from: &Path, to: &Path) -> io::Result<PathBuf> {
    fs::copy(from, to)?;
    let log = beside(from, "-wal");
    if exists(&log) {
        fs::copy(log, beside(to, "-wal"))?;
    }
    Ok(to.to_owned())
}

/// Opens a copy. `None` if SQLite does not find the tables of Segue in it.
fn open(copy: &Path) -> Option<Connection> {
    let connection = Connection::open_with_flags(copy, OpenFlags::SQLITE_OPEN_READ_WRITE).ok()?;
    connection.pragma_update(None, "trusted_schema", false).ok()?;
    let tables = "SELECT count(*) FROM sqlite_schema WHERE name IN ('sessions', 'messages')";
    let found: i64 = connection.query_row(tables, [], |row| row.get(0)).ok()?;
    (found == 2).then_some(connection)
}

/// Replaces the damaged first page of a copy by the first page of the backup. That page contains the
/// numbers of the pages at which the tables begin, and these never change.
fn replace_first_page(copy: &Path, folder: &Path) -> Option<Connection> {
    let mut backup = fs::File::open(folder.join("backup.db")).ok()?;
    let mut header = [0; 100];
    backup.read_exact(&mut header).ok()?;
    let size = match u16::from_be_bytes([header[16], header[17]]) {
        1 => 65536,
        size => usize::from(size),
    };
    let mut page = vec![0; size];
    backup.seek(SeekFrom::Start(0)).and_then(|_| backup.read_exact(&mut page)).ok()?;
    let length = fs::metadata(copy).ok()?.len();
    let pages = u32::try_from(length / u64::try_from(size).ok()?).ok()?;
    page.get_mut(28..32)?.copy_from_slice(&pages.to_be_bytes());
    // Free pages are not needed, and the list of them may have changed since the backup.
    page.get_mut(32..40)?.fill(0);
    let mut file = OpenOptions::new().write(true).open(copy).ok()?;
    file.write_all(&page).ok()?;
    drop(file);
    open(copy)
}

/// The databases to read from.
struct Sources {
    damaged: Option<Connection>,
    backup: Option<Connection>,
}

/// The rows of one table, by their row ids.
struct SalvagedTable<T> {
    rows: BTreeMap<i64, T>,
    is_whole: bool,
}

impl Sources {
    /// Reads the tasks, the plans, and what belongs to them.
    fn read_work(&self, salvaged: &mut Salvaged, incomplete: &mut IncompleteTables) {
        let tasks = rows::task_columns!();
        let tasks = self.table("tasks", ("tasks", tasks), rows::task, incomplete);
        salvaged.tasks = tasks.into_iter().map(|it| it.task).collect();
        salvaged.plans = self.table("plans", ("plans", "detail"), rows::json, incomplete);
        let source = ("plan_tasks", "detail");
        salvaged.plan_tasks = self.table("tasks of plans", source, rows::json, incomplete);
        let columns = "fleet, agent, repository, issue, session";
        let source = ("issue_sessions", columns);
        salvaged.issue_sessions =
            self.table("sessions of issues", source, rows::issue_session, incomplete);
        let source =
            ("child_reports", "message, child_kind, child, parent_kind, parent, text, created_at");
        salvaged.child_reports =
            self.table("reports of tasks", source, rows::child_report, incomplete);
        let source = ("agent_reports", "detail");
        salvaged.agent_reports = self.table("reports of agents", source, rows::json, incomplete);
    }

    fn read(&self) -> Salvaged {
        let mut salvaged = Salvaged::default();
        let mut incomplete = IncompleteTables { unreadable: Vec::new(), from_backup: Vec::new() };
        let session = rows::session_columns!();
        let sessions =
            self.table("sessions", ("sessions s", session), rows::session, &mut incomplete);
        let launches = rows::launch_columns!();
        let launches =
            self.table("launches", ("launches", launches), rows::launch, &mut incomplete);
        let columns = "session, launch, vendor_session, evidence, at";
        let bindings =
            self.table("bindings", ("bindings", columns), rows::binding, &mut incomplete);
        salvaged.fleets =
            self.table("fleets", ("fleets", "name, folder"), rows::fleet, &mut incomplete);
        salvaged.counts = self.table(
            "counts of agents",
            ("counts", "fleet, agent, count"),
            |row| Ok((rows::word_at(row, 0)?, rows::word_at(row, 1)?, row.get(2)?)),
            &mut incomplete,
        );
        let columns = "folder, digest, at";
        salvaged.trusts =
            self.table("trusted folders", ("trusts", columns), rows::trust, &mut incomplete);
        let timers = |row: &Row<'_>| Ok((rows::word_at(row, 0)?, rows::json_at(row, 1)?));
        salvaged.timers =
            self.table("timers", ("timers", "session, timers"), timers, &mut incomplete);
        salvaged.handoffs =
            self.table("handoffs", ("handoffs", "detail"), rows::handoff, &mut incomplete);
        let columns = rows::worktree_columns!();
        salvaged.worktrees =
            self.table("worktrees", ("worktrees", columns), rows::worktree, &mut incomplete);
        let columns = rows::message_columns!();
        salvaged.messages =
            self.table("messages", ("messages", columns), rows::message, &mut incomplete);
        self.read_work(&mut salvaged, &mut incomplete);
        let columns = "caller, id, at, detail";
        salvaged.requests = self.table("requests", ("requests", columns), request, &mut incomplete);
        let columns = "seq, at, session, launch, kind, text, data";
        let events = self.table("log", ("events", columns), rows::event, &mut incomplete);
        salvaged.events = events.into_iter().map(|event| event.fact).collect();
        salvaged.sessions = sessions
            .into_iter()
            .map(|session| SalvagedSession {
                launches: launches.iter().filter(|it| it.session == session.id).cloned().collect(),
                bindings: bindings.iter().filter(|it| it.session == session.id).cloned().collect(),
                session,
            })
            .collect();
        salvaged.unreadable = incomplete.unreadable;
        salvaged.from_backup = incomplete.from_backup;
        salvaged
    }

    /// Reads a table from both databases. If both have a row, the row of the damaged store counts,
    /// because it is newer.
    fn table<T>(
        &self,
        name: &'static str,
        (table, columns): (&str, &str),
        parse: impl Fn(&Row<'_>) -> rusqlite::Result<T>,
        incomplete: &mut IncompleteTables,
    ) -> Vec<T> {
        let statement = |connection: &Connection| {
            let columns = existing_columns(connection, table, columns);
            format!(
                "SELECT {columns}, rowid AS number FROM {table} NOT INDEXED
                 WHERE rowid > ?1 ORDER BY rowid"
            )
        };
        let read = |source: Option<&Connection>| match source {
            // The database is of an earlier version.
            Some(source) if lacks(source, table) => {
                SalvagedTable { rows: BTreeMap::new(), is_whole: true }
            }
            _ => read(source, &source.map(&statement).unwrap_or_default(), &parse),
        };
        let damaged = read(self.damaged.as_ref());
        if !damaged.is_whole {
            incomplete.unreadable.push(name);
        }
        let mut all = damaged.rows;
        let own = all.len();
        for (number, row) in read(self.backup.as_ref()).rows {
            all.entry(number).or_insert(row);
        }
        if all.len() > own {
            incomplete.from_backup.push(name);
        }
        all.into_values().collect()
    }
}

/// Returns whether a database is intact enough to know that it does not have a table.
fn lacks(connection: &Connection, table: &str) -> bool {
    let name = table.split(' ').next().unwrap_or(table);
    let sql = "SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name = ?1";
    let found: rusqlite::Result<i64> = connection.query_row(sql, [name], |row| row.get(0));
    found.is_ok_and(|found| found == 0)
}

/// Replaces the columns that a database of an earlier version does not have by `NULL`. If the schema
/// of the table cannot be read, all columns are kept.
fn existing_columns(connection: &Connection, table: &str, columns: &str) -> String {
    let name = table.split(' ').next().unwrap_or(table);
    let known: rusqlite::Result<Vec<String>> = connection
        .prepare("SELECT name FROM pragma_table_info(?1)")
        .and_then(|mut statement| statement.query_map([name], |row| row.get(0))?.collect());
    let known = known.unwrap_or_default();
    let has = |column: &str| {
        let column = column.rsplit('.').next().unwrap_or(column);
        known.is_empty() || known.iter().any(|it| it == column)
    };
    let columns = columns.split(',').map(str::trim);
    let columns = columns.map(|column| if has(column) { column } else { "NULL" });
    columns.collect::<Vec<_>>().join(", ")
}

/// The names of the tables that could not be read completely, and of those that were completed from
/// the backup. For the report to the user.
struct IncompleteTables {
    unreadable: Vec<&'static str>,
    from_backup: Vec<&'static str>,
}

fn request(row: &Row<'_>) -> rusqlite::Result<RequestRecord> {
    let caller = match row.get_ref(0)?.as_str()? {
        "" => None,
        _ => Some(rows::word_at(row, 0)?),
    };
    let key = RequestKey { caller, id: rows::word_at(row, 1)? };
    Ok(RequestRecord { key, at: rows::word_at(row, 2)?, step: rows::json_at(row, 3)? })
}

/// Reads a table row by row. After a page that cannot be read, skips row ids in growing steps until
/// rows can be read again.
fn read<T>(
    connection: Option<&Connection>,
    sql: &str,
    parse: impl Fn(&Row<'_>) -> rusqlite::Result<T>,
) -> SalvagedTable<T> {
    let mut table = SalvagedTable { rows: BTreeMap::new(), is_whole: true };
    let Some(connection) = connection else { return SalvagedTable { is_whole: false, ..table } };
    let (mut after, mut skip) = (0, 1);
    while let Err(last) = read_on(connection, sql, after, &parse, &mut table) {
        table.is_whole = false;
        skip = if last > after { 1 } else { skip * 2 };
        let Some(next) = last.max(after).checked_add(skip).filter(|_| skip < MAX_SKIPPED_ROWS)
        else {
            break;
        };
        after = next;
    }
    table
}

/// Maximum number of rows to skip. No table has more rows than that on unreadable pages.
const MAX_SKIPPED_ROWS: i64 = 1 << 40;

/// Reads the rows after a row id until the end. The error is the last row id that could be read.
fn read_on<T>(
    connection: &Connection,
    sql: &str,
    after: i64,
    parse: impl Fn(&Row<'_>) -> rusqlite::Result<T>,
    table: &mut SalvagedTable<T>,
) -> std::result::Result<(), i64> {
    let mut last = after;
    let mut statement = connection.prepare(sql).map_err(|_| i64::MAX)?;
    let mut found = statement.query([after]).map_err(|_| last)?;
    while let Some(row) = found.next().map_err(|_| last)? {
        let Ok(number) = row.get("number") else { return Err(last) };
        last = number;
        match parse(row) {
            Ok(value) => drop(table.rows.insert(number, value)),
            // The row was overwritten with other data.
            Err(_) => table.is_whole = false,
        }
    }
    Ok(())
}
