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
fn patch_in_a_program_is_read_with_and_without_escape_sequences() {
    let patch =
        "*** Begin Patch\n*** Update File: a.rs\n@@\n-say(\"x\")\n+say('\\n y\\'')\n*** End Patch";
    let escaped = json!(patch).to_string();
    let apostrophes = format!("'{}'", escaped[1..escaped.len() - 1].replace('\'', "\\'"));
    for literal in [format!("`{patch}`"), escaped, apostrophes] {
        let program = format!("text(await tools.apply_patch({literal}));\ntext(\"done\");\n");
        let found = describe("exec", &json!({ "input": program }).to_string());
        let expected = [edit("a.rs", Some("say(\"x\")\n"), "say('\\n y\\'')\n")];
        assert_eq!((found.action, found.edits), (ToolAction::Edit, expected.to_vec()), "{program}");
    }
}

fn steps(expected: &[(&str, StepState)]) -> Vec<PlanStep> {
    expected.iter().map(|&(text, state)| PlanStep { text: text.to_owned(), state }).collect()
}

#[test]
fn plan_needs_a_tool_of_that_name_and_a_text_in_each_step() {
    let list = json!([
        {"content": "a", "status": "completed"},
        {"content": "b"},
        {"content": "c", "status": "cancelled"},
        {"content": "d", "status": "blocked"},
    ]);
    let expected =
        steps(&[("a", StepState::Completed), ("b", StepState::Pending), ("d", StepState::Pending)]);
    let todos = json!({ "todos": list }).to_string();
    assert_eq!(describe("TodoWrite", &todos).plan, Some(PlanEdit::Replace(expected)));
    assert_eq!(describe("note", &todos).plan, None);
    let one = PlanEdit::Replace(steps(&[("a", StepState::InProgress)]));
    for (name, list, text) in [
        ("update_plan", "plan", "step"),
        ("write_todos", "todos", "description"),
        ("todowrite", "todos", "content"),
    ] {
        let arguments = json!({list: [{text: "a", "status": "in_progress", "priority": "high"}]});
        assert_eq!(describe(name, &arguments.to_string()).plan.as_ref(), Some(&one), "{name}");
    }
    assert_eq!(describe("update_plan", &json!({"plan": [{"x": 1}]}).to_string()).plan, None);
    assert_eq!(describe("update_plan", &json!({"plan": ["x"]}).to_string()).plan, None);
    assert_eq!(describe("update_plan", "no json").plan, None);
}

#[test]
fn steps_are_added_changed_and_removed_by_their_numbers() {
    let create = |subject: &str| ("TaskCreate", json!({"subject": subject, "description": "x"}));
    let update = |number: &str, more: &str, value: &str| {
        ("TaskUpdate", json!({"taskId": number, more: value}))
    };
    let (pending, begun, done) = (StepState::Pending, StepState::InProgress, StepState::Completed);
    let mut known = AgentSteps::default();
    let table = [
        (create("a"), "Task #7 created successfully: a", Some(vec![("a", pending)])),
        (create("b"), "Task #8 created", Some(vec![("a", pending), ("b", pending)])),
        (create("c"), "no number", None),
        (update("7", "status", "in_progress"), "ok", Some(vec![("a", begun), ("b", pending)])),
        (update("8", "subject", "B"), "ok", Some(vec![("a", begun), ("B", pending)])),
        (update("7", "status", "completed"), "ok", Some(vec![("a", done), ("B", pending)])),
        (update("9", "status", "completed"), "ok", None),
        (update("7", "status", "deleted"), "ok", Some(vec![("B", pending)])),
        (update("7", "status", "deleted"), "ok", None),
        (("TodoWrite", json!({"todos": [{"content": "z"}]})), "ok", Some(vec![("z", pending)])),
    ];
    for ((name, arguments), result, expected) in table {
        let edit = describe(name, &arguments.to_string()).plan.unwrap();
        let expected = expected.map(|expected| steps(&expected));
        assert_eq!(known.apply(edit, result), expected, "{name} {arguments}");
    }
    for (name, arguments) in [
        ("TaskCreate", json!({"prompt": "x"})),
        ("TaskUpdate", json!({"subject": "x"})),
        ("Task", json!({"subject": "x"})),
    ] {
        assert_eq!(describe(name, &arguments.to_string()).plan, None, "{name}");
    }
}

#[test]
fn long_title_is_cut_at_a_character() {
    let long = "ä".repeat(500);
    let found = describe("Bash", &json!({ "command": long }).to_string());
    assert_eq!(found.title.chars().count(), MAX_TITLE_CHARS + 1);
}
