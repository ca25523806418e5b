//! Death of the daemon at failpoints of the survival matrix, with real agents instead of the demo
//! agent.

use segue_testkit::vendor_scene::PinnedVendor;
use segue_testkit::{Model, World, launches};

use crate::with_vendor;

/// Failpoints at which the daemon dies while it starts an agent.
const STARTING: [&str; 6] = [
    "launch.commit.after",
    "launch.record.after",
    "launch.files.after",
    "holders.start.after",
    "launch.started.after",
    "observe.commit.after",
];

/// Failpoints at which the daemon dies while it resumes an agent.
const RESUMING: [&str; 4] =
    ["resume.repair.after", "launch.commit.after", "holders.start.after", "launch.started.after"];

/// The first message of the session.
const MESSAGE: &str = "the word is heron";

fn start<V: PinnedVendor>(world: &World) {
    // The command fails if the daemon dies before it answers.
    let _outcome = world.segue(["run", "-d", "--vendor", V::NAME, "--name", "a", MESSAGE]);
}

/// Makes the next daemon die at this failpoint.
fn arm(world: &mut World, point: &str) {
    world.segue(["daemon", "stop"]);
    world.set("SEGUE_FAILPOINT", point);
    world.set("SEGUE_FAILPOINT_ROLE", "daemon");
}

/// Lets all further daemons live.
fn disarm(world: &mut World) {
    world.segue(["daemon", "stop"]);
    world.unset("SEGUE_FAILPOINT");
    world.unset("SEGUE_FAILPOINT_ROLE");
}

/// Waits until Segue has seen the first turn in the agent's own transcript.
fn wait_recorded(world: &World) {
    world.ok(["wait", "a", "--for", "idle", "--timeout", "170s"]);
    let session = world.session("a");
    let (folder, _) = launches::newest(world, &session);
    let has_content = || launches::newest(world, &session).1.session.has_content;
    launches::wait_until(&[&folder], "the transcript has the first turn", has_content);
}

/// Checks that there is one session, that it got its first message once, and that it continues its
/// own conversation.
fn check<V: PinnedVendor>(world: &World, model: &Model, point: &str) {
    let case = format!("{} at {point}", V::NAME);
    if world.sessions().is_empty() {
        start::<V>(world);
    }
    let report = world.json(["resume", "--all", "--json"]);
    assert_eq!(report["complete"], true, "{case}: {report:#}");
    assert_eq!(world.sessions().len(), 1, "{case}");
    // Some agents are idle before they take their first message.
    model.wait_answered(MESSAGE);
    let waited = world.segue(["wait", "a", "--for", "idle", "--timeout", "170s"]);
    assert_eq!(waited.status, 0, "{case}: {waited:#?}\n{}", world.ok(["log", "a"]));
    let sent = world.segue(["send", "a", "--wait", "--timeout", "170s", "and now"]);
    assert_eq!(sent.status, 0, "{case}: {sent:#?}\n{}", world.ok(["log", "a"]));
    let carried = model.conversation_of("and now").unwrap_or_else(|| panic!("{case}: lost"));
    let messages = carried.user_texts();
    assert_eq!(messages.first().map(|text| text.trim()), Some(MESSAGE), "{case}: {messages:?}");
    let times = messages.iter().filter(|text| text.contains("heron")).count();
    assert_eq!(times, 1, "{case}: {messages:?}");
}

fn session_survives_death_of_the_daemon_at_any_step_of_its_start<V: PinnedVendor>() {
    for point in STARTING {
        let (mut world, model) = with_vendor::<V>();
        arm(&mut world, point);
        start::<V>(&world);
        // Some failpoints are reached only when the agent shows activity.
        world.segue(["wait", "a", "--timeout", "20s"]);
        disarm(&mut world);
        check::<V>(&world, &model, point);
    }
}

test_each!(session_survives_death_of_the_daemon_at_any_step_of_its_start: claude, codex);

fn session_survives_death_of_the_daemon_at_any_step_of_its_resume<V: PinnedVendor>() {
    for point in RESUMING {
        let (mut world, model) = with_vendor::<V>();
        start::<V>(&world);
        // Only a turn that the vendor's program has recorded can be resumed.
        model.wait_answered(MESSAGE);
        wait_recorded(&world);
        world.kill_everything();
        arm(&mut world, point);
        world.segue(["resume", "--all"]);
        disarm(&mut world);
        check::<V>(&world, &model, point);
    }
}

test_each!(session_survives_death_of_the_daemon_at_any_step_of_its_resume: claude, codex);
