//! Users without privileges: everything works for them, and they cannot use another user's Segue.

use segue_testkit::CommandOutcome;
use segue_testkit::conversation::wait_turns;

use super::{assert_answers, assert_refused};
use crate::world;

#[test]
fn unprivileged_user_can_run_resume_stop_and_remove_sessions() {
    let mut world = world();
    world.drop_privileges();
    world.ok(["run", "-d", "--name", "coder", "remember the word rowan"]);
    wait_turns(&world, &world.session("coder"), 1);
    assert!(world.ok(["doctor"]).starts_with("nothing is wrong\n"));

    world.kill_everything();
    assert_eq!(world.json(["resume", "--all", "--json"])["agents"][0]["outcome"], "resumed");
    assert_answers(&world, "coder", "which word?", "rowan");

    assert_eq!(
        world.ok(["run", "--headless", "remember the word elder"]),
        "I will remember elder.\n"
    );
    world.ok(["stop", "--all"]);
    world.ok(["rm", "coder", "--yes"]);
    world.ok(["daemon", "stop"]);
    assert_eq!(world.processes(), Vec::<u32>::new());
}

#[test]
fn one_users_segue_refuses_another_user() {
    if !rustix::process::geteuid().is_root() {
        // Only root can start processes of a second user.
        return;
    }
    let mut world = world();
    let (program, privileged) = (world.program().to_owned(), world.environment());
    world.drop_privileges();
    world.ok(["run", "-d", "--name", "coder", "hello"]);
    let mut command = std::process::Command::new(program);
    command.args(["stop", "--all"]).current_dir(world.project()).env_clear().envs(privileged);
    let outcome = CommandOutcome::of(&mut command);
    assert_refused(&outcome, 5, "the folder `");
    assert!(
        outcome.stderr.contains("belongs to user 65534, but the current user is 0"),
        "{outcome:?}"
    );
    assert!(world.session("coder")["pid"].is_u64(), "{:#?}", world.sessions());
}
