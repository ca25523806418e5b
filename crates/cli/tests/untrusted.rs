//! What agents, repositories and project files must not be able to do with their user's rights.
//!
//! Every test runs twice if possible: as root, and as a user without privileges.
#![expect(clippy::unwrap_used, reason = "tests")]

#[path = "untrusted/agents.rs"]
mod agents;
#[path = "untrusted/children.rs"]
mod children;
#[path = "untrusted/repositories.rs"]
mod repositories;
#[path = "untrusted/trust.rs"]
mod trust;
#[path = "untrusted/words.rs"]
mod words;

use segue_testkit::World;

/// Runs a test with the privileges of the current user. If that is root, runs it again without
/// privileges.
fn with_and_without_privileges(test: fn(&mut World)) {
    let world = || World::new(env!("CARGO_BIN_EXE_segue"));
    test(&mut world());
    if rustix::process::geteuid().is_root() {
        let mut world = world();
        world.drop_privileges();
        test(&mut world);
    }
}
