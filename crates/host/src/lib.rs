//! This machine: holders, terminals, processes, files, clock.
