//! A headless turn that shows nothing for too long is ended and reported as failed.

use std::fs;

use segue_testkit::vendor_scene::PinnedVendor;

use crate::with_vendor;

fn silent_headless_turn_is_ended_after_the_configured_time<V: PinnedVendor>() {
    let (world, model) = with_vendor::<V>();
    fs::create_dir_all(world.segue_home()).unwrap();
    let settings = world.segue_home().join("config.toml");
    fs::write(&settings, "silence = \"4s\"\n").unwrap();
    let run = ["run", "--headless", "--vendor", V::NAME, "--name", "h", "fox [[hang]]"];
    let hung = world.segue(run);
    assert_eq!(hung.status, 6, "{hung:#?}");
    assert!(hung.stderr.contains("there was no output for too long"), "{hung:#?}");
    assert_eq!(world.session("h")["pid"], serde_json::Value::Null);
    fs::remove_file(settings).unwrap();
    let answer = world.ok(["send", "h", "--wait", "go on"]);
    assert!(answer.contains("first=<<fox"), "{answer}");
    assert!(model.conversation_of("go on").unwrap().mentions("fox"));
}

test_each!(silent_headless_turn_is_ended_after_the_configured_time: claude, codex);
