//! What agents, repositories and project files must not be able to do with their user's rights.
//!
//! Every test runs twice if possible: as root, and as a user without privileges.

mod children;
mod editor_servers;
mod option_like_texts;
mod repositories;
mod script_agent;
mod trust;

use segue_testkit::World;

/// Runs a test with the privileges of the current user. If that is root, runs it again without
/// privileges.
fn with_and_without_privileges(test: fn(&mut World)) {
    test(&mut crate::world());
    if rustix::process::geteuid().is_root() {
        let mut world = crate::world();
        world.drop_privileges();
        test(&mut world);
    }
}
