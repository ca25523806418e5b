use super::*;

fn engine(permission: Permission, asks_by: AsksBy) -> Engine {
    Engine::new(Memory::default(), permission, asks_by)
}

fn interactive() -> Engine {
    engine(Permission::Ask, AsksBy::Terminal)
}

fn send(engine: &mut Engine, text: &str) -> Vec<DemoEffect> {
    engine.handle(DemoEvent::Message(text.to_owned()))
}

fn record(author: LineAuthor, text: &str) -> DemoEffect {
    DemoEffect::Record(author, text.to_owned())
}

fn status(status: LiveStatus) -> DemoEffect {
    DemoEffect::Status(status)
}

fn finished(ok: bool, text: &str) -> [DemoEffect; 4] {
    [
        record(LineAuthor::Assistant, text),
        DemoEffect::EndTurn,
        DemoEffect::Finished { ok, text: text.to_owned() },
        status(LiveStatus::Idle),
    ]
}

fn answered(text: &str, answer: &str) -> Vec<DemoEffect> {
    let mut effects = vec![record(LineAuthor::User, text), status(LiveStatus::Working)];
    effects.extend(finished(true, answer));
    effects
}

#[test]
fn message_is_recorded_before_its_answer_and_the_turn_ends() {
    let mut engine = interactive();
    let effects = send(&mut engine, "remember the word fox");
    assert_eq!(effects, answered("remember the word fox", "I will remember fox."));
    let effects = send(&mut engine, "what is the word?");
    assert_eq!(effects, answered("what is the word?", "The word is fox."));
}

#[test]
fn prompt_is_the_first_message_and_an_agent_without_a_prompt_is_idle() {
    let begin = |prompt: Option<&str>| {
        let prompt = prompt.map(str::to_owned);
        interactive().handle(DemoEvent::Begin { is_trusted: true, prompt })
    };
    assert_eq!(begin(None), [status(LiveStatus::Idle)]);
    assert_eq!(begin(Some("hi")), answered("hi", "This conversation has 1 message from you."));
}

#[test]
fn prompt_waits_until_the_folder_is_trusted() {
    let begin = DemoEvent::Begin { is_trusted: false, prompt: Some("hi".into()) };
    let mut engine = interactive();
    assert_eq!(engine.handle(begin.clone()), [status(LiveStatus::WaitingTrust)]);
    let mut wanted = vec![DemoEffect::Trust];
    wanted.extend(answered("hi", "This conversation has 1 message from you."));
    assert_eq!(engine.handle(DemoEvent::Choice(Some(0))), wanted);
    for refusal in [Some(1), None] {
        let mut engine = interactive();
        engine.handle(begin.clone());
        assert_eq!(engine.handle(DemoEvent::Choice(refusal)), [DemoEffect::Exit(1)]);
    }
}

#[test]
fn permission_is_requested_unless_it_is_auto_or_no_person_can_answer() {
    let edit = record(LineAuthor::ToolCall, "edit notes.txt");
    for permission in [Permission::Ask, Permission::AcceptEdits] {
        let mut engine = engine(permission, AsksBy::Terminal);
        let effects = send(&mut engine, "/ask");
        assert_eq!(effects[2..], [edit.clone(), status(LiveStatus::WaitingPermission)]);
        assert_eq!(engine.dialog().unwrap().choices, ["yes", "no"]);
        let answer = engine.handle(DemoEvent::Choice(Some(1)));
        assert_eq!(answer[1], record(LineAuthor::ToolResult, "denied"));
        assert_eq!(answer[2..], finished(true, "I left notes.txt as it was."));
    }
    let effects = send(&mut engine(Permission::Auto, AsksBy::Terminal), "/ask");
    assert_eq!(effects[3], record(LineAuthor::ToolResult, "allowed without asking"));
    let effects = send(&mut engine(Permission::Ask, AsksBy::Nothing), "/ask");
    assert_eq!(effects[3], record(LineAuthor::ToolResult, "denied: there is no person to ask"));
}

#[test]
fn headless_agent_asks_by_a_command_and_acts_only_after_a_yes() {
    let table = [(Some(0), "allowed"), (Some(1), "denied"), (None, "denied")];
    for (choice, expected) in table {
        let mut engine = engine(Permission::Ask, AsksBy::Command);
        let effects = send(&mut engine, "/ask");
        let dialog = DemoDialog { question: "Allow?", choices: &["yes", "no"] };
        assert_eq!(effects[3..], [DemoEffect::Ask(dialog)]);
        assert!(!engine.is_resting());
        let answer = engine.handle(DemoEvent::Choice(choice));
        assert_eq!(answer[1], record(LineAuthor::ToolResult, expected), "{choice:?}");
    }
}

#[test]
fn question_is_answered_with_a_choice_or_dismissed() {
    let mut engine = interactive();
    send(&mut engine, "/question");
    let effects = engine.handle(DemoEvent::Choice(Some(2)));
    assert_eq!(effects[2..], finished(true, "You chose blue."));
    send(&mut engine, "/question");
    let effects = engine.handle(DemoEvent::Interrupt);
    assert_eq!(effects[2..], finished(true, "You chose no colour."));
}

#[test]
fn slow_answer_is_recorded_only_when_it_is_complete() {
    let mut engine = interactive();
    let begun = send(&mut engine, "/slow 10");
    assert_eq!(begun[2..], [DemoEffect::Wake(Duration::from_secs(1))]);
    for words in 1..10 {
        let effects = engine.handle(DemoEvent::Tick);
        let [DemoEffect::Streamed(author), DemoEffect::Wake(_)] = &effects[..] else {
            panic!("{effects:?}")
        };
        assert_eq!(author.split(' ').count(), words);
    }
    let whole = "Slowly but surely: This conversation has 1 message from you.";
    assert_eq!(engine.handle(DemoEvent::Tick), finished(true, whole));
    assert_eq!(engine.handle(DemoEvent::Tick), []);
}

#[test]
fn hanging_turn_queues_messages_until_it_is_interrupted() {
    let mut engine = interactive();
    assert_eq!(send(&mut engine, "/hang").len(), 2);
    assert_eq!(send(&mut engine, "hello?"), []);
    assert_eq!(engine.handle(DemoEvent::Tick), []);
    let effects = engine.handle(DemoEvent::Interrupt);
    assert_eq!(effects[0], record(LineAuthor::Assistant, "[interrupted]"));
    let later = answered("hello?", "This conversation has 2 messages from you.");
    assert_eq!(effects[3..], later);
}

#[test]
fn a_crash_leaves_the_turn_open() {
    for (text, status) in [("/crash", None), ("/crash 3", Some(3))] {
        let effects = send(&mut interactive(), text);
        assert_eq!(effects[0], record(LineAuthor::User, text));
        assert_eq!(effects[2..], [DemoEffect::Crash(status)]);
    }
}

#[test]
fn agent_waits_for_a_tool_unless_the_tool_has_its_own_process_session() {
    let mut engine = interactive();
    let duration = Duration::from_millis(1500);
    let effects = send(&mut engine, "/tool 1.5");
    let start = |placement| DemoEffect::StartTool { duration, placement };
    let call = record(LineAuthor::ToolCall, "sleep 1.5");
    assert_eq!(effects[2..], [call.clone(), start(Placement::Foreground)]);
    assert_eq!(engine.handle(DemoEvent::ToolStarted(7)), []);
    let effects = engine.handle(DemoEvent::ToolEnded);
    assert_eq!(effects[0], record(LineAuthor::ToolResult, "done"));

    let effects = send(&mut engine, "/daemonize 1.5");
    assert_eq!(effects[2..], [call, start(Placement::OwnSession)]);
    let effects = engine.handle(DemoEvent::ToolStarted(7));
    assert_eq!(effects[0], record(LineAuthor::ToolResult, "runs on its own as process 7"));
    assert!(engine.is_resting());
}

#[test]
fn an_interrupted_tool_is_stopped() {
    let mut engine = interactive();
    send(&mut engine, "/tool 60");
    let effects = engine.handle(DemoEvent::Interrupt);
    assert_eq!(effects[0], DemoEffect::StopTool);
    assert_eq!(engine.handle(DemoEvent::ToolEnded), []);
}

#[test]
fn next_turn_reads_the_file_that_an_interrupted_turn_left_unread() {
    let mut memory = Memory::default();
    memory.record_message("Read the file /p and do what it says.");
    let mut engine = Engine::new(memory, Permission::Ask, AsksBy::Terminal);
    let effects = send(&mut engine, "go on");
    assert_eq!(
        effects[2..],
        [record(LineAuthor::ToolCall, "read /p"), DemoEffect::Read("/p".into())]
    );
    engine.handle(DemoEvent::FileRead(Ok("remember the word fox".into())));
    let effects = send(&mut engine, "what is the word?");
    assert_eq!(effects, answered("what is the word?", "The word is fox."));
}

#[test]
fn message_that_names_a_file_is_answered_from_its_content() {
    let mut engine = interactive();
    let message = "Read the file /p and do what it says.";
    let effects = send(&mut engine, message);
    assert_eq!(
        effects[2..],
        [record(LineAuthor::ToolCall, "read /p"), DemoEffect::Read("/p".into())]
    );
    let text = "long … remember the word fox".to_owned();
    let effects = engine.handle(DemoEvent::FileRead(Ok(text.clone())));
    assert_eq!(effects[0], record(LineAuthor::ToolResult, &text));
    assert_eq!(effects[1..], finished(true, "I will remember fox."));
    send(&mut engine, message);
    let effects = engine.handle(DemoEvent::FileRead(Err("gone".into())));
    assert_eq!(effects[1..], finished(false, "I could not read the file."));
}

#[test]
fn clear_resets_the_memory_and_fork_keeps_it() {
    let mut engine = interactive();
    send(&mut engine, "remember the word fox");
    assert_eq!(send(&mut engine, "/fork")[0], DemoEffect::Fork);
    let forked = send(&mut engine, "which word?");
    assert_eq!(forked, answered("which word?", "The word is fox."));
    assert_eq!(send(&mut engine, "/clear")[0], DemoEffect::Clear);
    let cleared = send(&mut engine, "which word?");
    assert_eq!(cleared, answered("which word?", "I was told no word in this conversation."));
}

#[test]
fn local_commands_are_not_recorded_in_the_conversation() {
    let locals = ["/help", "/fill 3", "/alt", "/mouse", "/title x", "/bell", "/stray", "/exit"];
    for text in locals.into_iter().chain(["/slow x", "  "]) {
        let effects = send(&mut interactive(), text);
        let recorded = effects.iter().any(|effect| matches!(effect, DemoEffect::Record(..)));
        assert!(!recorded, "{text}: {effects:?}");
    }
    assert_eq!(send(&mut interactive(), "/exit"), [DemoEffect::Exit(0)]);
}

#[test]
fn failed_turn_finishes_with_ok_false() {
    let effects = send(&mut interactive(), "/fail");
    assert_eq!(effects[2..], finished(false, "This turn failed, as it was told to."));
}
