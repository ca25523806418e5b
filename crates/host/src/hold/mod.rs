//! The holder: the small process that owns one launch's terminal.
