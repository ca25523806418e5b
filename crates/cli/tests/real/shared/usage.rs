//! The tokens that a session has used, as the scripted model reported them.

use segue_testkit::vendor_scene::PinnedVendor;
use serde_json::json;

use crate::scene;

/// The model reports these tokens for each request.
const INPUT_TOKENS: u64 = 10;
const OUTPUT_TOKENS: u64 = 5;

/// The requests of one turn without a tool, of another one after the resume, and of a turn with a
/// tool call, which has two of them.
const REQUESTS: u64 = 4;

fn usage_equals_the_models_reports_and_a_kill_and_a_resume_add_nothing<V: PinnedVendor>() {
    let scene = scene::<V>();
    scene.start_and_wait("coder", "remember ALPHA");
    scene.world.kill_everything();
    scene.world.resume(["coder"]).assert_back("coder", "resumed");
    scene.wait_idle("coder");
    scene.assert_carries("coder", &["remember ALPHA"], "what was it?");
    scene.ask_and_wait("coder", "[[tool: echo hi]]");
    scene.world.ok(["stop", "coder"]);

    let (input, output) = (REQUESTS * INPUT_TOKENS, REQUESTS * OUTPUT_TOKENS);
    let usage = json!({"input": input, "cached": 0, "output": output, "cost_usd": null});
    assert_eq!(scene.world.session("coder")["usage"], usage);
    scene.world.ok(["daemon", "stop"]);
    let list = scene.world.json(["usage", "--by", "vendor", "--json"]);
    let row = &list["usage"][0];
    assert_eq!(
        (&row["vendor"], &row["sessions"], &row["input"], &row["output"]),
        (&json!(V::NAME), &json!(1), &json!(input), &json!(output)),
        "{list:#}"
    );
    assert_eq!(list["total"]["input"], input, "another daemon has counted it again");
}

test_each!(
    usage_equals_the_models_reports_and_a_kill_and_a_resume_add_nothing:
    claude, codex, copilot, pi
);
