//! The conditions of a query whose statement depends on what is asked for.

use rusqlite::ToSql;
use rusqlite::types::{FromSqlError, ToSqlOutput, Value};

/// The conditions of a query, with their parameters in the same order.
#[derive(Debug, Default)]
pub(crate) struct Conditions {
    sql: Vec<String>,
    pub(crate) parameters: Vec<Value>,
}

impl Conditions {
    pub(crate) fn add(&mut self, sql: &str, parameter: &dyn ToSql) -> rusqlite::Result<()> {
        self.sql.push(sql.to_owned());
        self.add_parameter(parameter)
    }

    /// Adds a condition if there is a value for its parameter.
    pub(crate) fn add_if<T: ToSql>(
        &mut self,
        sql: &str,
        parameter: Option<T>,
    ) -> rusqlite::Result<()> {
        parameter.map_or(Ok(()), |parameter| self.add(sql, &parameter))
    }

    pub(crate) fn add_plain(&mut self, sql: &str) {
        self.sql.push(sql.to_owned());
    }

    /// Adds a further parameter of the condition that was added last.
    pub(crate) fn add_parameter(&mut self, parameter: &dyn ToSql) -> rusqlite::Result<()> {
        self.parameters.push(value(parameter)?);
        Ok(())
    }

    /// Returns a whole statement.
    pub(crate) fn statement(&self, select: &str, end: &str) -> String {
        if self.sql.is_empty() {
            return format!("{select} {end}");
        }
        format!("{select} WHERE {} {end}", self.sql.join(" AND "))
    }
}

fn value(parameter: &dyn ToSql) -> rusqlite::Result<Value> {
    Ok(match parameter.to_sql()? {
        ToSqlOutput::Owned(value) => value,
        ToSqlOutput::Borrowed(value) => value.try_into().map_err(from_sql)?,
        _ => Value::Null,
    })
}

fn from_sql(error: FromSqlError) -> rusqlite::Error {
    rusqlite::Error::ToSqlConversionFailure(Box::new(error))
}
