//! Somebody without privileges: everything works, and nobody else's Segue is touched.

use segue_testkit::Outcome;
use segue_testkit::conversation::wait_turns;

use super::{answers, assert_refused, world};

#[test]
fn somebody_without_privileges_runs_everything() {
    let mut world = world();
    world.drop_privileges();
    world.ok(["run", "-d", "--name", "coder", "remember the word rowan"]);
    wait_turns(&world, &world.session("coder"), 1);
    assert!(world.ok(["doctor"]).starts_with("nothing is wrong\n"));

    world.kill_everything();
    assert_eq!(world.json(["resume", "--all", "--json"])["agents"][0]["outcome"], "resumed");
    answers(&world, "coder", "which word?", "rowan");

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
fn the_segue_of_one_user_is_closed_to_another() {
    if !rustix::process::geteuid().is_root() {
        // There is nobody else whose Segue it could be.
        return;
    }
    let mut world = world();
    let (program, privileged) = (world.program().to_owned(), world.environment());
    world.drop_privileges();
    world.ok(["run", "-d", "--name", "coder", "hello"]);
    let mut command = std::process::Command::new(program);
    command.args(["stop", "--all"]).current_dir(world.project()).env_clear().envs(privileged);
    let outcome = Outcome::of(&mut command);
    assert_refused(&outcome, 5, "the folder `");
    assert!(outcome.stderr.contains("belongs to user 65534, and this is user 0"), "{outcome:?}");
    assert!(world.session("coder")["pid"].is_u64(), "{:#?}", world.sessions());
}
