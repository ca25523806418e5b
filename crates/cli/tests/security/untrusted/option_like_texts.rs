//! Texts that a vendor's program would take for options.

use segue_testkit::{CommandOutcome, World, conversation, scene};

use super::with_and_without_privileges;

#[track_caller]
fn assert_refused(outcome: &CommandOutcome, error: &str) {
    assert_eq!((outcome.status, outcome.stdout.as_str()), (2, ""), "{outcome:#?}");
    assert!(outcome.stderr.starts_with(&format!("error: {error}")), "{outcome:#?}");
    assert!(
        outcome.stderr.contains("caused by: ") && outcome.stderr.contains("hint: "),
        "{outcome:#?}"
    );
}

#[test]
fn model_id_or_address_that_looks_like_an_option_is_refused() {
    with_and_without_privileges(|world| {
        world.ok(["run", "-d", "--name", "a", "hello"]);
        let long = "x".repeat(1000);
        for model in ["--allowed-tools=Bash", "-y", "", "a\nb", "a\u{1b}[31m", &long] {
            let model = format!("--model={model}");
            assert_refused(&world.segue(["run", "-d", &model, "hello"]), "`");
        }
        let model = "`--x` cannot be a model";
        assert_refused(&world.segue(["run", "-d", "--model=--x", "hello"]), model);
        assert_refused(&world.segue(["run", "--headless", "--model=--x", "hello"]), model);
        let id = "cannot be the id of a conversation";
        assert_refused(&world.segue(["adopt", "claude:--x"]), &format!("`--x` {id}"));
        assert_refused(&world.segue(["adopt", "claude:../../x"]), &format!("`../../x` {id}"));
        for verb in ["show", "resume", "stop", "log", "attach", "wait"] {
            let outcome = world.segue([verb, "--", "--x"]);
            assert_eq!(outcome.status, 2, "{verb}: {outcome:#?}");
        }
        assert_eq!(world.sessions().len(), 1);
    });
}

#[test]
fn model_that_looks_like_an_option_in_a_project_file_is_refused_with_its_line() {
    with_and_without_privileges(|world| {
        let agent = "[[agents]]\nname = \"coder\"\nvendor = \"demo\"\nmodel = \"--x\"\n";
        world.write("segue.toml", agent);
        let outcome = world.segue(["trust", "--yes"]);
        assert_eq!(outcome.status, 5, "{outcome:#?}");
        assert!(outcome.stderr.contains("line 4: `--x` cannot be a model"), "{outcome:#?}");
    });
}

/// Checks that the session's only message is this text.
fn assert_received(world: &World, name: &str, text: &str) {
    let session = world.session(name);
    conversation::wait_turns(world, &session, 1);
    let received = conversation::user_messages(&scene::transcript(world, &session));
    assert_eq!(received, [text]);
}

#[test]
fn prompt_that_looks_like_an_option_arrives_as_text() {
    with_and_without_privileges(|world| {
        for (number, text) in ["--help", "-y", "--model=x", "- one\n- two"].into_iter().enumerate()
        {
            let name = format!("a{number}");
            let outcome = world.with_input(["run", "-d", "--name", &name, "-"], text.as_bytes());
            assert_eq!(outcome.status, 0, "{outcome:#?}");
            assert_received(world, &name, text);
        }
    });
}
