//! The pinned programs of vendors with the scripted model. The tests of the product rely on this
//! behaviour.
#![expect(clippy::panic, clippy::unwrap_used, reason = "a panic fails the test")]

mod claude_and_codex;
mod other_vendors;

use std::fs;

use segue_testkit::model::{Exchange, ScriptStep, SpeakerRole};
use segue_testkit::{CommandOutcome, Model, World};

/// The id of a conversation.
const ID: &str = "6d1c4bb0-4a8e-4c83-9a53-0f1f7f9b2a11";

/// A prompt with a tool call that writes the file `made`.
const TOOL: &str = "[[tool: echo by-a-tool | tee made]] [[say: done]]";

/// A prompt that the model answers with a usage limit.
const LIMIT: &str = "[[limit: 2030-01-01T10:00:00Z]]";

/// Creates a world with a vendor's program, and the model that it talks to. No test runs `segue`.
fn world_with<H>(install: fn(&mut World, &Model) -> H) -> (World, Model) {
    let (mut world, model) = (World::new("/bin/false"), Model::start());
    install(&mut world, &model);
    (world, model)
}

/// Asserts that the request with `second BETA` also has the first turn, and that there were two
/// requests.
fn assert_carried(model: &Model) -> Exchange {
    let exchange = model.conversation_of("BETA").unwrap();
    assert_eq!(exchange.user_texts(), ["first ALPHA", "second BETA"]);
    let answered = "turns=1 first=<<first ALPHA>> last=<<first ALPHA>>";
    assert_eq!(exchange.assistant_texts(), [answered]);
    let roles: Vec<SpeakerRole> = exchange.turns.iter().map(|part| part.role).collect();
    assert_eq!(roles, [SpeakerRole::User, SpeakerRole::Assistant, SpeakerRole::User]);
    assert_eq!(model.conversations().len(), 2, "{:#?}", model.exchanges());
    exchange
}

/// Asserts that the run succeeded, that the tool ran, and that the second of exactly two requests has
/// the tool call and its result.
fn assert_tool_ran(model: &Model, world: &World, run: &CommandOutcome) {
    assert_eq!(run.status, 0, "{run:#?}");
    assert_eq!(fs::read_to_string(world.project().join("made")).unwrap(), "by-a-tool\n");
    let last = model.conversations().pop().unwrap();
    let roles: Vec<SpeakerRole> = last.turns.iter().map(|part| part.role).collect();
    let expected = [SpeakerRole::User, SpeakerRole::ToolCall, SpeakerRole::ToolResult];
    assert_eq!(roles, expected, "{:#?}", last.turns);
    assert!(last.texts(SpeakerRole::ToolResult)[0].contains("by-a-tool"), "{:#?}", last.turns);
    let newest = last.newest();
    let echo = format!("turns=1 first=<<{newest}>> last=<<{newest}>>");
    assert_eq!(last.answer, [ScriptStep::Say("done".to_owned()), ScriptStep::Say(echo)]);
    assert_eq!(model.conversations().len(), 2);
}
