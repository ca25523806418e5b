//! Request ids are scoped by caller.

use segue_testkit::stand_in::StandIn;
use serde_json::Value;

use super::raw_requests::{ask, ask_at, send_request};
use crate::scene::{agent, messages, times_received, wait_idle};

const ID: &str = "01890a5d-ac96-774b-bcce-b302099a8057";

#[test]
fn repeated_request_id_gets_the_first_answer_also_from_the_next_daemon() {
    let world = agent("alpha");
    let request = send_request(&world, "alpha", "said once");
    let (status, first) = ask(&world, "/v1/send", ID, &request);
    assert_eq!(status, 200, "{first}");
    let (_, second) = ask(&world, "/v1/send", ID, &request);
    assert_eq!(second["message"]["id"], first["message"]["id"]);
    world.ok(["daemon", "stop"]);
    world.ok(["daemon", "start"]);
    let (_, third) = ask(&world, "/v1/send", ID, &request);
    assert_eq!(third["message"]["id"], first["message"]["id"]);
    wait_idle(&world, "alpha");
    assert_eq!(times_received(&world, "said once"), 1);
}

#[test]
fn reused_request_id_is_a_conflict_and_a_malformed_one_is_a_usage_error() {
    let world = agent("alpha");
    ask(&world, "/v1/send", ID, &send_request(&world, "alpha", "said once"));
    let (status, error) = ask(&world, "/v1/send", ID, &send_request(&world, "alpha", "another"));
    assert_eq!((status, &error["kind"]), (409, &Value::from("conflict")), "{error}");
    let (status, error) =
        ask(&world, "/v1/send", "1 OR 1=1", &send_request(&world, "alpha", "another"));
    assert_eq!((status, &error["kind"]), (400, &Value::from("usage")), "{error}");
    wait_idle(&world, "alpha");
    assert_eq!(times_received(&world, "another"), 0);
}

/// Not a test of its own: the agent of the test below runs it to replay a request.
#[test]
fn replayer() {
    let Some(home) = std::env::var_os("REPLAY_HOME") else { return };
    let request = std::env::var_os("REPLAY_REQUEST").unwrap().into_string().unwrap();
    let socket = std::path::Path::new(&home).join("state/daemon.sock");
    println!("answer: {}", ask_at(&socket, "/v1/send", ID, &request).1);
}

#[test]
fn agent_that_replays_the_users_request_id_does_not_get_the_users_answer() {
    let world = agent("alpha");
    let request = send_request(&world, "alpha", "for the agent");
    let (_, users) = ask(&world, "/v1/send", ID, &request);
    wait_idle(&world, "alpha");
    let stand_in = StandIn::with_new_daemon(&world, &world.session("alpha"));
    let program = std::env::current_exe().unwrap();
    let replayed = stand_in.run(&format!(
        "REPLAY_HOME='{}' REPLAY_REQUEST='{request}' '{}' --exact once::request_ids::replayer --nocapture",
        world.segue_home().display(),
        program.display(),
    ));
    let answer = replayed.stdout.lines().find_map(|line| line.split_once("answer: "));
    let answer = answer.unwrap_or_else(|| panic!("{replayed:#?}")).1;
    let answer: Value = serde_json::from_str(answer).unwrap();
    assert!(answer["message"]["id"].is_string(), "{answer}");
    assert_ne!(answer["message"]["id"], users["message"]["id"], "the user's own answer");
    assert_eq!(messages(&world).len(), 2);
}
