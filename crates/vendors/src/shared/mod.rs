//! Code that several vendors share.
//!
//! | module | what it does |
//! |---|---|
//! | `vendor` | a vendor as a table of constants |
//! | `config_dir`, `files`, `ids`, `hash` | where a vendor keeps its files, and how they are named |
//! | `launching`, `launch_files` | flags among a session's own arguments, texts in files |
//! | `transcripts` | lists transcripts and conversations |
//! | `reading`, `writing` | reads transcripts, and writes their records |
//! | `database` | reads a vendor's SQLite database |
//! | `signals`, `live`, `failure_classes` | signals, live processes, classes of failures |
//! | `choices`, `typed_text` | answers to dialogs, text for a terminal |

pub(crate) mod choices;
pub(crate) mod commands;
pub(crate) mod config_dir;
pub(crate) mod database;
pub(crate) mod failure_classes;
pub(crate) mod files;
pub(crate) mod hash;
pub(crate) mod ids;
pub(crate) mod launch_files;
pub(crate) mod launching;
pub(crate) mod live;
pub(crate) mod mcp;
pub(crate) mod reading;
pub(crate) mod signals;
pub(crate) mod transcripts;
pub(crate) mod typed_text;
pub(crate) mod vendor;
pub(crate) mod writing;
