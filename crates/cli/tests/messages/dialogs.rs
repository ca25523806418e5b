//! A message is never typed into a question. Only a person answers a question.

use segue_testkit::{World, conversation, scene};

use crate::scene::{
    agent, assert_error, assert_heard, heard, queued_as, states, wait_asking, wait_idle,
};
use crate::world;

/// Returns all answers of the agent.
fn outcomes(world: &World) -> String {
    let records = conversation::records(&scene::transcript(world, &world.session("alpha")));
    let said = records.iter().filter(|record| record["type"] == "assistant");
    said.map(|record| record["text"].as_str().unwrap()).collect::<Vec<_>>().join("\n")
}

#[test]
fn message_waits_until_a_permission_question_is_answered() {
    for (answer, outcome) in
        [("yes", "I edited notes.txt."), ("no", "I left notes.txt as it was."), ("1", "I edited")]
    {
        let world = agent("alpha");
        world.ok(["send", "alpha", "/ask"]);
        wait_asking(&world, "alpha", "permission");
        let under = world.segue(["send", "alpha", "under it", "--timeout", "1s"]);
        queued_as(&under);
        assert!(under.stderr.contains("it waits for an answer (permission)"), "{under:#?}");
        assert!(under.stderr.contains("segue answer default/alpha yes"), "{under:#?}");
        assert_heard(&world, &["/ask"]);
        assert_eq!(world.session("alpha")["status"], "waiting");
        assert_eq!(world.ok(["answer", "alpha", answer]), "");
        wait_idle(&world, "alpha");
        assert_heard(&world, &["/ask", "under it"]);
        assert_eq!(states(&world), ["delivered", "delivered"]);
        let answered = scene::told_events(&world, "alpha", "answered");
        let told = if answer == "1" { "choice 1" } else { answer };
        assert_eq!(answered, [format!("{told} to: Allow? [1 yes, 2 no]")]);
        let said = outcomes(&world);
        assert!(said.contains(outcome), "{said}");
    }
}

#[test]
fn message_waits_until_a_question_is_answered_with_a_prefix_of_a_choice() {
    let world = agent("alpha");
    world.ok(["send", "alpha", "/question"]);
    wait_asking(&world, "alpha", "question");
    queued_as(&world.segue(["send", "alpha", "under it", "--timeout", "1s"]));
    assert_error(&world.segue(["answer", "alpha", ""]), 2, "the answer is empty");
    let answered = world.json(["answer", "alpha", "gr", "--json"]);
    assert_eq!(answered["outcome"], "answered", "{answered:#}");
    assert_eq!(answered["dialog"]["kind"], "question", "{answered:#}");
    assert_eq!(answered["dialog"]["choices"][1], "green", "{answered:#}");
    wait_idle(&world, "alpha");
    assert_heard(&world, &["/question", "under it"]);
    assert!(outcomes(&world).contains("green"), "{}", outcomes(&world));
}

#[test]
fn invalid_answer_is_refused_with_the_list_of_choices() {
    let world = agent("alpha");
    world.ok(["send", "alpha", "/question"]);
    wait_asking(&world, "alpha", "question");
    for unknown in ["pink", "7", "yes"] {
        let refused = world.segue(["answer", "alpha", unknown]);
        let what = format!("the question of `default/alpha` has no such answer: `{unknown}`");
        assert_error(&refused, 2, &what);
        assert!(refused.stderr.contains("[1 red, 2 green, 3 blue]"), "{refused:#?}");
    }
    assert_eq!(world.session("alpha")["status"], "waiting");
}

#[test]
fn answer_with_the_id_of_another_question_is_refused() {
    let world = agent("alpha");
    world.ok(["send", "alpha", "/ask"]);
    wait_asking(&world, "alpha", "permission");
    let other = world.segue(["answer", "alpha", "yes", "--question", "0000"]);
    assert_error(&other, 4, "`default/alpha` asks something else than question `0000`");
    let dialog = world.session("alpha")["dialog"].clone();
    let command = dialog["answer"].as_str().unwrap();
    for words in ["it waits for an answer (permission): Allow? [1 yes, 2 no]", command] {
        assert!(other.stderr.contains(words), "{other:#?}");
    }
    assert_eq!(scene::told_events(&world, "alpha", "answered"), Vec::<String>::new());
    // The suggested command names the question.
    assert!(command.ends_with(dialog["id"].as_str().unwrap()), "{dialog:#}");
    let words: Vec<&str> = command.split(' ').skip(1).collect();
    let answered = world.segue::<5>(words.try_into().unwrap());
    assert_eq!(answered.status, 0, "{answered:#?}");
    let told = "default/alpha: answered yes to: Allow? [1 yes, 2 no]";
    assert!(answered.stderr.contains(told), "{answered:#?}");
    wait_idle(&world, "alpha");
}

#[test]
fn message_waits_until_the_trust_question_is_answered() {
    let world = world();
    world.ok(["run", "-d", "--name", "alpha", "hello", "--", "--ask-trust"]);
    wait_asking(&world, "alpha", "trust");
    queued_as(&world.segue(["send", "alpha", "under it", "--timeout", "1s"]));
    assert_eq!(heard(&world), Vec::<String>::new());
    world.ok(["answer", "alpha", "yes"]);
    wait_idle(&world, "alpha");
    assert_eq!(heard(&world), ["hello", "under it"]);
}

#[test]
fn answering_no_to_the_trust_question_ends_the_agent_and_keeps_the_message() {
    let world = world();
    world.ok(["run", "-d", "--name", "alpha", "hello", "--", "--ask-trust"]);
    wait_asking(&world, "alpha", "trust");
    queued_as(&world.segue(["send", "alpha", "under it", "--timeout", "1s"]));
    world.ok(["answer", "alpha", "no"]);
    world.ok(["wait", "alpha", "--for", "ended", "--timeout", "170s"]);
    assert_eq!(world.session("alpha")["status_detail"], "quit");
    assert_eq!(world.session("alpha")["launches"], 1);
    assert_eq!(states(&world), ["queued"]);
    assert_eq!(heard(&world), Vec::<String>::new());
}

#[test]
fn answer_is_refused_if_no_question_is_asked() {
    let world = agent("alpha");
    let idle = world.segue(["answer", "alpha", "yes"]);
    assert_error(&idle, 4, "`default/alpha` asks nothing that could be answered");
    world.ok(["send", "alpha", "/hang"]);
    let busy = world.segue(["answer", "alpha", "no"]);
    assert_error(&busy, 4, "`default/alpha` asks nothing that could be answered");
    world.ok(["stop", "alpha"]);
    let down = world.segue(["answer", "alpha", "yes"]);
    assert_error(&down, 4, "`default/alpha` is not running");
    assert_error(
        &world.segue(["answer", "nobody", "yes"]),
        3,
        "there is no session or fleet `nobody`",
    );
    assert_eq!(scene::told_events(&world, "alpha", "answered"), Vec::<String>::new());
    assert_heard(&world, &["/hang"]);
}

#[test]
fn send_wait_ends_with_an_error_if_the_turn_asks_a_question() {
    let world = agent("alpha");
    let asked = world.segue(["send", "alpha", "/ask", "--wait"]);
    assert_error(&asked, 4, "the turn of `default/alpha` is not over");
    assert!(asked.stderr.contains("it waits for an answer (permission)"), "{asked:#?}");
    world.ok(["answer", "alpha", "yes"]);
    wait_idle(&world, "alpha");
    assert!(outcomes(&world).ends_with("I edited notes.txt."));
}

#[test]
fn question_and_queued_message_survive_the_death_of_the_daemon() {
    let world = agent("alpha");
    world.ok(["send", "alpha", "/ask"]);
    wait_asking(&world, "alpha", "permission");
    world.ok(["send", "alpha", "--no-wait", "under it"]);
    scene::kill_daemon(&world);
    wait_asking(&world, "alpha", "permission");
    assert_heard(&world, &["/ask"]);
    scene::kill_daemon(&world);
    world.ok(["answer", "alpha", "no"]);
    wait_idle(&world, "alpha");
    assert_heard(&world, &["/ask", "under it"]);
}
