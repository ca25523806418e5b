//! Code that several vendors share.
//!
//! | module | what it does |
//! |---|---|
//! | `reading` | reads transcripts: beginning, end, turns, new messages |
//! | `database` | reads a vendor's SQLite database |
//! | `stored` | finds a vendor's config dir and lists its transcripts |
//! | `launching`, `launch_files` | flags among a session's own arguments, texts in files |
//! | `ids` | ids that are UUIDs |
//! | `choices`, `typed_text` | answers to dialogs, text for a terminal |
//! | `failure_classes` | classes of failures by status and by words |

pub(crate) mod choices;
pub(crate) mod database;
pub(crate) mod failure_classes;
pub(crate) mod ids;
pub(crate) mod launch_files;
pub(crate) mod launching;
pub(crate) mod reading;
pub(crate) mod stored;
pub(crate) mod typed_text;
