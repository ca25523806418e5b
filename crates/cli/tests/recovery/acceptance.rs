//! Acceptance checks of `docs/acceptance.md`: ids, records, resuming, and deleted files.

mod deleted_files;
mod identity;
mod records;
mod resume;
