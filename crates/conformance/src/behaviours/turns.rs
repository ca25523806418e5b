//! Turns that are not interrupted, and headless turns.

use std::process::Child;

use crate::expectation::{expect, quoted};
use crate::trial::VendorTrial;

pub(super) fn start(trial: &mut VendorTrial) {
    trial.start_and_settle("a", "remember ALPHA");
    let asked = trial.model.conversations();
    let first = asked.iter().filter(|it| it.newest().contains("remember ALPHA")).count();
    expect(first == 1, "its first message reaches the model once", || {
        format!("it reached the model {first} times")
    });
    trial.expect_carried("a", &["remember ALPHA"], "which word was it?");
    let launches = &trial.world.session("a")["launches"];
    expect(*launches == 1, "one process answered both messages", || format!("{launches} launches"));
}

pub(super) fn headless(trial: &mut VendorTrial) {
    let first = trial.headless("h", "remember ALPHA");
    expect(
        first.status == 0 && first.stdout.contains("turns=1"),
        "a headless turn succeeds and its answer is printed",
        || first.to_string(),
    );
    let second = trial.world.ok(["send", "h", "--wait", "which word was it?"]);
    expect(
        second.contains("turns=2"),
        "the next message continues the headless conversation",
        || second.clone(),
    );
    let carried = trial.model.conversation_of("which word was it?");
    let said = carried.as_ref().map(|it| it.user_texts()).unwrap_or_default();
    let said: Vec<&str> = said.into_iter().map(str::trim).collect();
    expect(
        said == ["remember ALPHA", "which word was it?"],
        "the second turn carries what was said in the first",
        || format!("the request carried {}", quoted(&said)),
    );
    let failed = trial.world.segue(["send", "h", "--wait", "fail now [[status: 400]]"]);
    expect(failed.status == 6, "a turn that the model refuses ends with exit status 6", || {
        failed.to_string()
    });
}

pub(super) fn headless_killed(trial: &mut VendorTrial) {
    let names = ["alpha", "beta"];
    let message = |name: &str| format!("remember {name} [[hold: {name}]]");
    let mut turns: Vec<Child> =
        names.iter().map(|name| begin(trial, name, &message(name))).collect();
    for name in names {
        trial.model.wait_held(name);
    }
    let ids = names.map(|name| trial.wait_session(name, |it| !it["vendor_session_id"].is_null()));
    trial.world.kill_everything();
    let recorded = [0, 1].map(|at| trial.is_recorded(&ids[at], &format!("remember {}", names[at])));
    // If a program had not recorded its first message, it gets that message again. The model must
    // not hold that answer, too.
    names.iter().for_each(|name| trial.model.release(name));
    trial.resume_all();
    for turn in &mut turns {
        let succeeded = turn.wait().is_ok_and(|status| status.success());
        expect(!succeeded, "a turn that was killed is a failure", || "it succeeded".to_owned());
    }
    for (name, (before, was_recorded)) in names.into_iter().zip(ids.into_iter().zip(recorded)) {
        trial.wait_idle(name);
        // A conversation without a recorded message cannot be continued, and the vendor may refuse
        // to use its id again. The session may then be in another conversation.
        if was_recorded {
            trial.expect_same_conversation(name, &before);
        }
        let carried = trial.ask(name, &format!("which word, {name}?"));
        let other = names.into_iter().find(|other| *other != name).unwrap_or_default();
        expect(
            carried.mentions(&format!("remember {name}"))
                && !carried.mentions(&format!("remember {other}")),
            format!("`{name}` goes on with its own conversation and not with that of `{other}`"),
            || format!("the request carried {}", quoted(&carried.user_texts())),
        );
    }
}

fn begin(trial: &VendorTrial, name: &str, message: &str) -> Child {
    let vendor = trial.vendor();
    trial.world.start(["run", "--headless", "--vendor", vendor, "--name", name, message])
}
