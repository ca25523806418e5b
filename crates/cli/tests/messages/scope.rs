//! Messages give an agent no more rights than it has without them.

use segue_testkit::World;
use segue_testkit::stand_in::{Mark, StandIn};

use crate::scene::{add, agent, messages};

fn refused(world: &World, agent: &StandIn<'_>, command: &str, why: &str) {
    let outcome = agent.run(&format!("$SEGUE {command}"));
    let wanted = format!("error: an agent may not {why}\n");
    assert_eq!(outcome.status, 2, "{command}: {outcome:#?}");
    assert!(outcome.stderr.starts_with(&wanted), "{command}: {outcome:#?}");
    assert_eq!(messages(world).len(), 1, "{command}");
}

#[test]
fn agent_may_not_answer_questions_or_reach_unrelated_sessions() {
    let world = agent("coder");
    add(&world, "other");
    world.ok(["stop", "other"]);
    let id = world.ok(["send", "other", "--no-wait", "from a person"]);
    let coder = StandIn::of(&world, &world.session("coder"), Mark::Kept);
    world.ok(["ls"]);
    let others = "reach a session that is neither its own nor its child";
    refused(&world, &coder, "send other hello --no-wait", others);
    refused(&world, &coder, "wait other --timeout 1s", others);
    refused(&world, &coder, "messages other", others);
    refused(&world, &coder, "answer other yes", "answer a question that was put to a person");
    refused(&world, &coder, "answer coder yes", "answer a question that was put to a person");
    let cancel = coder.run(&format!("$SEGUE messages --cancel {}", id.trim()));
    assert_eq!(cancel.status, 3, "{cancel:#?}");
    let list = coder.run("$SEGUE messages --json");
    assert_eq!(list.stdout, "{\"messages\":[],\"failed\":[]}\n", "{list:#?}");
    assert_eq!(messages(&world)[0]["state"], "queued");
}

#[test]
fn agent_may_send_to_its_child_and_to_itself() {
    let world = agent("coder");
    let coder = StandIn::of(&world, &world.session("coder"), Mark::Kept);
    world.ok(["ls"]);
    assert_eq!(coder.run("$SEGUE run -d --name child hello").status, 0);
    let told = coder.run("$SEGUE send child --wait 'remember the word otter'");
    assert_eq!(told.stdout, "I will remember otter.\n", "{told:#?}");
    let own = coder.run("$SEGUE send coder --no-wait 'later'");
    assert_eq!(own.status, 0, "{own:#?}");
    let answer = coder.run("$SEGUE answer child yes");
    assert_eq!(answer.status, 2, "{answer:#?}");
}
