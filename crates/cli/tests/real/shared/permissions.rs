//! Programs that cannot ask a person while they run headless.

use segue_testkit::vendor_scene::PinnedVendor;

use crate::claude::questions::prepare_tasks;
use crate::with_vendor;

fn headless_tool_that_needs_a_permission_is_refused_and_the_user_is_told_before<V: PinnedVendor>() {
    let (world, model) = with_vendor::<V>();
    let prompt = "fox [[tool: touch made]] [[say: it is over]]";
    let run = ["run", "--headless", "--vendor", V::NAME, "--permission", "ask", prompt];
    // Some programs end the turn as failed then, and others go on.
    let ended = world.segue(run);
    let notice = format!("`{}` cannot ask a person while it runs headless", V::NAME);
    assert!(ended.stderr.contains(&notice), "{ended:#?}");
    assert!(model.exchanges().iter().any(|it| it.mentions("fox")), "the model was asked");
    assert!(!world.project().join("made").exists());
}

test_each!(headless_tool_that_needs_a_permission_is_refused_and_the_user_is_told_before: codex, copilot, gemini, opencode);

fn headless_task_with_the_permission_ask_is_refused<V: PinnedVendor>() {
    let (world, model) = with_vendor::<V>();
    prepare_tasks(&world, V::NAME);
    let refused = world.segue(["task", "add", "--agent", "coder", "fox [[tool: touch made]]"]);
    assert_eq!(refused.status, 5, "{refused:#?}");
    let message = format!("`{}` cannot ask a person", V::NAME);
    assert!(refused.stderr.contains(&message), "{refused:#?}");
    assert!(refused.stderr.contains("--interactive"), "{refused:#?}");
    assert_eq!(model.exchanges().len(), 0);
}

test_each!(headless_task_with_the_permission_ask_is_refused: codex, copilot, gemini, opencode, pi);
