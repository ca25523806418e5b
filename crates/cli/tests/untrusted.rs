//! What agents, repositories and project files may not bring about with their user's rights.
//!
//! Every test is done twice where it can be: as root, and as somebody without privileges.
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

/// Does a test with the rights of whoever runs it, and without privileges.
fn with_and_without_privileges(test: fn(&mut World)) {
    let world = || World::new(env!("CARGO_BIN_EXE_segue"));
    test(&mut world());
    if rustix::process::geteuid().is_root() {
        let mut world = world();
        world.drop_privileges();
        test(&mut world);
    }
}
