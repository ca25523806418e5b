//! Another Segue in the same folder: no conversation has two writers.

use segue_testkit::isolated;

use crate::scenery;

/// The other process belongs to another Segue of the same user, which knows nothing of this one.
#[test]
fn resume_is_refused_while_another_segue_has_the_conversation_open() {
    isolated(|| {
        let mut scenery = scenery();
        let session = scenery.told("coder", "remember ALPHA");
        scenery.world.ok(["stop", "coder"]);
        let own = scenery.world.segue_home();
        let other = scenery.world.root().join("other");
        scenery.world.set("SEGUE_HOME", other.to_str().unwrap());
        let path = scenery.transcript(&session);
        let arguments = ["--", "--session", path.to_str().unwrap()];
        let started = scenery.run(&[&["-d", "--name", "second"], &arguments[..]].concat());
        assert_eq!(started.status, 0, "{started:#?}");
        scenery.wait_idle("second");
        scenery.world.set("SEGUE_HOME", own.to_str().unwrap());
        let refused = scenery.world.segue(["resume", "coder"]);
        assert_eq!(refused.status, 8, "{refused:#?}");
        assert!(refused.stdout.contains("is open in process"), "{refused:#?}");
        scenery.world.set("SEGUE_HOME", other.to_str().unwrap());
        scenery.world.ok(["stop", "second"]);
        scenery.world.ok(["daemon", "stop"]);
        scenery.world.set("SEGUE_HOME", own.to_str().unwrap());
        scenery.world.resume(["coder"]).assert_back("coder", "resumed");
        scenery.assert_carries("coder", &["remember ALPHA"], "which word?");
    });
}
