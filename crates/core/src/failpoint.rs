//! Named points in the code at which a test can kill the process.
//!
//! The points are always compiled in and cost one atomic load each. Only a build with the
//! `failpoints` feature of `segue-host` installs a function that acts on them.

use std::sync::OnceLock;

static ON_HIT: OnceLock<fn(&str)> = OnceLock::new();

/// Installs the function that is called at every point. Only the first call has an effect.
pub fn install(on_hit: fn(&str)) {
    // A second call in one process means that a test harness started twice; keep the first
    // function.
    let _first_wins = ON_HIT.set(on_hit);
}

/// Marks a point between two side effects. A crash at this point must be recoverable.
pub fn hit(name: &'static str) {
    if let Some(on_hit) = ON_HIT.get() {
        on_hit(name);
    }
}
