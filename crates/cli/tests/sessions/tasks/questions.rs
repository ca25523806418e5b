//! Headless tasks whose agents ask a person, and agents that cannot ask.

use segue_testkit::scene::{kill_daemon, text, write_project};
use segue_testkit::{World, conversation};
use serde_json::{Value, json};

use super::{add, received, session, show, wait, wait_state, world_with_coder};

/// Adds a headless task whose agent asks for a permission, and waits for the question.
fn asking(world: &World) -> (String, Value) {
    let id = add(world, "/ask");
    let waiting = wait_state(world, &id, "waiting");
    assert!(text(&waiting, "reason").contains("Allow? [1 yes, 2 no]"), "{waiting:#}");
    (id, waiting)
}

/// Returns the lines of the transcript of a task's session.
fn transcript(world: &World, task: &Value) -> String {
    let session = session(world, task);
    let path = conversation::transcript(world, text(&session, "vendor_session_id")).unwrap();
    std::fs::read_to_string(path).unwrap()
}

#[test]
fn headless_task_waits_with_the_question_and_goes_on_after_yes() {
    let world = world_with_coder();
    let (id, waiting) = asking(&world);
    let name = text(&waiting, "address");
    let own = session(&world, &waiting);
    assert_eq!((&own["headless"], &own["status"]), (&json!(true), &json!("waiting")), "{own:#}");
    assert_eq!(own["dialog"]["kind"], "permission", "{own:#}");
    assert_eq!(own["dialog"]["question"], "Allow?");
    assert_eq!(own["dialog"]["choices"], json!(["yes", "no"]));
    assert!(!transcript(&world, &waiting).contains("I edited"), "it acts after the answer only");
    world.ok(["answer", name, "yes"]);
    let done = wait(&world, &id);
    assert_eq!((&done["state"], &done["attempts"]), (&json!("done"), &json!(1)), "{done:#}");
    assert_eq!(done["result"]["answer"], "I edited notes.txt.");
    assert_eq!(session(&world, &done)["launches"], 1);
}

#[test]
fn headless_agent_leaves_everything_as_it_was_after_no() {
    let world = world_with_coder();
    let (id, waiting) = asking(&world);
    world.ok(["answer", text(&waiting, "address"), "no"]);
    let done = wait(&world, &id);
    assert_eq!(done["result"]["answer"], "I left notes.txt as it was.", "{done:#}");
}

#[test]
fn answer_to_a_headless_question_must_fit_it() {
    let world = world_with_coder();
    let id = add(&world, "/question");
    let waiting = wait_state(&world, &id, "waiting");
    let name = text(&waiting, "address");
    for answer in ["yes", "4"] {
        let refused = world.segue(["answer", name, answer]);
        assert_eq!(refused.status, 2, "{answer} {refused:#?}");
    }
    let other = world.segue(["answer", name, "1", "--question", "x"]);
    assert_eq!(other.status, 4, "{other:#?}");
    assert_eq!(show(&world, &id)["state"], "waiting");
    let own = session(&world, &waiting);
    world.ok(["answer", name, "green", "--question", text(&own["dialog"], "id")]);
    assert_eq!(wait(&world, &id)["result"]["answer"], "You chose green.");
    assert_eq!(world.segue(["answer", name, "1"]).status, 4, "nothing is asked any more");
}

#[test]
fn question_of_a_headless_task_survives_the_death_of_the_daemon() {
    let world = world_with_coder();
    let (id, waiting) = asking(&world);
    let before = session(&world, &waiting);
    kill_daemon(&world);
    assert_eq!(show(&world, &id), waiting);
    let question = text(&before["dialog"], "id");
    world.ok(["answer", text(&waiting, "address"), "yes", "--question", question]);
    let done = wait_state(&world, &id, "done");
    assert_eq!(done["result"]["answer"], "I edited notes.txt.", "{done:#}");
    assert_eq!(session(&world, &done)["launches"], 1, "the same process went on");
}

#[test]
fn headless_task_is_brought_back_if_its_agent_dies_while_it_asks() {
    let world = world_with_coder();
    let (id, waiting) = asking(&world);
    world.kill_everything();
    let done = wait_state(&world, &id, "done");
    assert_eq!((&done["session"], &done["attempts"]), (&waiting["session"], &json!(1)));
    assert_eq!(received(&world, &done).len(), 2, "it was asked to go on: {done:#}");
    assert!(!transcript(&world, &done).contains("I edited"), "nobody has allowed it");
}

#[test]
fn agent_that_waits_for_an_answer_is_not_ended_for_its_silence() {
    let world = world_with_coder();
    std::fs::write(world.segue_home().join("config.toml"), "silence = \"1s\"\n").unwrap();
    let (id, waiting) = asking(&world);
    let silent = world.segue(["run", "--headless", "--vendor", "demo", "/hang"]);
    assert!(silent.stderr.contains("printed nothing"), "{silent:#?}");
    assert_eq!(show(&world, &id)["state"], "waiting");
    world.ok(["answer", text(&waiting, "address"), "yes"]);
    assert_eq!(wait(&world, &id)["state"], "done");
}

#[test]
fn headless_run_prints_the_question_and_ends() {
    let world = world_with_coder();
    let run = world.segue(["run", "--headless", "--vendor", "demo", "--name", "fox", "/ask"]);
    assert_eq!(run.status, 4, "{run:#?}");
    assert!(run.stderr.contains("Allow? [1 yes, 2 no]"), "{run:#?}");
    assert!(run.stderr.contains("segue answer"), "{run:#?}");
    world.ok(["answer", "fox", "yes"]);
    world.ok(["wait", "fox"]);
    assert!(world.ok(["show", "fox"]).contains("I edited notes.txt."));
}

/// Writes a project with an agent of a vendor whose program cannot ask headless.
fn write_unable(world: &World, permission: &str) {
    let agent = "[[agents]]\nname = \"coder\"\nvendor = \"codex\"\n";
    write_project(world, &format!("[fleet]\nname = \"shop\"\n{agent}{permission}"));
}

#[test]
fn task_that_cannot_ask_a_person_is_refused_before_anything_is_recorded() {
    let world = crate::world();
    write_unable(&world, "");
    let refused = world.segue(["task", "add", "--agent", "coder", "fix it"]);
    assert_eq!(refused.status, 5, "{refused:#?}");
    assert!(refused.stderr.contains("`codex` cannot ask a person"), "{refused:#?}");
    assert!(refused.stderr.contains("--interactive"), "{refused:#?}");
    assert!(refused.stderr.contains("permission = \"accept-edits\""), "{refused:#?}");
    assert_eq!(world.json(["task", "ls", "--all", "--json"])["tasks"], json!([]));
    for permission in ["accept-edits", "auto"] {
        write_unable(&world, &format!("permission = \"{permission}\"\n"));
        world.ok(["task", "add", "--agent", "coder", "fix it"]);
    }
    write_unable(&world, "");
    world.ok(["task", "add", "--agent", "coder", "--interactive", "fix it"]);
}
