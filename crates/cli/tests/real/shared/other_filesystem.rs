//! Transcripts on another filesystem than Segue's own files: no guard is possible, and Segue reports
//! that. The archive still restores them.

use std::process::Command;

use segue_testkit::archive;
use segue_testkit::vendor_scene::PinnedVendor;

use crate::with_vendor;

fn transcript_on_another_filesystem_is_restored_from_the_archive_only<V: PinnedVendor>() {
    let (world, model) = with_vendor::<V>();
    let folder = world.home().join(V::CONFIG_DIR).join(V::TRANSCRIPTS);
    std::fs::create_dir_all(&folder).unwrap();
    let mounted = Command::new("mount").args(["-t", "tmpfs", "tmpfs"]).arg(&folder).status();
    assert!(mounted.unwrap().success(), "cannot mount another filesystem");
    world.ok(["run", "-d", "--vendor", V::NAME, "--name", "a", "the word is fox"]);
    world.ok(["wait", "a", "--for", "idle", "--timeout", "170s"]);
    let log = world.ok(["log", "a"]);
    assert!(log.contains("another filesystem: no guard"), "{log}");
    let stop_and_delete = || {
        world.ok(["stop", "a"]);
        for entry in std::fs::read_dir(&folder).unwrap() {
            std::fs::remove_dir_all(entry.unwrap().path()).unwrap();
        }
    };
    stop_and_delete();
    let report = world.json(["resume", "a", "--json"]);
    assert_eq!(report["agents"][0]["outcome"], "restored", "{report:#}");
    world.ok(["wait", "a", "--for", "idle", "--timeout", "170s"]);
    stop_and_delete();
    archive::remove_all(&world);
    let report = world.json(["resume", "a", "--json"]);
    assert_eq!(report["agents"][0]["outcome"], "refused", "{report:#}");
    let note = report["agents"][0]["note"].as_str().unwrap();
    assert!(note.contains("--fresh"), "{note}");
    assert_eq!(world.session("a")["pid"], serde_json::Value::Null, "a process was started");
    let requests = model.conversations();
    assert!(requests.iter().all(|it| it.mentions("the word is fox")), "{requests:#?}");
}

test_each!(transcript_on_another_filesystem_is_restored_from_the_archive_only: claude, codex);
