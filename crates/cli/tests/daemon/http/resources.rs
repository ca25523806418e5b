//! Sessions, transcripts, messages, tasks and worktrees by their ids.

use std::fs;

use segue_testkit::scene::{self, text};
use segue_testkit::{HttpAnswer, NetworkClient, launches};
use serde_json::{Value, json};

use super::{header, world_with};
use crate::world;

/// Returns the path of the next page.
fn next(answer: &HttpAnswer) -> Option<&str> {
    header(answer, "link")?.strip_prefix('<')?.strip_suffix(">; rel=\"next\"")
}

fn names(page: &HttpAnswer) -> Vec<&str> {
    let sessions = page.body["sessions"].as_array().unwrap();
    sessions.iter().map(|it| text(it, "name")).collect()
}

#[test]
fn sessions_are_listed_in_pages_and_by_filters() {
    let (world, client) = world_with(&["ant", "bee", "cat"]);
    let first = client.get("/v1/sessions?limit=2");
    assert_eq!(names(&first), ["ant", "bee"], "{}", first.text);
    let second = client.get(next(&first).unwrap());
    assert_eq!((names(&second), next(&second)), (vec!["cat"], None), "{}", second.text);
    assert!(second.body.get("next").is_none(), "{}", second.text);

    let bee = world.session("bee");
    let vendor_id = text(&bee, "vendor_session_id");
    assert_eq!(names(&client.get(&format!("/v1/sessions?vendor_id={vendor_id}"))), ["bee"]);
    assert_eq!(names(&client.get("/v1/sessions?vendor_id=none")), [""; 0]);
    world.ok(["stop", "cat"]);
    assert_eq!(names(&client.get("/v1/sessions?status=ended")), ["cat"]);
    assert_eq!(names(&client.get("/v1/sessions?status=idle&limit=1")), ["ant"]);
    assert_eq!(names(&client.get("/v1/sessions?fleet=default&status=idle")), ["ant", "bee"]);
    assert_eq!(names(&client.get("/v1/sessions?fleet=other")), [""; 0]);
    let shown = client.get(&format!("/v1/sessions/{}", text(&bee, "id")));
    assert_eq!(shown.body["address"], "default/bee", "{}", shown.text);
}

#[test]
fn unchanged_answer_is_not_sent_again() {
    let (world, client) = world_with(&["fox"]);
    world.ok(["stop", "fox"]);
    let first = client.get("/v1/sessions");
    let tag = header(&first, "etag").unwrap();
    let again = client.ask("GET", "/v1/sessions", None, &[("if-none-match", tag)]);
    assert_eq!((again.status, header(&again, "etag")), (304, Some(tag)), "{}", again.text);
    assert!(again.text.ends_with("\r\n\r\n"), "{}", again.text);
    world.ok(["rm", "fox", "--yes"]);
    let changed = client.ask("GET", "/v1/sessions", None, &[("if-none-match", tag)]);
    assert_eq!(changed.status, 200, "{}", changed.text);
}

#[test]
fn transcript_is_read_in_pages_from_its_end() {
    let (world, client) = world_with(&["fox"]);
    world.ok(["send", "fox", "remember the word amber"]);
    world.ok(["wait", "fox"]);
    let id = world.session("fox")["id"].as_str().unwrap().to_owned();
    let whole = client.get(&format!("/v1/sessions/{id}/transcript"));
    let whole = whole.body["turns"].as_array().unwrap().clone();
    assert!(whole.len() >= 4, "{whole:?}");
    let mut path = format!("/v1/sessions/{id}/transcript?limit=1");
    let mut read: Vec<Value> = Vec::new();
    loop {
        let page = client.get(&path);
        read.splice(0..0, page.body["turns"].as_array().unwrap().clone());
        match next(&page) {
            Some(next) => path = next.to_owned(),
            None => break,
        }
    }
    assert_eq!(read, whole);
    let wrong = client.get(&format!("/v1/sessions/{id}/transcript?before=1.1"));
    assert_eq!((wrong.status, &wrong.body["kind"]), (409, &json!("conflict")), "{}", wrong.text);
}

#[test]
fn story_continues_with_the_conversation_before_the_handoff_and_repeats_no_turn() {
    let (world, client) = world_with(&["fox"]);
    world.ok(["send", "fox", "--wait", "remember the word amber"]);
    for mode in ["native", "digest"] {
        let name = format!("fox-{mode}");
        world.ok(["handoff", "fox", "--to", "demo", "--mode", mode, "--name", &name]);
        world.ok(["send", &name, "--wait", "what is the word?"]);
        let pages = story(&client, world.session(&name)["id"].as_str().unwrap(), "");
        let parts: Vec<&Value> = pages.iter().map(|page| &page["part"]).collect();
        let said: Vec<&str> = pages.iter().flat_map(|page| user_turns(page)).collect();
        assert_eq!(parts.len(), 2, "{parts:?}");
        assert_eq!((&parts[0]["address"], &parts[0]["number"]), (&json!("default/fox"), &json!(0)));
        assert_eq!(parts[0]["taken_over"], Value::Null);
        assert_eq!(parts[1]["address"], format!("default/{name}"));
        assert_eq!(parts[1]["taken_over"]["mode"], mode);
        assert_eq!(said, ["hello", "remember the word amber", "what is the word?"], "{mode}");
    }
    // A session that was handed over shows its own conversation only.
    let id = world.session("fox")["id"].as_str().unwrap().to_owned();
    let pages = story(&client, &id, "");
    assert_eq!(pages.len(), 1, "{pages:?}");
    assert_eq!(user_turns(&pages[0]), ["hello", "remember the word amber"]);
    let wrong = client.get(&format!("/v1/sessions/{id}/transcript?story=true&before=7"));
    assert_eq!(wrong.status, 409, "{}", wrong.text);
}

#[test]
fn story_in_small_pages_has_the_same_turns() {
    let (world, client) = world_with(&["fox"]);
    world.ok(["send", "fox", "--wait", "remember the word amber"]);
    world.ok(["handoff", "fox", "--to", "demo"]);
    world.ok(["send", "fox-demo", "--wait", "what is the word?"]);
    let id = world.session("fox-demo")["id"].as_str().unwrap().to_owned();
    let turns = |limit: &str| -> Vec<Value> {
        let pages = story(&client, &id, limit);
        pages.iter().flat_map(|page| page["turns"].as_array().unwrap().clone()).collect()
    };
    assert_eq!(turns("&limit=1"), turns(""));
}

#[test]
fn earlier_conversation_without_a_transcript_is_named_in_the_story() {
    let (world, client) = world_with(&["fox"]);
    world.ok(["handoff", "fox", "--to", "demo"]);
    world.ok(["send", "fox-demo", "--wait", "remember the word amber"]);
    let fox = world.session("fox");
    fs::remove_file(scene::transcript(&world, &fox)).unwrap();
    launches::remove_copies(&world, &fox);
    let pages = story(&client, world.session("fox-demo")["id"].as_str().unwrap(), "");
    let reason = pages[0]["part"]["unreadable"].as_str().unwrap();
    assert_eq!(reason, "the conversation of `default/fox` has no transcript");
    // The turns that were carried over are shown in their place.
    assert_eq!(user_turns(&pages[1]), ["hello", "remember the word amber"]);
}

/// Reads all pages of a story. Returns them from the oldest to the newest.
fn story(client: &NetworkClient, id: &str, query: &str) -> Vec<Value> {
    let mut path = format!("/v1/sessions/{id}/transcript?story=true{query}");
    let mut pages = Vec::new();
    loop {
        let page = client.get(&path);
        assert_eq!(page.status, 200, "{}", page.text);
        pages.insert(0, page.body.clone());
        match next(&page) {
            Some(next) => path = next.to_owned(),
            None => return pages,
        }
    }
}

fn user_turns(page: &Value) -> Vec<&str> {
    let turns = page["turns"].as_array().unwrap().iter();
    turns.filter(|it| it["role"] == "user").map(|it| it["text"].as_str().unwrap()).collect()
}

#[test]
fn message_with_the_same_idempotency_key_is_sent_once() {
    let (world, client) = world_with(&["fox"]);
    let id = world.session("fox")["id"].as_str().unwrap().to_owned();
    let path = format!("/v1/sessions/{id}/messages");
    let send = |key: &str, text: &str| {
        let body = json!({ "text": text, "until": "turn_ended", "timeout_ms": 60_000 });
        client.ask("POST", &path, Some(&body), &[("Idempotency-Key", key)])
    };
    let first = send("order 17", "remember the word amber");
    assert_eq!(first.status, 200, "{}", first.text);
    let again = send("order 17", "remember the word amber");
    assert_eq!(again.body["message"]["id"], first.body["message"]["id"], "{}", again.text);
    assert_eq!(send("order 17", "remember the word birch").status, 409);
    assert_eq!(send(&"x".repeat(201), "remember the word birch").status, 400);
    assert_eq!(send("order 18", "remember the word birch").status, 200);
    let page = client.get(&format!("{path}?limit=1"));
    assert_eq!(page.body["messages"][0]["text"], "remember the word amber", "{}", page.text);
    let page = client.get(next(&page).unwrap());
    assert_eq!(page.body["messages"][0]["text"], "remember the word birch", "{}", page.text);
    assert_eq!(next(&page), None);
}

#[test]
fn task_is_added_listed_cancelled_and_retried() {
    let world = world();
    scene::write_shop(&world, "");
    let client = NetworkClient::listen(&world);
    let client = client.with_scopes(&world, "program", &["read", "work"]);
    let folder = world.project();
    let add = |prompt: &str, issue: Value| {
        let caller = json!({ "cwd": folder });
        let body = json!({
            "caller": caller, "prompt": prompt, "agent": "coder", "issue": issue,
        });
        client.post("/v1/tasks", &body)
    };
    let first = add("remember the word amber", json!(null));
    assert_eq!(first.status, 200, "{}", first.text);
    let id = text(&first.body["task"], "id").to_owned();
    world.ok(["task", "wait", &id]);
    let shown = client.get(&format!("/v1/tasks/{id}"));
    assert_eq!(shown.body["task"]["state"], "done", "{}", shown.text);
    assert_eq!(add("remember the word birch", json!("17")).status, 200);
    let page = client.get("/v1/tasks?limit=1");
    assert_eq!(page.body["tasks"][0]["id"], id.as_str(), "{}", page.text);
    let page = client.get(next(&page).unwrap());
    let second = text(&page.body["tasks"][0], "id").to_owned();
    assert_eq!(next(&page), None);
    world.ok(["task", "wait", &second]);

    let of_issue = client.get("/v1/tasks?issue=17");
    assert_eq!(of_issue.body["tasks"].as_array().unwrap().len(), 1, "{}", of_issue.text);
    let sessions = client.get("/v1/sessions?issue=17");
    let session = &of_issue.body["tasks"][0]["session"];
    assert_eq!(&sessions.body["sessions"][0]["id"], session, "{}", sessions.text);
    assert_eq!(names(&client.get("/v1/sessions?issue=18")), [""; 0]);
    assert_eq!(names(&client.get("/v1/sessions?issue=17&repository=elsewhere")), [""; 0]);
    let done = client.get("/v1/tasks?state=done&agent=coder");
    assert_eq!(done.body["tasks"].as_array().unwrap().len(), 2, "{}", done.text);

    let cancelled = client.post(&format!("/v1/tasks/{id}/cancel"), &json!({}));
    assert_eq!(cancelled.status, 409, "{}", cancelled.text);
    let retried = client.post(&format!("/v1/tasks/{id}/retry"), &json!({}));
    assert_eq!(retried.status, 200, "{}", retried.text);
    world.ok(["task", "wait", &id]);
    assert_eq!(client.get(&format!("/v1/tasks/{id}")).body["task"]["attempts"], 2);
    let usage = client.get("/v1/usage?by=vendor");
    assert!(usage.body["total"].is_object(), "{}", usage.text);
}

#[test]
fn request_from_a_network_cannot_bring_an_environment_for_git() {
    let (_world, client) = world_with(&[]);
    let body = json!({
        "cwd": "/", "name": "x", "base": null, "only_stat": true,
        "environment": { "GIT_EXTERNAL_DIFF": "touch /tmp/x" },
    });
    let answer = client.post("/v1/worktrees/diff", &body);
    assert_eq!(
        (answer.status, &answer.body["kind"]),
        (403, &json!("forbidden")),
        "{}",
        answer.text
    );
    let list = client.get("/v1/worktrees");
    assert_eq!(list.body, json!({ "worktrees": [] }), "{}", list.text);
}

#[test]
fn sessions_that_need_a_person_are_listed_with_their_questions() {
    let (world, client) = world_with(&["ant", "bee", "cat"]);
    for (name, command) in [("bee", "/question"), ("ant", "/ask")] {
        world.ok(["send", name, command]);
        world.wait_session(name, |it| it["status"] == "waiting").unwrap();
    }
    let list = client.get("/v1/attention").body;
    let sessions = list["sessions"].as_array().unwrap();
    let shown: Vec<(&str, &str)> =
        sessions.iter().map(|it| (text(it, "reason"), text(&it["session"], "name"))).collect();
    assert_eq!(shown, [("permission", "ant"), ("question", "bee")], "{list}");
    let choices = &sessions[0]["session"]["dialog"]["choices"];
    assert!(choices.as_array().is_some_and(|it| it.len() > 1), "{list}");
}

#[test]
fn failed_turn_that_a_person_has_to_cure_is_listed_until_the_session_goes_on() {
    let (world, client) = world_with(&["ant"]);
    let listed = || client.get("/v1/attention").body["sessions"].as_array().unwrap().clone();
    assert_eq!(listed(), Vec::<Value>::new());
    assert_eq!(world.session("ant")["last_failure"], Value::Null);
    world.ok(["send", "ant", "/limit 2100-01-01T00:00:00Z"]);
    let failed = world.wait_session("ant", |it| it["last_failure"].is_object()).unwrap();
    assert_eq!(failed["last_failure"]["class"], "usage_limit", "{failed:#}");
    assert_eq!(failed["last_failure"]["resets_at"], "2100-01-01T00:00:00Z");
    assert_eq!(failed["status_detail"], "the turn failed: usage limit");
    let list = listed();
    assert_eq!(list.len(), 1, "{list:#?}");
    assert_eq!(list[0]["reason"], "usage_limit", "{list:#?}");
    assert_eq!(list[0]["command"], "segue handoff default/ant --to VENDOR");
    assert!(text(&list[0], "advice").contains("another vendor"), "{list:#?}");
    assert_eq!(list[0]["since"], failed["updated_at"]);
    // The next daemon finds it again.
    scene::kill_daemon(&world);
    world.wait_session("ant", |it| it["last_failure"]["class"] == "usage_limit").unwrap();
    assert_eq!(listed().len(), 1);
    world.ok(["send", "ant", "--wait", "hello again"]);
    assert_eq!(world.session("ant")["last_failure"], Value::Null);
    assert_eq!(listed(), Vec::<Value>::new());
}

#[test]
fn token_loosens_no_permission_of_a_session() {
    let world = world();
    scene::start_with_word(&world, "fox", "amber");
    let network = NetworkClient::listen(&world);
    let client = network.with_scopes(&world, "program", &["read", "work"]);
    let set = |client: &NetworkClient, permission: &str| {
        let body = json!({"cwd": "/", "session": "default/fox", "permission": permission});
        client.post("/v1/settings", &body)
    };
    for loose in ["accept-edits", "auto"] {
        let refused = set(&client, loose);
        assert_eq!(refused.status, 403, "{}", refused.text);
        assert!(refused.text.contains("the scope `admin`"), "{}", refused.text);
    }
    assert_eq!(world.session("fox")["permission"], "ask");
    assert_eq!(set(&client, "ask").status, 200);
    // A message without an environment starts the agent again in that of the agent.
    let admin = network.with_scopes(&world, "admin", &["admin"]);
    assert_eq!(set(&admin, "auto").status, 200);
    let id = text(&world.session("fox"), "id").to_owned();
    let body = json!({"text": "what is the word?", "until": "turn_ended", "timeout_ms": 170_000});
    let answer = admin.post(&format!("/v1/sessions/{id}/messages"), &body);
    assert_eq!(answer.body["answer"], "The word is amber.", "{}", answer.text);
    assert_eq!(world.session("fox")["launches"], 2);
    let reader = network.with_scopes(&world, "reader", &["read"]);
    assert_eq!(set(&reader, "ask").status, 403);
    let options = reader.get("/v1/session/options?address=default/fox&cwd=/");
    assert_eq!(options.body["permissions"], json!(["ask", "accept-edits", "auto"]));
    assert_eq!(options.body["commands"][0]["name"], "ask", "{}", options.text);
}

#[test]
fn task_with_a_higher_priority_starts_first() {
    let world = world();
    scene::write_shop(&world, "");
    let client = NetworkClient::listen(&world);
    let client = client.with_scopes(&world, "program", &["read", "work"]);
    let add = |prompt: &str| {
        let caller = json!({"cwd": world.project()});
        let body = json!({"caller": caller, "prompt": prompt, "agent": "coder"});
        let added = client.post("/v1/tasks", &body);
        assert_eq!(added.status, 200, "{}", added.text);
        text(&added.body["task"], "id").to_owned()
    };
    let running = add("/hang");
    let (first, second) = (add("hello"), add("hello"));
    let move_to = |id: &str, level: i32| {
        client.post(&format!("/v1/tasks/{id}/priority"), &json!({ "priority": level }))
    };
    let moved = move_to(&second, 5);
    assert_eq!((moved.status, &moved.body["task"]["priority"]), (200, &json!(5)), "{}", moved.text);
    assert_eq!(move_to(&second, 10).status, 400);
    let events = world.ok(["log", "--json"]);
    assert!(events.contains("priority 5"), "{events}");
    let cancelled = client.post(&format!("/v1/tasks/{running}/cancel"), &json!({}));
    assert_eq!(cancelled.status, 200, "{}", cancelled.text);
    for id in [&second, &first] {
        world.ok(["task", "wait", id]);
    }
    let started = |id: &str| {
        let task = client.get(&format!("/v1/tasks/{id}")).body;
        text(&task["task"], "started_at").to_owned()
    };
    assert!(started(&second) < started(&first));
    assert_eq!(move_to(&second, 1).status, 409, "it is done");
}

#[test]
fn findings_and_sources_are_read_over_http() {
    let (world, client) = world_with(&[]);
    assert_eq!(client.get("/v1/findings").status, 403);
    let admin = client.with_scopes(&world, "admin", &["admin"]);
    assert!(admin.get("/v1/findings").body["findings"].is_array());
    let empty = json!({"sources": [], "problems": []});
    assert_eq!(client.get("/v1/sources").body, empty);
}

#[test]
fn vendors_are_listed_with_whether_they_are_installed() {
    let (_world, client) = world_with(&[]);
    let vendors = client.get("/v1/vendors");
    let all = vendors.body["vendors"].as_array().unwrap();
    let installed =
        |name: &str| all.iter().find(|it| it["name"] == name).unwrap()["installed"].clone();
    assert_eq!(installed("demo"), true, "{}", vendors.text);
    assert_eq!(installed("claude"), false, "{}", vendors.text);
}
