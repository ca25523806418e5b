//! Rendering: the functions here turn values into text. They write nothing.

pub(crate) mod error;
pub(crate) mod json;
pub(crate) mod plain;
pub(crate) mod raw;
pub(crate) mod sessions;
pub(crate) mod shell;
pub(crate) mod style;
pub(crate) mod table;
pub(crate) mod time;
pub(crate) mod turns;
pub(crate) mod wrap;
