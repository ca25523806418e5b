//! Messages give an agent no more rights than it has without them.

use segue_testkit::World;
use segue_testkit::scene::{text, wait_session};
use segue_testkit::stand_in::StandIn;
use serde_json::Value;

use crate::scene::{agent, messages, start_agent};

/// Checks that the agent's command is refused with this error, and sends no message.
fn assert_refused(world: &World, agent: &StandIn<'_>, command: &str, error: &str) {
    let outcome = agent.run(&format!("$SEGUE {command}"));
    let expected = format!("error: an agent may not {error}\n");
    assert_eq!(outcome.status, 2, "{command}: {outcome:#?}");
    assert!(outcome.stderr.starts_with(&expected), "{command}: {outcome:#?}");
    assert_eq!(messages(world).len(), 1, "{command}");
}

#[test]
fn agent_may_not_answer_questions_or_reach_unrelated_sessions() {
    let world = agent("coder");
    start_agent(&world, "other");
    world.ok(["stop", "other"]);
    let id = world.ok(["send", "other", "--no-wait", "from a person"]);
    let coder = StandIn::with_new_daemon(&world, &world.session("coder"));
    let others = "reach a session that is neither its own nor its child";
    assert_refused(&world, &coder, "send other hello --no-wait", others);
    assert_refused(&world, &coder, "wait other --timeout 1s", others);
    assert_refused(&world, &coder, "messages other", others);
    assert_refused(&world, &coder, "answer other yes", others);
    assert_refused(&world, &coder, "answer coder yes", "answer its own questions");
    let cancel = coder.run(&format!("$SEGUE messages --cancel {}", id.trim()));
    assert_eq!(cancel.status, 3, "{cancel:#?}");
    let list = coder.run("$SEGUE messages --json");
    assert_eq!(list.stdout, "{\"messages\":[],\"failed\":[]}\n", "{list:#?}");
    assert_eq!(messages(&world)[0]["state"], "queued");
}

#[test]
fn agent_may_send_to_its_child_and_to_itself() {
    let world = agent("coder");
    let coder = StandIn::with_new_daemon(&world, &world.session("coder"));
    assert_eq!(coder.run("$SEGUE run -d --name child hello").status, 0);
    let to_child = coder.run("$SEGUE send child --wait 'remember the word otter'");
    assert_eq!(to_child.stdout, "I will remember otter.\n", "{to_child:#?}");
    let to_itself = coder.run("$SEGUE send coder --no-wait 'later'");
    assert_eq!(to_itself.status, 0, "{to_itself:#?}");
    let answer = coder.run("$SEGUE answer child yes");
    assert_eq!(answer.status, 4, "it asks nothing: {answer:#?}");
}

/// Lets the child ask, and returns the id of its question.
fn asked(world: &World, command: &str) -> String {
    world.ok(["send", "child", "--no-wait", command]);
    let asks = |session: &Value| session["dialog"]["id"].is_string();
    text(&wait_session(world, "child", asks)["dialog"], "id").to_owned()
}

#[test]
fn agent_answers_a_plain_question_of_its_child_but_gives_no_permission_that_it_lacks() {
    let world = agent("coder");
    let coder = StandIn::with_new_daemon(&world, &world.session("coder"));
    assert_eq!(coder.run("$SEGUE run -d --name child hello").status, 0);
    let question = asked(&world, "/question");
    let unnamed = coder.run("$SEGUE answer child 1");
    assert_eq!(unnamed.status, 4, "an agent must name the question: {unnamed:#?}");
    let answer = coder.run(&format!("$SEGUE answer child 1 --question {question}"));
    assert_eq!(answer.status, 0, "{answer:#?}");
    wait_session(&world, "child", |session| session["status"] == "idle");
    let permission = asked(&world, "/ask");
    let refused = coder.run(&format!("$SEGUE answer child yes --question {permission}"));
    let expected = "error: an agent may not give a permission that it does not have itself\n";
    assert_eq!(refused.status, 2, "{refused:#?}");
    assert!(refused.stderr.starts_with(expected), "{refused:#?}");
    assert_eq!(world.session("child")["dialog"]["id"], permission.as_str());
}
