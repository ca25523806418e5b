//! Several agents of one vendor in one folder: after a kill, each resumes its own conversation.

use std::process::{Child, Command};

use segue_testkit::vendor_scene::PinnedVendor;
use segue_testkit::{Model, World, is_soak};

use crate::with_vendor;

/// A session's name, its word, and whether it is headless.
const AGENTS: [(&str, &str, bool); 4] = [
    ("one", "the word is amber", false),
    ("two", "the word is basalt", false),
    ("three", "the word is cobalt", true),
    ("four", "the word is dolomite", true),
];

fn rounds() -> usize {
    if is_soak() { 20 } else { 1 }
}

fn four_sessions_in_one_folder_resume_their_own_conversations<V: PinnedVendor>() {
    let (world, model) = with_vendor::<V>();
    start_all::<V>(&world);
    for (name, _, _) in AGENTS {
        world.ok(["wait", name, "--for", "idle", "--timeout", "170s"]);
    }
    for round in 0..rounds() {
        world.kill_everything();
        let report = world.json(["resume", "--all", "--json"]);
        assert_eq!(report["complete"], true, "{}: {report:#}", V::NAME);
        for (name, word, _) in AGENTS {
            assert_answers_own_question(&world, &model, (name, word), round);
        }
    }
}

test_each!(four_sessions_in_one_folder_resume_their_own_conversations: claude, codex);

fn start_all<V: PinnedVendor>(world: &World) {
    let start = |(name, word, headless): (&str, &str, bool)| -> Child {
        let mut arguments = vec!["run", "-d", "--vendor", V::NAME, "--name", name, word];
        arguments.extend(headless.then_some("--headless"));
        let mut command: Command = world.command(arguments);
        command.spawn().unwrap()
    };
    let started = AGENTS.map(start);
    for mut child in started {
        assert!(child.wait().unwrap().success(), "{}", V::NAME);
    }
}

/// Sends an agent a question of its own. Checks that the request has all messages of this agent and
/// no others.
fn assert_answers_own_question(
    world: &World,
    model: &Model,
    (name, word): (&str, &str),
    round: usize,
) {
    let question = format!("question-{name}-{round}.");
    let sent = world.segue(["send", name, "--wait", "--timeout", "170s", &question]);
    assert_eq!(sent.status, 0, "{sent:#?}\n{}", world.ok(["log", name]));
    let carried = model.conversation_of(&question).unwrap_or_else(|| panic!("{question} is lost"));
    let mut expected = vec![word.to_owned()];
    expected.extend((0..=round).map(|round| format!("question-{name}-{round}.")));
    assert_eq!(carried.user_texts(), expected);
}
