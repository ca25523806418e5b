//! A message is never typed into a question. Only a person answers a question.

use segue_testkit::{World, conversation, scene};

use crate::scene::{
    agent, assert_error, assert_queued, assert_received, received, states, wait_asking, wait_idle,
};
use crate::world;

/// Returns all answers of the agent, one in each line.
fn answers(world: &World) -> String {
    let records = conversation::records(&scene::transcript(world, &world.session("alpha")));
    let answers = records.iter().filter(|record| record["type"] == "assistant");
    answers.map(|record| record["text"].as_str().unwrap()).collect::<Vec<_>>().join("\n")
}

#[test]
fn message_waits_until_a_permission_question_is_answered() {
    for (answer, outcome) in
        [("yes", "I edited notes.txt."), ("no", "I left notes.txt as it was."), ("1", "I edited")]
    {
        let world = agent("alpha");
        world.ok(["send", "alpha", "/ask"]);
        wait_asking(&world, "alpha", "permission");
        let sent = world.segue(["send", "alpha", "under it", "--timeout", "1s"]);
        assert_queued(&sent);
        assert!(sent.stderr.contains("it waits for an answer (permission)"), "{sent:#?}");
        assert!(sent.stderr.contains("segue answer default/alpha yes"), "{sent:#?}");
        assert_received(&world, &["/ask"]);
        assert_eq!(world.session("alpha")["status"], "waiting");
        assert_eq!(world.ok(["answer", "alpha", answer]), "");
        wait_idle(&world, "alpha");
        assert_received(&world, &["/ask", "under it"]);
        assert_eq!(states(&world), ["delivered", "delivered"]);
        let answered = scene::event_texts(&world, "alpha", "answered");
        let choice = if answer == "1" { "choice 1" } else { answer };
        assert_eq!(answered, [format!("{choice} to: Allow? [1 yes, 2 no]")]);
        // The page and the screen learn from this event that the question is known.
        let asked = scene::event_texts(&world, "alpha", "asked");
        assert_eq!(asked, ["permission: Allow? [1 yes, 2 no]"]);
        let answers = answers(&world);
        assert!(answers.contains(outcome), "{answers}");
    }
}

#[test]
fn message_waits_until_a_question_is_answered_with_a_prefix_of_a_choice() {
    let world = agent("alpha");
    world.ok(["send", "alpha", "/question"]);
    wait_asking(&world, "alpha", "question");
    assert_queued(&world.segue(["send", "alpha", "under it", "--timeout", "1s"]));
    assert_error(&world.segue(["answer", "alpha", ""]), 2, "the answer is empty");
    let answered = world.json(["answer", "alpha", "gr", "--json"]);
    assert_eq!(answered["outcome"], "answered", "{answered:#}");
    assert_eq!(answered["dialog"]["kind"], "question", "{answered:#}");
    assert_eq!(answered["dialog"]["choices"][1], "green", "{answered:#}");
    wait_idle(&world, "alpha");
    assert_received(&world, &["/question", "under it"]);
    assert!(answers(&world).contains("green"), "{}", answers(&world));
}

#[test]
fn invalid_answer_is_refused_with_the_list_of_choices() {
    let world = agent("alpha");
    world.ok(["send", "alpha", "/question"]);
    wait_asking(&world, "alpha", "question");
    for unknown in ["pink", "7", "yes"] {
        let refused = world.segue(["answer", "alpha", unknown]);
        let error = format!("the question of `default/alpha` has no such answer: `{unknown}`");
        assert_error(&refused, 2, &error);
        assert!(refused.stderr.contains("[1 red, 2 green, 3 blue]"), "{refused:#?}");
    }
    assert_eq!(world.session("alpha")["status"], "waiting");
}

#[test]
fn answer_with_the_id_of_another_question_is_refused() {
    let world = agent("alpha");
    world.ok(["send", "alpha", "/ask"]);
    wait_asking(&world, "alpha", "permission");
    let refused = world.segue(["answer", "alpha", "yes", "--question", "0000"]);
    assert_error(&refused, 4, "`default/alpha` asks something else than question `0000`");
    let dialog = world.session("alpha")["dialog"].clone();
    let command = dialog["answer"].as_str().unwrap();
    for part in ["it waits for an answer (permission): Allow? [1 yes, 2 no]", command] {
        assert!(refused.stderr.contains(part), "{refused:#?}");
    }
    assert_eq!(scene::event_texts(&world, "alpha", "answered"), Vec::<String>::new());
    // The suggested command names the question.
    assert!(command.ends_with(dialog["id"].as_str().unwrap()), "{dialog:#}");
    let arguments: Vec<&str> = command.split(' ').skip(1).collect();
    let answered = world.segue::<5>(arguments.try_into().unwrap());
    assert_eq!(answered.status, 0, "{answered:#?}");
    let notice = "default/alpha: answered yes to: Allow? [1 yes, 2 no]";
    assert!(answered.stderr.contains(notice), "{answered:#?}");
    wait_idle(&world, "alpha");
}

#[test]
fn message_waits_until_the_trust_question_is_answered() {
    let world = world();
    world.ok(["run", "-d", "--name", "alpha", "hello", "--", "--ask-trust"]);
    wait_asking(&world, "alpha", "trust");
    assert_queued(&world.segue(["send", "alpha", "under it", "--timeout", "1s"]));
    assert_eq!(received(&world), Vec::<String>::new());
    world.ok(["answer", "alpha", "yes"]);
    wait_idle(&world, "alpha");
    assert_eq!(received(&world), ["hello", "under it"]);
}

#[test]
fn answering_no_to_the_trust_question_ends_the_agent_and_keeps_the_message() {
    let world = world();
    world.ok(["run", "-d", "--name", "alpha", "hello", "--", "--ask-trust"]);
    wait_asking(&world, "alpha", "trust");
    assert_queued(&world.segue(["send", "alpha", "under it", "--timeout", "1s"]));
    world.ok(["answer", "alpha", "no"]);
    world.ok(["wait", "alpha", "--for", "ended", "--timeout", "170s"]);
    assert_eq!(world.session("alpha")["status_detail"], "quit");
    assert_eq!(world.session("alpha")["launches"], 1);
    assert_eq!(states(&world), ["queued"]);
    assert_eq!(received(&world), Vec::<String>::new());
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
    let stopped = world.segue(["answer", "alpha", "yes"]);
    assert_error(&stopped, 4, "`default/alpha` is not running");
    assert_error(
        &world.segue(["answer", "nobody", "yes"]),
        3,
        "there is no session or fleet `nobody`",
    );
    assert_eq!(scene::event_texts(&world, "alpha", "answered"), Vec::<String>::new());
    assert_received(&world, &["/hang"]);
}

#[test]
fn send_wait_ends_with_an_error_if_the_turn_asks_a_question() {
    let world = agent("alpha");
    let asked = world.segue(["send", "alpha", "/ask", "--wait"]);
    assert_error(&asked, 4, "the turn of `default/alpha` is not over");
    assert!(asked.stderr.contains("it waits for an answer (permission)"), "{asked:#?}");
    world.ok(["answer", "alpha", "yes"]);
    wait_idle(&world, "alpha");
    assert!(answers(&world).ends_with("I edited notes.txt."));
}

#[test]
fn question_and_queued_message_survive_the_death_of_the_daemon() {
    let world = agent("alpha");
    world.ok(["send", "alpha", "/ask"]);
    wait_asking(&world, "alpha", "permission");
    world.ok(["send", "alpha", "--no-wait", "under it"]);
    scene::kill_daemon(&world);
    wait_asking(&world, "alpha", "permission");
    assert_received(&world, &["/ask"]);
    scene::kill_daemon(&world);
    world.ok(["answer", "alpha", "no"]);
    wait_idle(&world, "alpha");
    assert_received(&world, &["/ask", "under it"]);
}
