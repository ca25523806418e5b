//! Transcripts on another filesystem than Segue's own files: no guard is possible, and Segue
//! reports that. The archive still restores them.

use std::process::Command;

use segue_testkit::{World, archive, isolated};

use crate::{Vendor, with_vendor};

/// Returns the folder below which the vendor stores its conversations.
fn conversations(world: &World, vendor: Vendor) -> std::path::PathBuf {
    world.home().join(match vendor {
        Vendor::Claude => ".claude/projects",
        Vendor::Codex => ".codex/sessions",
    })
}

fn a_loss_without_a_guard_is_told(vendor: Vendor) {
    let (world, model) = with_vendor(vendor);
    let folder = conversations(&world, vendor);
    std::fs::create_dir_all(&folder).unwrap();
    let mounted = Command::new("mount").args(["-t", "tmpfs", "tmpfs"]).arg(&folder).status();
    assert!(mounted.unwrap().success(), "cannot mount another filesystem");
    world.ok(["run", "-d", "--vendor", vendor.name(), "--name", "a", "the word is fox"]);
    world.ok(["wait", "a", "--for", "idle", "--timeout", "50s"]);
    let log = world.ok(["log", "a"]);
    assert!(log.contains("another filesystem: no guard"), "{log}");
    let lose = || {
        world.ok(["stop", "a"]);
        for entry in std::fs::read_dir(&folder).unwrap() {
            std::fs::remove_dir_all(entry.unwrap().path()).unwrap();
        }
    };
    lose();
    let report = world.json(["resume", "a", "--json"]);
    assert_eq!(report["agents"][0]["outcome"], "restored", "{report:#}");
    world.ok(["wait", "a", "--for", "idle", "--timeout", "50s"]);
    lose();
    archive::remove_all(&world);
    let report = world.json(["resume", "a", "--json"]);
    assert_eq!(report["agents"][0]["outcome"], "refused", "{report:#}");
    let note = report["agents"][0]["note"].as_str().unwrap();
    assert!(note.contains("--fresh"), "{note}");
    assert_eq!(world.session("a")["pid"], serde_json::Value::Null, "a process was started");
    let requests = model.conversations();
    assert!(requests.iter().all(|it| it.mentions("the word is fox")), "{requests:#?}");
}

#[test]
fn claude_transcript_on_another_filesystem_is_restored_from_the_archive_only() {
    isolated(|| a_loss_without_a_guard_is_told(Vendor::Claude));
}

#[test]
fn codex_transcript_on_another_filesystem_is_restored_from_the_archive_only() {
    isolated(|| a_loss_without_a_guard_is_told(Vendor::Codex));
}
