//! One folder per agent CLI: what to start, how to read it; starts nothing.
