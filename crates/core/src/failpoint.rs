//! Named places at which a test can have the process killed.
//!
//! The places are always in the code and cost one atomic load; only a build with the `failpoints`
//! feature of `segue-host` ever installs something that acts on them.

use std::sync::OnceLock;

static ON_HIT: OnceLock<fn(&str)> = OnceLock::new();

/// Installs what happens at every point; the first call wins.
pub fn install(on_hit: fn(&str)) {
    // A second installation in the same process is a test harness starting twice: the first stays.
    let _first_wins = ON_HIT.set(on_hit);
}

/// Marks a place between two effects that must be survivable.
pub fn hit(name: &'static str) {
    if let Some(on_hit) = ON_HIT.get() {
        on_hit(name);
    }
}
