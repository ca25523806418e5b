use segue_core::model::Tool;

use super::*;

fn style() -> TurnStyle {
    TurnStyle { colour: Colour::Off, clock: DisplayClock::utc(), columns: None, full: false }
}

fn numbered(index: u64, turn: Turn) -> Numbered {
    let at = Timestamp::from_second(1_767_323_472).unwrap();
    Numbered { index: Some(index), turn: turn.at(Some(at)) }
}

fn tool(role: Role, text: &str, failed: bool) -> Numbered {
    let tool = Tool { id: "call-1".into(), name: "shell".into(), failed };
    numbered(3, Turn::new(role, text).with_tool(tool))
}

#[test]
fn turn_is_shown_as_a_heading_and_indented_text() {
    let mut turn = numbered(1, Turn::new(Role::Assistant, "\nTwo\n\n```rust\nfn x() {}\n```\n"));
    turn.turn.model = Some("model-5".to_owned());
    let expected = "1  assistant  2026-01-02 03:11:12Z  model-5\n    Two\n\n    ```rust\n    fn x() {}\n    ```\n\n";
    assert_eq!(block(&turn, &style()), expected);
    let bare = Numbered { index: None, turn: Turn::new(Role::User, "") };
    assert_eq!(block(&bare, &style()), "user\n\n");
    let summary = Numbered { index: None, turn: Turn::new(Role::Summary, "short") };
    assert_eq!(block(&summary, &style()), "summary of what was said before\n    short\n\n");
}

#[test]
fn text_is_wrapped_to_the_terminal() {
    let turn = Numbered { index: None, turn: Turn::new(Role::User, "one two three four") };
    let style = TurnStyle { columns: Some(14), ..style() };
    assert_eq!(block(&turn, &style), "user\n    one two\n    three four\n\n");
}

#[test]
fn control_characters_are_removed_from_all_parts_of_a_turn() {
    let hostile = "\u{1b}[2Jx\u{1b}]0;t\u{7}\u{202e}";
    let tool = Tool { id: hostile.into(), name: hostile.into(), failed: true };
    let mut turn = numbered(1, Turn::new(Role::ToolCall, hostile).with_tool(tool));
    turn.turn.model = Some(hostile.to_owned());
    let arguments = serde_json::json!({ hostile: hostile }).to_string();
    for (role, text) in [
        (Role::ToolCall, hostile),
        (Role::ToolCall, arguments.as_str()),
        (Role::ToolResult, hostile),
        (Role::User, hostile),
        (Role::Summary, hostile),
    ] {
        turn.turn.role = role;
        turn.turn.text = text.to_owned();
        let block = block(&turn, &style());
        let harmful = |c: char| c != '\n' && segue_core::rules::display::is_misleading(c);
        assert!(!block.contains(harmful), "{block:?}");
        assert!(block.contains('x'), "{block:?}");
    }
}

#[test]
fn tool_arguments_are_shown_one_per_line() {
    let call = tool(Role::ToolCall, r#"{"command":"ls\n-l","limit":3}"#, false);
    let expected =
        "3  tool call  shell  2026-01-02 03:11:12Z\n    command: ls\n    -l\n    limit: 3\n\n";
    assert_eq!(block(&call, &style()), expected);
    let torn = tool(Role::ToolCall, r#"{"command":"ls"#, false);
    assert!(block(&torn, &style()).contains("\n    {\"command\":\"ls\n"));
}

#[test]
fn long_tool_result_is_shortened_and_the_hidden_rest_is_counted() {
    let many: String = (1..=40).map(|number| format!("line {number}\n")).collect();
    let result = tool(Role::ToolResult, &many, true);
    let shown = block(&result, &style());
    assert!(shown.starts_with("3  tool result, failed  shell"), "{shown}");
    assert!(
        shown.contains("line 10\n    … 30 more lines, 240 characters; --full shows them\n"),
        "{shown}"
    );
    assert!(!shown.contains("line 11"), "{shown}");
    let full = block(&result, &TurnStyle { full: true, ..style() });
    assert!(full.contains("line 40\n\n") && !full.contains('…'), "{full}");
    let long = block(&tool(Role::ToolResult, &"ä".repeat(5000), false), &style());
    assert!(long.contains("… 4000 more characters; --full shows them"), "{long}");
    let eleven: String = (1..=11).map(|number| format!("{number}\n")).collect();
    assert!(!block(&tool(Role::ToolResult, &eleven, false), &style()).contains('…'));
    assert_eq!(shortened("", SHOWN_OF_CALL), (String::new(), None));
}

#[test]
fn role_is_coloured_and_the_rest_of_the_heading_is_faint() {
    let style = TurnStyle { colour: Colour::On, ..style() };
    let shown = block(&numbered(7, Turn::new(Role::User, "x")), &style);
    assert!(
        shown.starts_with("\u{1b}[2m7\u{1b}[0m  \u{1b}[32muser\u{1b}[0m  \u{1b}[2m2026"),
        "{shown:?}"
    );
}

#[test]
fn json_line_has_every_field_and_null_for_unknown_values() {
    let line = |turn: &Numbered, part| serde_json::to_string(&TurnLine::new(turn, part)).unwrap();
    let bare = Numbered { index: None, turn: Turn::new(Role::User, "hi") };
    assert_eq!(
        line(&bare, None),
        r#"{"index":null,"role":"user","text":"hi","tool":null,"at":null,"model":null,"usage":null,"tool_id":null,"failed":null}"#,
    );
    let mut result = tool(Role::ToolResult, "a b", true);
    result.turn.usage = Some(Usage { input: 1, output: 2, ..Usage::default() });
    assert_eq!(
        line(&result, Some("shop/coder")),
        r#"{"index":3,"role":"tool_result","text":"a b","tool":"shell","at":"2026-01-02T03:11:12Z","model":null,"usage":{"input":1,"cached":0,"output":2,"cost_usd":null},"tool_id":"call-1","failed":true,"conversation":"shop/coder"}"#,
    );
}

#[test]
fn divider_shows_session_vendor_and_handoff() {
    let at = Timestamp::from_second(1_767_323_472).unwrap();
    assert_eq!(divider("v", "shop/a", None, &style()), "── shop/a (v) ──\n\n");
    assert_eq!(
        divider("w", "shop/b", Some(("digest", at)), &style()),
        "── shop/b (w), handed over (digest) 2026-01-02 03:11:12Z ──\n\n",
    );
}
