//! When the next sweep is due, and the reported level of disk use.

use jiff::Timestamp;
use rusqlite::Transaction;
use segue_core::model::DiskLevel;

use crate::sqlite::fault::SqliteFault;
use crate::sqlite::values::{Time, Word};

pub(super) fn set_next_sweep(
    transaction: &Transaction<'_>,
    at: Timestamp,
) -> Result<(), SqliteFault> {
    transaction.execute("UPDATE housekeeping SET next_sweep = ?1", [Time(at)])?;
    Ok(())
}

pub(super) fn set_disk_level(
    transaction: &Transaction<'_>,
    level: DiskLevel,
) -> Result<(), SqliteFault> {
    transaction.execute("UPDATE housekeeping SET disk_level = ?1", [Word(&level)])?;
    Ok(())
}
