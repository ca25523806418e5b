//! Checks whether everything in a database can be read.

use rusqlite::Connection;
use rusqlite::types::ValueRef;

/// Returns the first defect of a database. `None` if it is intact. Reads the whole database.
pub(crate) fn defect(connection: &Connection) -> rusqlite::Result<Option<String>> {
    let result: String = connection.query_row("PRAGMA quick_check(1)", [], |row| row.get(0))?;
    if result != "ok" {
        return Ok(Some(result));
    }
    for table in tables(connection)? {
        if has_broken_text(connection, &table)? {
            return Ok(Some(format!("a text in the table `{table}` is not valid UTF-8")));
        }
    }
    Ok(None)
}

/// Returns whether a database can be read and has no defect.
pub(crate) fn is_sound(connection: &Connection) -> bool {
    defect(connection).is_ok_and(|defect| defect.is_none())
}

fn tables(connection: &Connection) -> rusqlite::Result<Vec<String>> {
    let sql = "SELECT name FROM pragma_table_list WHERE schema = 'main' AND type = 'table'";
    connection.prepare(sql)?.query_map([], |row| row.get(0))?.collect()
}

/// Searches for text that is not valid UTF-8. SQLite's own check covers only the structure of
/// pages, so it misses a changed byte inside a text.
fn has_broken_text(connection: &Connection, table: &str) -> rusqlite::Result<bool> {
    let name = table.replace('"', "\"\"");
    let mut statement = connection.prepare(&format!("SELECT * FROM \"{name}\""))?;
    let columns = statement.column_count();
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        for column in 0..columns {
            let value = row.get_ref(column)?;
            if matches!(value, ValueRef::Text(text) if std::str::from_utf8(text).is_err()) {
                return Ok(true);
            }
        }
    }
    Ok(false)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_that_is_not_utf_8_is_a_defect_in_any_table_and_column() {
        let connection = Connection::open_in_memory().unwrap();
        let table = "CREATE TABLE \"a \"\"b\" (id INTEGER, name TEXT, detail TEXT)";
        connection.execute_batch(table).unwrap();
        let insert = "INSERT INTO \"a \"\"b\" VALUES (1, 'käse', NULL), (2, 'x', 'y')";
        connection.execute_batch(insert).unwrap();
        assert_eq!(defect(&connection).unwrap(), None);
        let update = "UPDATE \"a \"\"b\" SET detail = CAST(x'41ff42' AS TEXT) WHERE id = 2";
        connection.execute_batch(update).unwrap();
        let found = defect(&connection).unwrap().unwrap();
        assert_eq!(found, "a text in the table `a \"b` is not valid UTF-8");
    }
}
