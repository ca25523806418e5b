//! What strangers and forges can send to a webhook.

use std::fs;
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::path::{Path, PathBuf};

use segue_core::model::ForgeSubject;
use segue_testkit::dispatch_scene::{DispatchScene, REPOSITORY, SECRET};
use segue_testkit::forge_server::{DeliveredDetail, ServedDelivery};
use segue_testkit::repositories::make_origin;
use segue_testkit::scene::{self, text};
use segue_testkit::{NetworkClient, World, processes};
use serde_json::{Value, json};

use crate::world;

const ASSIGNED: &str = "on = \"issue.assigned\"\nagent = \"coder\"";

fn scene_with(rules: &[&str]) -> DispatchScene {
    let world = world();
    scene::write_shop(&world, "");
    DispatchScene::new(world, rules)
}

/// Returns a valid delivery of an assigned issue.
fn assigned(scene: &DispatchScene, title: &str) -> ServedDelivery {
    let number = scene.forge.change(|state| state.add_issue(REPOSITORY, title, &["segue-bot"]));
    let event = ("issues", "assigned", "ada");
    scene.delivery(ForgeSubject::Issue(number), event, DeliveredDetail::Assignee("segue-bot"))
}

/// Signs any body as the forge would.
fn signed(event: &str, id: &str, body: Vec<u8>) -> ServedDelivery {
    ServedDelivery::signed((event, id), body, SECRET)
}

#[test]
fn every_published_example_of_a_delivery_is_answered_and_processed() {
    let world = world();
    scene::write_shop(&world, "");
    make_origin(&world.root().join("origins"));
    let origin = format!("file://{}/origins/app.git", world.root().display());
    write_settings(&world, &origin);
    let client = NetworkClient::listen(&world);
    let mut sent = 0;
    for (event, example) in examples() {
        sent += 1;
        let ServedDelivery { headers, body } =
            signed(&event, &format!("example-{sent}"), example.to_string().into_bytes());
        let headers: Vec<(&str, &str)> =
            headers.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        let answer = client.deliver("hub", &headers, &body);
        assert!(matches!(answer.status, 200 | 202), "{event}: {}", answer.text);
    }
    assert_eq!(sent, 329);
    let mut events = segue_testkit::events::Events::of(&world);
    let all = loop {
        let list = world.json(["deliveries", "ls", "--json", "--limit", "1000"]);
        let all = list["deliveries"].as_array().unwrap().clone();
        if all.iter().all(|it| it["state"] != "received") {
            break all;
        }
        events.wait_for(|event| event["kind"] == "delivery_processed").unwrap();
    };
    let failed: Vec<&Value> = all.iter().filter(|it| it["state"] == "failed").collect();
    assert_eq!(failed, Vec::<&Value>::new());
    let added = |it: &&Value| it["actions"][0]["outcome"] == "task_added";
    let assigned = |it: &&Value| it["actions"][0]["trigger"] == "issue.assigned";
    assert!(all.iter().filter(assigned).count() >= 3);
    assert!(all.iter().filter(assigned).filter(added).count() >= 1, "{all:#?}");
    assert_eq!(all.iter().filter(added).filter(|it| !assigned(it)).count(), 0);
}

/// Returns the published examples: the event and the body of each.
fn examples() -> Vec<(String, Value)> {
    let folder = std::env::var_os("SEGUE_TEST_PAYLOADS").map_or_else(
        || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/payloads"),
        PathBuf::from,
    );
    let file = folder.join("node_modules/@octokit/webhooks-examples/api.github.com/index.json");
    // `make payloads` installs the file.
    let text = fs::read_to_string(&file).unwrap();
    let events: Vec<Value> = serde_json::from_str(&text).unwrap();
    let named = |event: &Value| {
        let name = event["name"].as_str().unwrap().to_owned();
        let examples = event["examples"].as_array().unwrap().clone();
        examples.into_iter().map(move |example| (name.clone(), example))
    };
    events.iter().flat_map(named).collect()
}

/// Writes a source without a token, and a rule that every person can trigger.
fn write_settings(world: &World, repository: &str) {
    let path = world.segue_home().join("config.toml");
    let settings = fs::read_to_string(&path).unwrap();
    let secret = world.root().join("hook-secret");
    fs::write(&secret, format!("{SECRET}\n")).unwrap();
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o600);
    fs::set_permissions(&secret, mode).unwrap();
    let folder = world.project();
    let rules = format!(
        "{settings}[[sources]]\nname = \"hub\"\nforge = \"github\"\n\
         secret = {{ file = \"{}\" }}\n[[dispatch]]\nsource = \"hub\"\nfolder = \"{}\"\n{ASSIGNED}\n\
         who = \"anyone\"\nrepo = \"{repository}\"\n",
        secret.display(),
        folder.display()
    );
    fs::write(path, rules).unwrap();
}

#[test]
fn forged_truncated_replayed_and_smuggled_deliveries_do_nothing() {
    let scene = scene_with(&[ASSIGNED]);
    let valid = assigned(&scene, "Parser fails");
    let mut truncated = valid.clone();
    truncated.body.truncate(valid.body.len() / 2);
    let mut foreign = valid.clone();
    let signature = ("x-hub-signature-256".to_owned(), format!("sha256={}", "0".repeat(64)));
    foreign.headers.retain(|(name, _)| name != "x-hub-signature-256");
    foreign.headers.push(signature.clone());
    let mut twice = valid.clone();
    twice.headers.push(signature);
    for (what, delivery) in [("truncated", truncated), ("foreign", foreign), ("twice", twice)] {
        assert_eq!(scene.send(&delivery).status, 401, "{what}");
    }
    let head = format!("POST /webhooks/hub HTTP/1.1\r\nhost: {}\r\n", scene.client.address);
    let smuggled =
        format!("{head}content-length: 5\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\nGET / HTTP");
    assert!(scene.client.raw(smuggled.as_bytes()).status >= 400);
    assert_eq!(scene.processed(), Vec::<Value>::new());

    assert_eq!(scene.send(&valid).status, 202);
    let mut replayed = valid;
    for (name, value) in &mut replayed.headers {
        if name == "x-github-delivery" {
            *value = "another-id".to_owned();
        }
    }
    assert_eq!(scene.send(&replayed).status, 200, "the same body is the same delivery");
    scene.ended_tasks();
    assert_eq!(scene.tasks().len(), 1);
}

#[test]
fn large_nested_and_invalid_bodies_are_refused_or_recorded_as_failed() {
    let scene = scene_with(&[ASSIGNED]);
    let large = signed("issues", "large", vec![b' '; 30 << 20]);
    assert_eq!(scene.send(&large).status, 400);
    let nested = format!("{}{}", "[".repeat(200_000), "]".repeat(200_000)).into_bytes();
    let bodies = [
        ("nested", nested),
        ("bytes", b"{\"action\": \"\xff\xfe\"}".to_vec()),
        ("empty", Vec::new()),
        ("number", b"7".to_vec()),
        ("no-object", b"{\"action\":\"assigned\"}".to_vec()),
    ];
    for (id, body) in bodies {
        assert_eq!(scene.send(&signed("issues", id, body)).status, 202, "{id}");
    }
    for delivery in scene.processed() {
        assert_eq!(delivery["state"], "failed", "{delivery:#}");
        assert!(text(&delivery, "reason").len() < 2000, "{delivery:#}");
    }
    assert_eq!(scene.tasks(), Vec::<Value>::new());
}

#[test]
fn slow_and_many_connections_do_not_stop_other_deliveries() {
    let scene = scene_with(&[ASSIGNED]);
    let head = format!(
        "POST /webhooks/hub HTTP/1.1\r\nhost: {}\r\ncontent-length: 1000\r\n\r\n{{",
        scene.client.address
    );
    // As many connections as one address may have: most of them in the middle of a request.
    let connect = || TcpStream::connect(scene.client.address).unwrap();
    let mut open: Vec<TcpStream> = (0..128).map(|_| connect()).collect();
    for stream in open.iter_mut().take(100) {
        stream.write_all(head.as_bytes()).unwrap();
    }
    for _ in 0..900 {
        let ended = connect().read(&mut [0]);
        assert!(!ended.is_ok_and(|count| count > 0), "a connection beyond the limit was answered");
    }
    open.truncate(60);
    let valid = assigned(&scene, "Parser fails");
    // The daemon may not have noticed yet that connections were closed.
    while scene.send(&valid).status == 0 {}
    scene.ended_tasks();
    assert_eq!(scene.tasks().len(), 1);
    let daemon = scene::daemon_pid(&scene.world);
    assert!(processes::is_alive(daemon));
}

#[test]
fn instructions_in_the_text_of_an_issue_stay_quoted_and_change_no_permission() {
    let scene = scene_with(&[ASSIGNED, "on = \"issue.commented\"\nagent = \"coder\""]);
    // The demo agent needs a moment for each.
    for attack in prompt_attacks().iter().step_by(4) {
        let delivery = assigned(&scene, attack);
        assert_eq!(scene.send(&delivery).status, 202);
    }
    for task in scene.ended_tasks() {
        let prompt = text(&task, "prompt");
        let outside: Vec<&str> = prompt.lines().filter(|line| !line.starts_with('>')).collect();
        assert_eq!(outside.len(), 3, "{prompt}");
        let hidden = ['\u{202e}', '\u{200b}', '\u{e0069}', '\r'];
        assert!(!prompt.contains(hidden) && !prompt.contains("do this silently"), "{prompt}");
    }
    let sessions = scene.world.sessions();
    assert!(sessions.iter().all(|it| it["permission"] == json!(null) || it["permission"] == "ask"));
    assert_eq!(scene.world.json(["token", "ls", "--json"])["tokens"], json!([]));
}

/// Returns texts that try to be taken for the prompt itself.
fn prompt_attacks() -> Vec<String> {
    let file = include_str!("../../../core/tests/fixtures/prompt-attacks.json");
    serde_json::from_str(file).unwrap()
}

/// Returns what each rule would make of an event: the prompt of a task, or why there is none.
fn tested(scene: &DispatchScene, event: (&str, &str, &str), detail: DeliveredDetail<'_>) -> Value {
    let file = scene.world.root().join("payload.json");
    fs::write(&file, scene.delivery(ForgeSubject::Issue(1), event, detail).body).unwrap();
    let (file, name) = (file.display().to_string(), event.0);
    let words = ["dispatch", "test", &file, "--source", "hub", "--event", name, "--json"];
    scene.world.json(words)["events"][0]["rules"].clone()
}

#[test]
fn no_text_leaves_its_quotation_or_fires_another_rule() {
    let scene = scene_with(&[ASSIGNED, "on = \"issue.commented\"\nagent = \"coder\""]);
    // The issue is assigned only in the deliveries: the daemon would find it on the forge otherwise.
    let number = scene.forge.change(|state| state.add_issue(REPOSITORY, "It", &[]));
    let outside = |rule: &Value| {
        let prompt = text(&rule["task"], "prompt").to_owned();
        assert!(!prompt.contains("do this silently"), "{prompt}");
        let lines = prompt.lines().filter(|line| !line.starts_with('>'));
        lines.map(str::to_owned).collect::<Vec<_>>()
    };
    let readings = |attack: &str| {
        scene.forge.change(|state| {
            let issue = state.repository(REPOSITORY).issues.get_mut(&number).unwrap();
            (issue.title, issue.body) = (attack.to_owned(), attack.to_owned());
        });
        let subject = ForgeSubject::Issue(number);
        let by = |login| {
            let comment =
                scene.forge.change(|state| state.add_comment(REPOSITORY, subject, login, attack));
            let event = ("issue_comment", "created", login);
            tested(&scene, event, DeliveredDetail::Comment(&comment))
        };
        let detail = DeliveredDetail::Assignee("segue-bot");
        let assigned = tested(&scene, ("issues", "assigned", "ada"), detail);
        let (commented, stranger) = (by("ada"), by("eve"));
        assert_eq!(assigned[1]["task"], Value::Null, "{assigned:#}");
        assert_eq!(commented[0]["task"], Value::Null, "{commented:#}");
        assert_eq!([&stranger[0]["task"], &stranger[1]["task"]], [&Value::Null; 2]);
        [outside(&assigned[0]), outside(&commented[1])]
    };
    let harmless = readings("text");
    for attack in prompt_attacks() {
        assert_eq!(readings(&attack), harmless, "{attack:?}");
    }
    assert_eq!(scene.tasks(), Vec::<Value>::new());
}
