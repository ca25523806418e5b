//! Memory: sessions, launches, bindings and events in SQLite.
