//! A connection that breaks after the daemon received the request.

use segue_testkit::{World, scene};
use serde_json::Value;

use super::proxy::{Cut, Proxy};
use crate::scene::{agent, times_received, wait_idle};

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

const CUTS: [Cut; 3] = [Cut::Answer, Cut::HalfOfTheAnswer, Cut::AtOnce];

#[test]
fn send_over_a_broken_connection_is_repeated_and_delivered_once() {
    for cut in CUTS {
        let world = agent("alpha");
        let proxy = Proxy::before(&world, "/v1/send", cut);
        proxy.ok(["send", "alpha", "--wait", "said once"]);
        proxy.assert_sent_twice();
        wait_idle(&world, "alpha");
        assert_eq!(times_received(&world, "said once"), 1, "{cut:?}");
        let list = world.json(["messages", "--json"]);
        assert_eq!(list["messages"].as_array().map(Vec::len), Some(1), "{cut:?}: {list:#}");
    }
}

#[test]
fn run_over_a_broken_connection_is_repeated_and_starts_one_session() {
    for cut in CUTS {
        let world = agent("alpha");
        let proxy = Proxy::before(&world, "/v1/run", cut);
        // Without `--name`, a second session would get another name.
        let address = proxy.ok(["run", "-d", "said once"]);
        proxy.assert_sent_twice();
        let sessions = world.sessions();
        assert_eq!(sessions.len(), 2, "{cut:?}: {sessions:#?}");
        let session = sessions.iter().find(|it| it["name"] != "alpha").unwrap();
        assert_eq!(address.trim(), format!("default/{}", scene::text(session, "name")));
        assert_eq!(session["launches"], 1, "{cut:?}");
        wait_idle(&world, address.trim());
        assert_eq!(times_received(&world, "said once"), 1, "{cut:?}");
    }
}

#[test]
fn headless_run_over_a_broken_connection_gets_the_answer_of_its_one_turn() {
    for cut in [Cut::Answer, Cut::AtOnce] {
        let world = agent("alpha");
        let proxy = Proxy::before(&world, "/v1/run", cut);
        let answer = proxy.ok(["run", "--headless", "remember the word heron"]);
        assert_eq!(answer, "I will remember heron.\n", "{cut:?}");
        proxy.assert_sent_twice();
        assert_eq!(times_received(&world, "remember the word heron"), 1, "{cut:?}");
    }
}

#[test]
fn every_other_change_over_a_broken_connection_gets_the_first_answer() {
    let world = agent("alpha");
    let queue_message = |world: &World| {
        world.ok(["stop", "alpha"]);
        world.ok(["send", "alpha", "--no-wait", "never said"]).trim().to_owned()
    };
    for cut in CUTS {
        world.resume(["alpha"]);
        let proxy = Proxy::before(&world, "/v1/stop", cut);
        let stopped = json(&proxy.ok(["stop", "alpha", "--json"]));
        assert_eq!(stopped["stopped"][0]["outcome"], "stopped", "{cut:?}: {stopped:#}");
        proxy.assert_sent_twice();

        let message = queue_message(&world);
        let proxy = Proxy::before(&world, "/v1/cancel", cut);
        proxy.ok(["messages", "--cancel", &message]);
        proxy.assert_sent_twice();

        let proxy = Proxy::before(&world, "/v1/resume", cut);
        let outcome =
            json(&proxy.ok(["resume", "alpha", "--json"]))["agents"][0]["outcome"].clone();
        // This is the first answer. A second `resume` would report `running`.
        assert!(outcome == "resumed" || outcome == "started", "{cut:?}: {outcome}");
        proxy.assert_sent_twice();

        let conversation = world.session("alpha")["vendor_session_id"].clone();
        let proxy = Proxy::before(&world, "/v1/resume", cut);
        proxy.segue(["resume", "alpha", "--fresh", "alpha"]);
        proxy.assert_sent_twice();
        let fresh: Vec<Value> = preset_ids(&world);
        assert_eq!(fresh.iter().filter(|id| **id == conversation).count(), 1, "{cut:?}");
    }
    assert_eq!(preset_ids(&world).len(), CUTS.len() + 1, "one conversation for each --fresh");
    assert_eq!(times_received(&world, "never said"), 0);
}

/// Returns the ids of the conversations that Segue itself started for the session.
fn preset_ids(world: &World) -> Vec<Value> {
    let bound = scene::event_texts(world, "alpha", "bound");
    let preset = bound.iter().filter_map(|text| text.strip_suffix(" (preset)"));
    preset.map(Value::from).collect()
}

#[test]
fn handoff_over_a_broken_connection_is_repeated_and_makes_one_session() {
    for cut in CUTS {
        let world = agent("alpha");
        let proxy = Proxy::before(&world, "/v1/handoff", cut);
        let report = json(&proxy.ok(["handoff", "alpha", "--to", "demo", "--json"]));
        assert_eq!(report["to"], "default/alpha-demo", "{cut:?}: {report:#}");
        proxy.assert_sent_twice();
        assert_eq!(world.sessions().len(), 2, "{cut:?}");
    }
}

#[test]
fn rm_over_a_broken_connection_is_no_error() {
    for cut in CUTS {
        let world = agent("alpha");
        world.ok(["stop", "alpha"]);
        let id = scene::text(&world.session("alpha"), "id").to_owned();
        let cwd = world.project().canonicalize().unwrap();
        let cwd = cwd.to_str().unwrap().replace('/', "%2F");
        let path = format!("/v1/session?address={id}&cwd={cwd}&purge=false");
        let proxy = Proxy::before(&world, &path, cut);
        proxy.ok(["rm", "alpha", "--yes"]);
        proxy.assert_sent_twice();
        assert!(world.sessions().is_empty(), "{cut:?}");
    }
}
