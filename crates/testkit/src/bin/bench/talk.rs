//! Measures how long a vendor's hook takes, and how long a message to an idle agent takes.

use std::fs;
use std::path::Path;
use std::time::Duration;

use segue_testkit::{World, launches, scene};

use crate::starts::version;
use crate::table::{Aim, Figure, Row};
use crate::timing::{median, timed, whole_run};

const TIMES: usize = 30;
const MESSAGES: usize = 10;

/// The maximum time that a vendor's program should wait for our hook.
const HOOK_AIM: Aim = Aim::Below(Figure::Time(Duration::from_millis(50)));

pub(crate) fn measure(program: &Path) -> Vec<Row> {
    let mut world = World::new(program);
    let session = scene::start_with_word(&world, "alpha", "heron");
    let message = median((0..MESSAGES).map(|number| send(&world, number)).collect());
    let launch = launches::newest_id(&world, &session);
    world.set("SEGUE_LAUNCH", launch.to_string());
    let hook = median((0..TIMES).map(|_| call_hook(&world)).collect());
    let command = median((0..TIMES).map(|_| version(&world)).collect());
    vec![
        Row::new("a vendor's hook", Figure::Time(hook))
            .against(Figure::Time(command))
            .aim(HOOK_AIM),
        Row::new("send until an idle agent has answered", Figure::Time(message)),
    ]
}

fn call_hook(world: &World) -> Duration {
    let payload = world.root().join("payload");
    fs::write(&payload, r#"{"hook_event_name":"Stop","session_id":"x"}"#).expect("a payload");
    let input = fs::File::open(payload).expect("a payload");
    whole_run(world.command(["hook"]).stdin(input))
}

/// Sends a message to the session `alpha`. Returns the time until it has answered.
pub(crate) fn send(world: &World, number: usize) -> Duration {
    let text = format!("message {number}");
    timed(|| world.ok(["send", "alpha", "--wait", &text])).0
}
