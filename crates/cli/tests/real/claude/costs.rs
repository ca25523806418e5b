//! The cost that Claude Code reports at the end of a headless turn.

use segue_testkit::isolated;

use super::questions::{prepare_tasks, wait};
use super::scene;

#[test]
fn cost_of_a_headless_task_is_in_its_result_and_in_the_sum_of_all_usage() {
    isolated(|| {
        let scene = scene();
        prepare_tasks(&scene.world, "claude");
        let task = ["task", "add", "--agent", "coder", "[[say: it is over]]"];
        let id = scene.world.ok(task).trim().to_owned();
        let done = wait(&scene.world, &id);
        let cost = done["result"]["usage"]["cost_usd"].as_f64();
        assert!(cost.is_some_and(|cost| cost > 0.0), "{done:#}");
        // Another daemon does not count the output of the ended process again.
        scene.world.ok(["daemon", "stop"]);
        let list = scene.world.json(["usage", "--json"]);
        assert_eq!(list["total"]["cost_usd"].as_f64(), cost, "{list:#}");
    });
}
