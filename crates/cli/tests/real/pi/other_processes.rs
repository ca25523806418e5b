//! Another Segue in the same folder: no conversation has two writers.

use segue_testkit::isolated;

use super::scene;

/// The other process belongs to another Segue of the same user, which knows nothing of this one.
#[test]
fn resume_is_refused_while_another_segue_has_the_conversation_open() {
    isolated(|| {
        let mut scene = scene();
        let session = scene.start_and_wait("coder", "remember ALPHA");
        scene.world.ok(["stop", "coder"]);
        let own = scene.world.segue_home();
        let other = scene.world.root().join("other");
        scene.world.set("SEGUE_HOME", other.to_str().unwrap());
        let path = scene.transcript(&session);
        let arguments = ["--", "--session", path.to_str().unwrap()];
        let started = scene.run(&[&["-d", "--name", "second"], &arguments[..]].concat());
        assert_eq!(started.status, 0, "{started:#?}");
        scene.wait_idle("second");
        scene.world.set("SEGUE_HOME", own.to_str().unwrap());
        let refused = scene.world.segue(["resume", "coder"]);
        assert_eq!(refused.status, 8, "{refused:#?}");
        assert!(refused.stdout.contains("is open in process"), "{refused:#?}");
        scene.world.set("SEGUE_HOME", other.to_str().unwrap());
        scene.world.ok(["stop", "second"]);
        scene.world.ok(["daemon", "stop"]);
        scene.world.set("SEGUE_HOME", own.to_str().unwrap());
        scene.world.resume(["coder"]).assert_back("coder", "resumed");
        scene.assert_carries("coder", &["remember ALPHA"], "which word?");
    });
}
