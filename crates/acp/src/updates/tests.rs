use serde_json::json;

use super::*;

fn writer() -> UpdateWriter {
    UpdateWriter::new(Path::new("/code"), "r".to_owned())
}

fn written(writer: &mut UpdateWriter, turn: Turn) -> Value {
    serde_json::to_value(writer.updates(turn)).unwrap()
}

fn call(id: &str, name: &str, arguments: &Value) -> Turn {
    let tool = Tool { id: id.to_owned(), name: name.to_owned(), failed: false };
    Turn::new(Role::ToolCall, arguments.to_string()).with_tool(tool)
}

fn result(id: &str, text: &str, failed: bool) -> Turn {
    let tool = Tool { id: id.to_owned(), name: String::new(), failed };
    Turn::new(Role::ToolResult, text).with_tool(tool)
}

#[test]
fn own_prompt_is_left_out_once_and_other_messages_are_sent() {
    let mut writer = writer();
    writer.expect("fix  the\ntest ");
    let user = |text: &str| Turn::new(Role::User, text);
    assert_eq!(
        written(&mut writer, user("from a terminal"))[0]["content"]["text"],
        "from a terminal"
    );
    assert_eq!(written(&mut writer, user("\u{200b}fix the test")), json!([]));
    let again = written(&mut writer, user("fix the test"));
    let expected = json!([{
        "sessionUpdate": "user_message_chunk",
        "content": {"type": "text", "text": "fix the test"},
        "messageId": "message-r-2",
    }]);
    assert_eq!(again, expected);
    writer.expect("lost");
    writer.forget("lost");
    assert_eq!(written(&mut writer, user("lost"))[0]["content"]["text"], "lost");
}

#[test]
fn messages_of_the_agent_have_ids_of_their_own_and_empty_ones_are_left_out() {
    let mut writer = writer();
    let said = |text: &str| Turn::new(Role::Assistant, text);
    let (one, two) = (written(&mut writer, said("a")), written(&mut writer, said("a")));
    assert_eq!(one[0]["sessionUpdate"], "agent_message_chunk");
    assert_ne!(one[0]["messageId"], two[0]["messageId"]);
    assert_eq!(written(&mut writer, said(" \n")), json!([]));
    let summary = written(&mut writer, Turn::new(Role::Summary, "so far"));
    assert_eq!(summary[0]["content"]["text"], "so far");
}

#[test]
fn edit_is_a_tool_call_with_a_diff_that_its_result_does_not_replace() {
    let mut writer = writer();
    let arguments = json!({"file_path": "a.rs", "old_string": "x", "new_string": "y"});
    let made = written(&mut writer, call("c1", "Edit", &arguments));
    let expected = json!([{
        "sessionUpdate": "tool_call",
        "toolCallId": "c1",
        "title": "Edit a.rs",
        "kind": "edit",
        "status": "in_progress",
        "content": [{"type": "diff", "path": "/code/a.rs", "oldText": "x", "newText": "y"}],
        "locations": [{"path": "/code/a.rs"}],
        "rawInput": arguments,
    }]);
    assert_eq!(made, expected);
    let done = written(&mut writer, result("c1", "ok", false));
    let expected =
        json!([{"sessionUpdate": "tool_call_update", "toolCallId": "c1", "status": "completed"}]);
    assert_eq!(done, expected);
    written(&mut writer, call("c2", "Edit", &arguments));
    let failed = written(&mut writer, result("c2", "not found", true));
    assert_eq!(failed[0]["status"], "failed");
    assert_eq!(failed[0]["content"][0]["content"]["text"], "not found");
}

#[test]
fn written_file_has_no_old_text() {
    let arguments = json!({"path": "/b.rs", "content": "z"});
    let made = written(&mut writer(), call("c1", "write", &arguments));
    let expected = json!([{"type": "diff", "path": "/b.rs", "newText": "z"}]);
    assert_eq!(made[0]["content"], expected);
}

#[test]
fn plan_replaces_its_tool_call_and_its_result() {
    let mut writer = writer();
    let steps = json!({"todos": [{"content": "a", "status": "completed"}, {"content": "b"}]});
    assert_eq!(written(&mut writer, call("c1", "TodoWrite", &steps)), json!([]));
    let expected = json!([{"sessionUpdate": "plan", "entries": [
        {"content": "a", "priority": "medium", "status": "completed"},
        {"content": "b", "priority": "medium", "status": "pending"},
    ]}]);
    assert_eq!(written(&mut writer, result("c1", "ok", false)), expected);
}

#[test]
fn changed_step_is_a_new_plan_and_a_change_that_fails_is_a_tool_call() {
    let mut writer = writer();
    let created = json!({"subject": "a", "description": "x"});
    let changed = |number: &str| json!({"taskId": number, "status": "completed"});
    let plan = |state: &str| {
        json!([{"sessionUpdate": "plan", "entries": [
            {"content": "a", "priority": "medium", "status": state},
        ]}])
    };
    assert_eq!(written(&mut writer, call("c1", "TaskCreate", &created)), json!([]));
    let made = written(&mut writer, result("c1", "Task #1 created successfully: a", false));
    assert_eq!(made, plan("pending"));
    written(&mut writer, call("c2", "TaskUpdate", &changed("1")));
    assert_eq!(written(&mut writer, result("c2", "ok", false)), plan("completed"));
    for (id, number, failed, status) in
        [("c3", "1", true, "failed"), ("c4", "9", false, "completed")]
    {
        assert_eq!(written(&mut writer, call(id, "TaskUpdate", &changed(number))), json!([]));
        let over = written(&mut writer, result(id, "not so", failed));
        assert_eq!(over[0]["sessionUpdate"], "tool_call");
        assert_eq!((&over[0]["toolCallId"], &over[0]["status"]), (&json!(id), &json!(status)));
        assert_eq!(over[0]["title"], "TaskUpdate");
        assert_eq!(over[0]["content"][0]["content"]["text"], "not so");
    }
}

#[test]
fn calls_without_ids_are_matched_in_their_order() {
    let mut writer = writer();
    let ids: Vec<Value> = ["ls", "pwd"]
        .map(|command| written(&mut writer, call("", "bash", &json!({"command": command}))))
        .map(|made| made[0]["toolCallId"].clone())
        .to_vec();
    assert_ne!(ids[0], ids[1]);
    let done = ["a", "b"].map(|text| written(&mut writer, result("", text, false)));
    let done: Vec<&Value> = done.iter().map(|it| &it[0]["toolCallId"]).collect();
    assert_eq!(done, [&ids[0], &ids[1]]);
}

#[test]
fn result_without_its_call_is_a_call_that_is_over() {
    let made = written(&mut writer(), result("c9", "done", false));
    assert_eq!(made[0]["sessionUpdate"], "tool_call");
    assert_eq!((&made[0]["title"], &made[0]["status"]), (&json!("tool"), &json!("completed")));
}

#[test]
fn second_result_of_a_call_is_left_out() {
    let mut writer = writer();
    let steps = json!({"todos": [{"content": "a"}]});
    for (name, arguments) in [("bash", json!({"command": "ls"})), ("write_todos", steps)] {
        written(&mut writer, call("c1", name, &arguments));
        assert_eq!(written(&mut writer, result("c1", "a", false)).as_array().unwrap().len(), 1);
        assert_eq!(written(&mut writer, result("c1", "a", false)), json!([]));
    }
    // Calls without ids cannot be told apart.
    for _ in 0..2 {
        assert_eq!(written(&mut writer, result("", "a", false)).as_array().unwrap().len(), 1);
    }
}

#[test]
fn long_texts_of_tools_are_cut() {
    let mut writer = writer();
    let long = "ä".repeat(MAX_OUTPUT_BYTES);
    let made = written(&mut writer, call("c1", "bash", &json!({ "command": long })));
    assert_eq!(made[0].get("rawInput"), None);
    let done = written(&mut writer, result("c1", &long, false));
    let text = done[0]["content"][0]["content"]["text"].as_str().unwrap();
    assert!(text.len() < MAX_OUTPUT_BYTES + 10 && text.ends_with("[…]"));
}

#[test]
fn open_calls_are_remembered_up_to_a_limit() {
    let mut writer = writer();
    for number in 0..MAX_OPEN_CALLS + 5 {
        written(&mut writer, call(&format!("c{number}"), "bash", &json!({})));
    }
    assert_eq!(writer.open_calls.len(), MAX_OPEN_CALLS);
}
