//! `segue mcp` with the demo agent: its tools, its end, and restarts of the daemon.

use rustix::process::Signal;
use segue_testkit::events::Events;
use segue_testkit::scene::text;
use segue_testkit::stand_in::StandIn;
use segue_testkit::{ToolClient, processes, scene};
use serde_json::{Value, json};

use crate::scene::agent;
use crate::world;

#[test]
fn server_starts_no_daemon_before_its_first_call() {
    let world = world();
    let mut client = ToolClient::start(&world);
    let tools = client.request("tools/list", &json!({}));
    assert_eq!(tools["result"]["tools"][0]["name"], "agent_list", "{tools}");
    client.request("prompts/list", &json!({}));
    client.request("resources/templates/list", &json!({}));
    assert!(scene::pids_running(&world, "daemon").is_empty());
    assert!(!world.state().exists(), "it has written nothing");
    assert_eq!(client.call("agent_list", &json!({}))["sessions"], json!([]));
    assert_eq!(scene::pids_running(&world, "daemon").len(), 1);
    assert!(client.close().success());
}

#[test]
fn agent_is_started_asked_and_read_with_the_tools() {
    let world = world();
    let mut client = ToolClient::start(&world);
    let prompt = "remember the word amber";
    let arguments = json!({"vendor": "demo", "name": "fox", "prompt": prompt});
    let started = client.call("agent_start", &arguments);
    assert_eq!(started["session"], "default/fox");
    let waited = client.call("agent_wait", &json!({"session": "fox"}));
    assert_eq!((&waited["reached"], &waited["status"]), (&json!(true), &json!("idle")));
    assert_eq!(waited["last_answer"], "> I will remember amber.");
    let question = json!({"session": "fox", "text": "what is the word?", "wait_seconds": 120});
    let sent = client.call("agent_send", &question);
    assert_eq!(
        (&sent["turn_ended"], &sent["answer"]),
        (&json!(true), &json!("> The word is amber."))
    );
    let read = client.call("agent_read", &json!({"session": "fox", "turns": 3}));
    let texts: Vec<&Value> =
        read["turns"].as_array().unwrap().iter().map(|it| &it["text"]).collect();
    assert_eq!(texts, ["> I will remember amber.", "> what is the word?", "> The word is amber."]);
    let earlier = json!({"session": "fox", "turns": 3, "before": read["before"]});
    let earlier = client.call("agent_read", &earlier);
    assert_eq!(earlier["turns"][0]["text"], format!("> {prompt}"));
    assert_eq!(earlier.get("before"), None);
    let uri = format!("segue://session/{}/transcript", started["id"].as_str().unwrap());
    let transcript = client.request("resources/read", &json!({"uri": uri}));
    assert!(transcript.to_string().contains("> The word is amber."), "{transcript}");
    let listed = client.request("resources/list", &json!({}));
    assert_eq!(listed["result"]["resources"][0]["uri"], uri, "{listed}");
    let error = client.try_call("agent_status", &json!({"session": "owl"})).unwrap_err();
    assert!(error.contains("`owl`") && error.contains("hint: "), "{error}");
}

#[test]
fn question_is_seen_and_answered_with_the_tools() {
    let world = agent("alpha");
    let mut client = ToolClient::start(&world);
    client.call("agent_send", &json!({"session": "alpha", "text": "/ask"}));
    let asks = |session: &Value| session["dialog"]["id"].is_string();
    scene::wait_session(&world, "alpha", asks);
    let waited = client.call("agent_wait", &json!({"session": "alpha"}));
    assert_eq!(
        (&waited["status"], &waited["waiting_for"]),
        (&json!("waiting"), &json!("permission"))
    );
    let answer =
        |question: &Value| json!({"session": "alpha", "answer": "yes", "question": question});
    let wrong = client.try_call("agent_answer", &answer(&json!("00000000"))).unwrap_err();
    assert!(wrong.contains("question"), "{wrong}");
    let given = client.call("agent_answer", &answer(&waited["question"]["id"]));
    assert_eq!(given["answered"], true);
    let rest = client.call("agent_wait", &json!({"session": "alpha", "until": "idle"}));
    assert_eq!(rest["status"], "idle");
}

#[test]
fn calls_survive_a_daemon_that_is_killed_between_them_and_during_a_wait() {
    let world = agent("alpha");
    let mut client = ToolClient::start(&world);
    client.call("agent_status", &json!({"session": "alpha"}));
    scene::kill_daemon(&world);
    let sent = client.call("agent_send", &json!({"session": "alpha", "text": "/hang"}));
    assert_eq!(sent["session"], "default/alpha");
    scene::wait_session(&world, "alpha", |session| session["status"] == "working");
    let wait = client.begin("agent_wait", &json!({"session": "alpha", "seconds": 600}));
    // Answered after the wait has begun: both use the same server.
    let status = client.begin("agent_status", &json!({"session": "alpha"}));
    assert_eq!(client.result(status).unwrap()["status"], "working");
    scene::kill_daemon(&world);
    world.ok(["stop", "alpha"]);
    let waited = client.result(wait).unwrap();
    assert_eq!((&waited["reached"], &waited["status"]), (&json!(true), &json!("ended")));
}

#[test]
fn cancelled_wait_and_the_end_of_the_server_leave_the_agent_alone() {
    let world = agent("alpha");
    world.ok(["send", "alpha", "--no-wait", "/hang"]);
    scene::wait_session(&world, "alpha", |session| session["status"] == "working");
    let mut client = ToolClient::start(&world);
    let wait = client.begin("agent_wait", &json!({"session": "alpha", "seconds": 600}));
    let cancelled = json!({"requestId": wait, "reason": "enough"});
    let notification = "notifications/cancelled";
    client.send(&json!({"jsonrpc": "2.0", "method": notification, "params": cancelled}));
    client.send(&json!({"jsonrpc": "2.0", "method": notification, "params": cancelled}));
    let status = client.call("agent_status", &json!({"session": "alpha"}));
    assert_eq!(status["status"], "working");
    client.begin("agent_wait", &json!({"session": "alpha", "seconds": 600}));
    assert!(client.close().success());
    assert_eq!(world.session("alpha")["status"], "working");
}

#[test]
fn server_ends_on_sigterm_and_sigint_while_its_input_is_open() {
    let world = agent("alpha");
    for signal in [Signal::TERM, Signal::INT] {
        let mut client = ToolClient::start(&world);
        client.call("agent_list", &json!({}));
        client.begin("agent_wait", &json!({"session": "alpha", "until": "ended"}));
        processes::send(client.pid(), signal);
        assert!(client.wait().success(), "{signal:?}");
    }
    assert_eq!(world.session("alpha")["status"], "idle");
}

/// Returns the lines that call a tool, for a server that a script starts.
fn lines(tool: &str, arguments: &Value) -> String {
    let hello = json!({"protocolVersion": "2025-11-25", "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"}});
    let params = json!({"name": tool, "arguments": arguments});
    let lines = [
        json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": hello}),
        json!({"jsonrpc": "2.0", "method": "notifications/initialized"}),
        json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}),
    ];
    lines.iter().map(|line| format!("{line}\n")).collect()
}

/// Sends lines to a server inside an agent. Returns the response with the id 1.
fn response_to(agent: &StandIn<'_>, lines: &str) -> Value {
    let outcome = agent.run(&format!("$SEGUE mcp <<'END'\n{lines}END\n"));
    let mut answers = outcome.stdout.lines().map(|line| serde_json::from_str(line).unwrap());
    answers.find(|it: &Value| it["id"] == 1).unwrap()
}

/// Calls a tool as an agent. Returns whether it failed, and its text.
fn call_as(agent: &StandIn<'_>, tool: &str, arguments: &Value) -> (bool, String) {
    let answer = response_to(agent, &lines(tool, arguments));
    let text = answer["result"]["content"][0]["text"].as_str().unwrap();
    (answer["result"]["isError"] == true, text.to_owned())
}

#[test]
fn server_inside_an_agent_has_the_rights_of_its_session() {
    let world = agent("coder");
    crate::scene::start_agent(&world, "other");
    let coder = StandIn::with_new_daemon(&world, &world.session("coder"));
    let refused = [
        ("agent_status", json!({"session": "other"}), "neither its own nor its child"),
        ("agent_read", json!({"session": "other"}), "neither its own nor its child"),
        ("agent_send", json!({"session": "other", "text": "x"}), "neither its own nor its child"),
        ("agent_start", json!({"vendor": "demo", "permission": "auto"}), "looser permission"),
        ("agent_start", json!({"vendor": "demo", "folder": "/"}), "outside its own folder"),
        (
            "agent_start",
            json!({"vendor": "demo", "worktree": "x"}),
            "may not make or change a worktree",
        ),
        (
            "agent_answer",
            json!({"session": "coder", "question": "x", "answer": "yes"}),
            "answer its own questions",
        ),
        ("agent_handoff", json!({"session": "coder", "to": "demo"}), "may not act on sessions"),
    ];
    for (tool, arguments, expected) in refused {
        let (failed, text) = call_as(&coder, tool, &arguments);
        assert!(failed && text.contains(expected), "{tool}: {text}");
    }
    let (failed, text) = call_as(&coder, "agent_list", &json!({}));
    assert!(!failed && text.contains("/coder") && !text.contains("/other"), "{text}");
    let (failed, text) = call_as(&coder, "agent_start", &json!({"vendor": "demo", "name": "kid"}));
    assert!(!failed && text.contains("/kid"), "{text}");
    assert_eq!(world.sessions().len(), 3);
}

#[test]
fn tools_that_only_a_person_may_use_are_not_listed_inside_an_agent() {
    let world = agent("coder");
    let for_people = ["agent_handoff", "plan_apply", "plan_show"];
    let names = |answer: &Value| -> Vec<String> {
        let tools = answer["result"]["tools"].as_array().unwrap().iter();
        tools.map(|tool| text(tool, "name").to_owned()).collect()
    };
    let all = names(&ToolClient::start(&world).request("tools/list", &json!({})));
    assert!(for_people.iter().all(|name| all.contains(&(*name).to_owned())), "{all:?}");
    let coder = StandIn::with_new_daemon(&world, &world.session("coder"));
    let list = lines("", &json!({})).replace("tools/call", "tools/list");
    let listed = names(&response_to(&coder, &list));
    let expected: Vec<String> =
        all.into_iter().filter(|name| !for_people.contains(&name.as_str())).collect();
    assert_eq!(listed, expected);
    for (tool, arguments) in
        [("plan_apply", json!({"text": "name = \"x\""})), ("plan_show", json!({"plan": "x"}))]
    {
        let (failed, text) = call_as(&coder, tool, &arguments);
        assert!(failed && text.contains("an agent may not use"), "{tool}: {text}");
    }
}

#[test]
fn plan_is_applied_changed_and_shown_with_the_tools() {
    let world = crate::world();
    scene::write_agents(&world, "shop", &["coder"]);
    let mut client = ToolClient::start(&world);
    let plan = |prompt: &str| {
        format!(
            "name = \"release\"\n[tasks.build]\nagent = \"coder\"\nprompt = \"{prompt}\"\n\
             [tasks.check]\nneeds = [\"build\"]\nvendor = \"demo\"\n\
             prompt = \"remember the word birch\"\n"
        )
    };
    let wrong = plan("hello").replace("agent", "agnet");
    let refused = client.try_call("plan_apply", &json!({"text": wrong})).unwrap_err();
    assert!(refused.contains("line 3") && refused.contains("agnet"), "{refused}");
    let applied = client.call("plan_apply", &json!({"text": plan("remember the word amber")}));
    assert_eq!(applied["plan"], "shop/release");
    assert_eq!(applied["changes"], json!({"build": "added", "check": "added"}), "{applied}");
    let again = client.call("plan_apply", &json!({"text": plan("remember the word amber")}));
    assert_eq!((&again["changes"], &again["unchanged"]), (&json!({}), &json!(2)), "{again}");
    let mut events = Events::of(&world);
    let shown = loop {
        let shown = client.call("plan_show", &json!({"plan": "release"}));
        if shown["state"] == "done" {
            break shown;
        }
        events.wait_for(|event| text(event, "kind").ends_with("_changed")).unwrap();
    };
    let tasks = shown["tasks"].as_array().unwrap();
    let names: Vec<(&str, &str)> =
        tasks.iter().map(|task| (text(task, "name"), text(task, "status"))).collect();
    assert_eq!(names, [("build", "done"), ("check", "done")], "{shown}");
    // The task without an agent has a session of its vendor, with the permission `ask`.
    let waited = client.call("task_wait", &json!({"task": tasks[1]["task"]}));
    assert!(waited.to_string().contains("I will remember birch."), "{waited}");
    let record = &world.json(["task", "show", text(&tasks[1], "task"), "--json"])["task"];
    let sessions = world.sessions();
    let session = sessions.iter().find(|it| it["session"] == record["session"]).unwrap();
    assert_eq!((&session["vendor"], &session["agent"]), (&json!("demo"), &Value::Null));
    let unknown = client.try_call("plan_show", &json!({"plan": "owl"})).unwrap_err();
    assert!(unknown.contains("`owl`"), "{unknown}");
}
