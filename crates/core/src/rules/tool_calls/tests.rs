use serde_json::json;

use super::*;

#[test]
fn action_and_title_follow_from_the_name_and_the_arguments() {
    let table = [
        ("Bash", json!({"command": "cargo  test\n"}), ToolAction::Execute, "Bash cargo test"),
        ("shell", json!({"command": ["ls"]}), ToolAction::Execute, "shell"),
        ("Read", json!({"file_path": "/a/b.rs"}), ToolAction::Read, "Read /a/b.rs"),
        ("view", json!({"path": "b.rs"}), ToolAction::Read, "view b.rs"),
        ("Grep", json!({"pattern": "fn x"}), ToolAction::Search, "Grep fn x"),
        ("WebFetch", json!({"url": "https://a"}), ToolAction::Fetch, "WebFetch https://a"),
        ("remove_file", json!({"path": "a"}), ToolAction::Delete, "remove_file a"),
        ("ponder", json!({}), ToolAction::Other, "ponder"),
        ("ponder", json!({"command": "ls"}), ToolAction::Execute, "ponder ls"),
        ("", json!(3), ToolAction::Other, "tool"),
    ];
    for (name, arguments, action, title) in table {
        let found = describe(name, &arguments.to_string());
        assert_eq!((found.action, found.title.as_str()), (action, title), "{name}");
        assert_eq!((found.edits, found.plan), (Vec::new(), None), "{name}");
    }
}

#[test]
fn edits_are_found_in_every_shape_of_arguments() {
    let replaced = vec![edit("a.rs", Some("x"), "y")];
    for arguments in [
        json!({"file_path": "a.rs", "old_string": "x", "new_string": "y"}),
        json!({"filePath": "a.rs", "oldString": "x", "newString": "y"}),
        json!({"path": "a.rs", "old_str": "x", "new_str": "y"}),
        json!({"path": "a.rs", "edits": [{"oldText": "x", "newText": "y"}]}),
    ] {
        let found = describe("edit", &arguments.to_string());
        assert_eq!((found.action, &found.edits), (ToolAction::Edit, &replaced), "{arguments}");
        assert_eq!(found.path.as_deref(), Some("a.rs"));
    }
    let written = describe("write", &json!({"path": "a.rs", "content": "z"}).to_string());
    assert_eq!(written.edits, [edit("a.rs", None, "z")]);
    let pathless = describe("note", &json!({"content": "z"}).to_string());
    assert_eq!((pathless.edits, pathless.action), (Vec::new(), ToolAction::Other));
}

#[test]
fn patch_is_read_as_text_and_as_an_argument() {
    let patch = "*** Begin Patch\n*** Update File: a.rs\n@@ fn a\n keep\n-old\n+new\n@@\n-x\n+y\n\
        *** Delete File: gone.rs\n*** Add File: b.rs\n+one\n+two\n*** End Patch\n";
    let expected = [
        edit("a.rs", Some("keep\nold\n"), "keep\nnew\n"),
        edit("a.rs", Some("x\n"), "y\n"),
        edit("b.rs", None, "one\ntwo\n"),
    ];
    for arguments in [patch.to_owned(), json!({ "input": patch }).to_string()] {
        let found = describe("apply_patch", &arguments);
        assert_eq!(found.edits, expected, "{arguments}");
        assert_eq!((found.action, found.path.as_deref()), (ToolAction::Edit, Some("a.rs")));
    }
    assert_eq!(describe("apply_patch", "*** Begin Patch").edits, []);
}

#[test]
fn plan_needs_a_tool_of_that_name_and_a_text_in_each_step() {
    let steps = json!([{"content": "a", "status": "completed"}, {"content": "b"}]);
    let expected = [("a", StepState::Completed), ("b", StepState::Pending)];
    let expected = expected.map(|(text, state)| PlanStep { text: text.to_owned(), state });
    let todos = json!({ "todos": steps }).to_string();
    assert_eq!(describe("TodoWrite", &todos).plan.unwrap(), expected);
    assert_eq!(describe("note", &todos).plan, None);
    let plan = json!({"plan": [{"step": "a", "status": "in_progress"}]}).to_string();
    let found = describe("update_plan", &plan).plan.unwrap();
    assert_eq!(found, [PlanStep { text: "a".to_owned(), state: StepState::InProgress }]);
    assert_eq!(describe("update_plan", &json!({"plan": [{"x": 1}]}).to_string()).plan, None);
    assert_eq!(describe("update_plan", "no json").plan, None);
}

#[test]
fn long_title_is_cut_at_a_character() {
    let long = "ä".repeat(500);
    let found = describe("Bash", &json!({ "command": long }).to_string());
    assert_eq!(found.title.chars().count(), MAX_TITLE_CHARS + 1);
}
