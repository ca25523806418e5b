//! Turns that nobody disturbs, and headless ones.

use std::process::Child;

use crate::trial::Trial;

pub(super) fn start(trial: &mut Trial) {
    trial.told("a", "remember ALPHA");
    let asked = trial.model.conversations();
    let first = asked.iter().filter(|it| it.newest().contains("remember ALPHA")).count();
    assert_eq!(first, 1, "it was told {first} times");
    trial.assert_carries("a", &["remember ALPHA"], "which word was it?");
    assert_eq!(trial.world.session("a")["launches"], 1);
}

pub(super) fn headless(trial: &mut Trial) {
    let first = trial.headless("h", "remember ALPHA");
    assert_eq!(first.status, 0, "{first:#?}");
    assert!(first.stdout.contains("turns=1"), "the answer is not printed: {first:#?}");
    let second = trial.world.ok(["send", "h", "--wait", "which word was it?"]);
    assert!(second.contains("turns=2"), "{second}");
    let carried = trial.model.conversation_of("which word was it?").expect("a request");
    let told: Vec<&str> = carried.user_texts().into_iter().map(str::trim).collect();
    assert_eq!(told, ["remember ALPHA", "which word was it?"]);
    let failed = trial.world.segue(["send", "h", "--wait", "fail now [[status: 400]]"]);
    assert_eq!(failed.status, 6, "{failed:#?}");
}

pub(super) fn headless_killed(trial: &mut Trial) {
    let names = ["alpha", "beta"];
    let message = |name: &str| format!("remember {name} [[hold: {name}]]");
    let mut turns: Vec<Child> =
        names.iter().map(|name| begin(trial, name, &message(name))).collect();
    for name in names {
        trial.model.wait_held(name);
    }
    let ids = names.map(|name| trial.wait_session(name, |it| !it["vendor_session_id"].is_null()));
    trial.kill_and_resume();
    for turn in &mut turns {
        assert!(!turn.wait().expect("an end").success(), "a killed turn is no success");
    }
    for (name, before) in names.into_iter().zip(ids) {
        trial.wait_idle(name);
        let back = trial.world.session(name);
        assert_eq!(back["vendor_session_id"], before["vendor_session_id"]);
        let carried = trial.ask(name, &format!("which word, {name}?"));
        let other = names.into_iter().find(|other| *other != name).expect("another one");
        assert!(carried.mentions(&format!("remember {name}")), "{:?}", carried.user_texts());
        assert!(!carried.mentions(&format!("remember {other}")), "{:?}", carried.user_texts());
    }
}

fn begin(trial: &Trial, name: &str, message: &str) -> Child {
    let vendor = trial.vendor();
    trial.world.start(["run", "--headless", "--vendor", vendor, "--name", name, message])
}
