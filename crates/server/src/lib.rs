//! The daemon: life cycle, supervisor, routes.
