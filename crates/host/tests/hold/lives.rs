//! Tests of launches: start, input, output, events and environment of an agent.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use segue_core::Kind;
use segue_core::model::Exit;
use segue_core::ports::{HolderEvent, HolderEvents, Holders as _, OpenQuestion};
use segue_host::process;

use super::fixture::{DEADLINE, HoldFixture, TestLaunch, exit_code, processes_of, wait_for_exit};

#[tokio::test]
async fn agent_runs_in_its_own_terminal_with_its_environment() {
    let fixture = HoldFixture::new();
    let script = "echo \"$TERM $COLORTERM $(stty size) $(pwd) ${LINES-none} $SECRET\"; \
                  title up; read line";
    let (launch, held) = fixture.start(&fixture.shell(script)).await;
    let folder = fixture.folder().display().to_string();
    let expected = format!("xterm-256color truecolor 40 120 {folder} none only in memory");
    fixture.wait_for_title(launch, "up").await;
    let history = fixture.holders.history(launch).await.unwrap().unwrap();
    assert_eq!(String::from_utf8(history).unwrap(), format!("{expected}\r\n\x1b]2;up\x07"));

    let agent = held.agent.clone().unwrap();
    assert!(process::is_alive(&agent));
    assert_eq!(process::parent(agent.pid), Some(held.holder.pid));
    assert_eq!(fixture.holders.find(launch).await.unwrap(), Some(held.clone()));
    for name in ["SEGUE_LAUNCH", "SEGUE_SESSION", "SECRET"] {
        assert_eq!(process::variable(held.holder.pid, name), None, "{name}");
    }
    let environment = fixture.holders.environment(launch).await.unwrap().unwrap();
    assert_eq!(environment.get("SECRET"), Some("only in memory"));
    let text = fs::read_to_string(fixture.paths.launch(launch).join("live.json")).unwrap();
    let recorded: segue_host::hold::LiveProcesses = serde_json::from_str(&text).unwrap();
    assert_eq!((recorded.holder, recorded.agent), (held.holder, agent));
    for file in ["live.json", "holder.log", "holder.sock"] {
        let metadata = fs::metadata(fixture.paths.launch(launch).join(file)).unwrap();
        assert_eq!(metadata.permissions().mode() & 0o777, 0o600, "{file}");
    }
}

#[tokio::test]
async fn terminal_queries_are_answered_without_an_attached_client() {
    let fixture = HoldFixture::new();
    let script = "stty raw -echo; printf '\\033[c'; dd bs=1 count=9 2>/dev/null | od -An -c; \
                  printf '\\033[3;4H\\033[6n'; dd bs=1 count=6 2>/dev/null | od -An -c; \
                  title asked; exec sleep 600";
    let (launch, _) = fixture.start(&fixture.shell(script)).await;
    fixture.wait_for_title(launch, "asked").await;
    let text = fixture.snapshot(launch).await.rows.join("\n");
    assert!(text.contains("[   ?   6   2   ;   2   2   c"), "{text}");
    assert!(text.contains("[   3   ;   4   R"), "{text}");
}

#[tokio::test]
async fn agent_gets_injected_bytes_and_can_be_interrupted() {
    let fixture = HoldFixture::new();
    let script = "trap 'echo interrupted; exit 7' INT; read line; echo \"got $line\"; \
                  title got; while :; do sleep 0.1; done";
    let (launch, _) = fixture.start(&fixture.shell(script)).await;
    fixture.holders.inject(launch, b"some words\r").await.unwrap();
    fixture.wait_for_title(launch, "got").await;
    assert!(fixture.snapshot(launch).await.rows.contains(&"got some words".to_owned()));
    fixture.holders.interrupt(launch, None).await.unwrap();
    assert_eq!(fixture.wait_for_end(launch).await.exit, exit_code(7));
    let rows = fixture.snapshot(launch).await.rows.join("\n");
    assert!(rows.contains("interrupted"), "{rows}");
    let error = fixture.holders.inject(launch, b"x").await.unwrap_err();
    assert_eq!(error.kind, Kind::Conflict);
}

#[tokio::test]
async fn titles_and_bells_are_events_and_later_subscribers_get_the_title() {
    let fixture = HoldFixture::new();
    let script =
        "printf '\\033]0;first\\007'; read line; printf '\\007\\033]2;second\\033\\\\'; read l";
    let (launch, _) = fixture.start(&fixture.shell(script)).await;
    fixture.wait_for_title(launch, "first").await;
    let mut events = fixture.holders.subscribe(launch).await.unwrap();
    assert_eq!(events.next().await, Some(HolderEvent::Title("first".to_owned())));
    fixture.holders.inject(launch, b"\r").await.unwrap();
    let mut received = [events.next().await.unwrap(), events.next().await.unwrap()];
    received.sort_by_key(|event| *event == HolderEvent::Bell);
    assert_eq!(received, [HolderEvent::Title("second".to_owned()), HolderEvent::Bell]);
    let end = fixture.holders.stop(launch, Duration::ZERO).await.unwrap().unwrap();
    assert_eq!(events.next().await, Some(HolderEvent::Ended(end)));
    assert_eq!(events.next().await, None);
}

#[tokio::test]
async fn output_of_a_headless_agent_is_recorded_byte_for_byte() {
    let fixture = HoldFixture::new();
    let mut test_launch = fixture.shell(
        "printf '{\"a\":1}\\n\\000\\377\\033[c'; echo oops >&2; read line || printf 'no input'; exit 3",
    );
    test_launch.headless = true;
    let (launch, held) = fixture.start(&test_launch).await;
    let end = fixture.wait_for_end(launch).await;
    assert_eq!((end.exit, end.is_requested), (exit_code(3), false));
    wait_for_exit(&held.holder).await;
    let folder = fixture.paths.launch(launch);
    let stream = fs::read(folder.join("stream.jsonl")).unwrap();
    assert_eq!(stream, b"{\"a\":1}\n\0\xff\x1b[cno input");
    assert_eq!(fs::read(folder.join("stderr.log")).unwrap(), b"oops\n");
    for file in ["stream.jsonl", "stderr.log"] {
        let metadata = fs::metadata(folder.join(file)).unwrap();
        assert_eq!(metadata.permissions().mode() & 0o777, 0o600, "{file}");
    }
    assert_eq!(fixture.holders.find(launch).await.unwrap(), None);
}

#[tokio::test]
async fn headless_agent_reads_the_given_input_file() {
    let fixture = HoldFixture::new();
    let input = fixture.folder().join("given");
    fs::write(&input, "two\nlines").unwrap();
    let mut test_launch = fixture.shell("cat");
    (test_launch.headless, test_launch.input) = (true, Some(input));
    test_launch.before = ["/bin/sh", "-c", "cat"].map(str::to_owned).to_vec();
    let (launch, _) = fixture.start(&test_launch).await;
    // The agent and its holder may have ended already.
    fixture.wait_for_end(launch).await;
    let output = fs::read_to_string(fixture.paths.launch(launch).join("stream.jsonl")).unwrap();
    assert_eq!(output, "two\nlines");
}

#[tokio::test]
async fn headless_agent_refuses_terminal_requests_but_can_be_interrupted() {
    let fixture = HoldFixture::new();
    let mut lines = fixture.line_pipe("up");
    let mut test_launch =
        fixture.shell("trap 'exit 5' INT; echo up > up; while :; do sleep 0.1; done");
    test_launch.headless = true;
    let (launch, _) = fixture.start(&test_launch).await;
    assert_eq!(fixture.holders.inject(launch, b"x").await.unwrap_err().kind, Kind::Conflict);
    assert_eq!(fixture.holders.snapshot(launch).await.unwrap_err().kind, Kind::Conflict);
    lines.read_lines(1).await;
    fixture.holders.interrupt(launch, None).await.unwrap();
    assert_eq!(fixture.wait_for_end(launch).await.exit, exit_code(5));
}

#[tokio::test]
async fn failed_start_is_reported_and_leaves_nothing_behind() {
    let fixture = HoldFixture::new();
    let mut missing = fixture.shell("");
    missing.argv = vec!["/no/such/program".to_owned(), "-x".to_owned()];
    let (launch, held) = fixture.try_start(&missing).await;
    let error = held.unwrap_err();
    assert_eq!(
        (error.kind, error.message.as_str()),
        (Kind::Vendor, "cannot start `/no/such/program`")
    );
    assert!(error.causes[0].contains("No such file"), "{error:?}");
    assert_eq!(fixture.recorded_end(launch).exit, Exit::NeverStarted);
    assert_eq!(fixture.holders.find(launch).await.unwrap(), None);
    assert!(!fixture.socket(launch).exists());

    let mut nowhere = fixture.shell("echo never");
    nowhere.cwd = fixture.folder().join("gone");
    let error = fixture.try_start(&nowhere).await.1.unwrap_err();
    assert_eq!(error.kind, Kind::NotFound);
    assert!(error.message.contains("gone"), "{error}");

    // The failed start does not block the session's next launch.
    missing.argv = fixture.shell("read line").argv;
    fixture.start(&missing).await;
}

#[tokio::test]
async fn preparation_command_ends_before_the_agent_starts() {
    let fixture = HoldFixture::new();
    let mut test_launch = fixture.shell("cat prepared; title up; read line");
    let script = "cat; echo unseen; echo $SECRET $SEGUE_LAUNCH >prepared; echo seen >&2";
    test_launch.before = ["/bin/sh", "-c", script].map(str::to_owned).to_vec();
    let (launch, held) = fixture.start(&test_launch).await;
    fixture.wait_for_title(launch, "up").await;
    let history = fixture.holders.history(launch).await.unwrap().unwrap();
    let shown = format!("seen\r\nonly in memory {launch}\r\n\x1b]2;up\x07");
    assert_eq!(String::from_utf8(history).unwrap(), shown);
    assert!(
        process::is_alive(&held.agent.unwrap()),
        "the agent is not the process that ran the preparation"
    );
}

#[tokio::test]
async fn agent_does_not_start_if_its_preparation_fails() {
    let fixture = HoldFixture::new();
    let mut test_launch = fixture.shell("touch began");
    test_launch.before = ["/bin/sh", "-c", "sleep 0.1; exit 3"].map(str::to_owned).to_vec();
    let (launch, _) = fixture.start(&test_launch).await;
    let mut events = fixture.holders.subscribe(launch).await.unwrap();
    let end = loop {
        let event = tokio::time::timeout(DEADLINE, events.next()).await.unwrap();
        if let Some(HolderEvent::Ended(end)) = event {
            break end;
        }
    };
    assert_eq!(end.exit, Exit::Code(1));
    let text = fixture.snapshot(launch).await.rows.join("");
    assert!(text.contains("could not prepare the launch"), "{text}");
    assert!(!fixture.folder().join("began").exists());

    test_launch.before = vec!["/nowhere/at-all".to_owned()];
    test_launch.session = fixture.shell("").session;
    let (_, error) = fixture.try_start(&test_launch).await;
    assert_eq!(error.unwrap_err().kind, Kind::Vendor);
}

#[tokio::test]
async fn agent_is_ended_if_its_start_cannot_be_recorded() {
    let fixture = HoldFixture::new();
    let test_launch = fixture.shell("setsid sleep 600 & exec sleep 600");
    // A folder at the path of `live.json` prevents the file from being written.
    let block_record = |folder: &Path| fs::create_dir(folder.join("live.json")).unwrap();
    let (launch, held) = fixture.try_start_in(&test_launch, block_record).await;
    let error = held.unwrap_err();
    assert!(error.message.contains("live.json"), "{error}");
    assert_eq!(processes_of(launch), Vec::<u32>::new());
    assert_eq!(fixture.recorded_end(launch).exit, Exit::NeverStarted);
    fixture.start(&test_launch).await;
}

#[tokio::test]
async fn second_holder_of_a_session_is_refused() {
    let fixture = HoldFixture::new();
    let test_launch = fixture.shell("read line");
    let (first, held) = fixture.start(&test_launch).await;
    let (second, refused) = fixture.try_start(&test_launch).await;
    let error = refused.unwrap_err();
    assert_eq!(error.kind, Kind::Conflict);
    assert!(error.message.contains(&format!("process {}", held.holder.pid)), "{error}");
    assert!(error.message.contains(&first.to_string()), "{error}");
    assert!(process::is_alive(&held.agent.unwrap()));
    assert_eq!(fixture.recorded_end(second).exit, Exit::NeverStarted);
    fixture.holders.stop(first, DEADLINE).await.unwrap().unwrap();
    fixture.start(&test_launch).await;
}

#[tokio::test]
async fn leftovers_of_a_dead_launch_are_ended_before_the_next_launch() {
    let fixture = HoldFixture::new();
    let mut lines = fixture.line_pipe("up");
    // When a terminal is closed, its processes get SIGHUP. These ignore it.
    let script =
        "trap '' HUP; setsid sh -c 'echo > up; exec sleep 600' & echo > up; exec sleep 600";
    let test_launch = fixture.shell(script);
    let (first, held) = fixture.start(&test_launch).await;
    lines.read_lines(2).await;
    super::fixture::kill(&held.holder);
    assert_eq!(fixture.holders.find(first).await.unwrap(), None);
    assert_eq!(processes_of(first).len(), 2, "both processes outlive their holder");
    let other = fixture.shell("exec sleep 600");
    let (unrelated, _) = fixture.start(&other).await;
    let (second, _) = fixture.start(&test_launch).await;
    assert_eq!(processes_of(first), Vec::<u32>::new());
    assert!(!processes_of(second).is_empty());
    assert!(!processes_of(unrelated).is_empty());
    let log = fs::read_to_string(fixture.paths.launch(second).join("holder.log")).unwrap();
    assert!(log.contains("ended a leftover"), "{log}");
}

#[tokio::test]
async fn home_with_a_path_too_long_for_a_socket_works() {
    let fixture = HoldFixture::at(&["d".repeat(120), "e".repeat(120)].join("/"));
    let (launch, _) = fixture.start(&fixture.shell("echo deep; title up; read line")).await;
    fixture.wait_for_title(launch, "up").await;
    assert_eq!(fixture.snapshot(launch).await.rows[0], "deep");
    assert!(fixture.holders.stop(launch, Duration::ZERO).await.unwrap().is_some());
}

#[tokio::test]
async fn agent_cannot_connect_to_a_holder() {
    let fixture = HoldFixture::new();
    let (target, _) = fixture.start(&fixture.shell("read line")).await;
    let socket = fixture.socket(target).display().to_string();
    let program = super::fixture::holder_program().display().to_string();
    let script = format!(
        "{program} attach {socket}; env -u SEGUE_LAUNCH {program} attach {socket}; \
                          title done; read line"
    );
    let (launch, _) = fixture.start(&fixture.shell(&script)).await;
    fixture.wait_for_title(launch, "done").await;
    let text = fixture.snapshot(launch).await.rows.join("\n");
    assert_eq!(text.matches("a process of an agent may not use a holder").count(), 2, "{text}");
}

/// Waits for the next event about open questions.
async fn next_questions(events: &mut Box<dyn HolderEvents>) -> Vec<OpenQuestion> {
    loop {
        if let HolderEvent::Questions(open) = events.next().await.unwrap() {
            return open;
        }
    }
}

/// Returns a headless agent that runs these commands. `ask` and `view` send requests to its own
/// holder.
fn headless(fixture: &HoldFixture, script: &str) -> TestLaunch {
    let program = super::fixture::holder_program().display().to_string();
    let launches = fixture.paths.launches().display().to_string();
    let socket = format!("'{launches}'/$SEGUE_LAUNCH/holder.sock");
    let commands = format!(
        "program={program}; socket={socket}; ask() {{ $program ask-person $socket; }}; \
         view() {{ $program view $socket; }}"
    );
    let mut test_launch = fixture.shell(&format!("{commands}; {script}"));
    test_launch.headless = true;
    test_launch
}

#[tokio::test]
async fn headless_agent_may_ask_its_holder_and_nothing_else() {
    let fixture = HoldFixture::new();
    let script = "view 2>&1; echo '{\"q\":1}' | ask; echo '{\"q\":2}' | ask || echo refused";
    let (launch, _) = fixture.start(&headless(&fixture, script)).await;
    let mut events = fixture.holders.subscribe(launch).await.unwrap();
    let mut replies = [Some("granted"), None].into_iter();
    loop {
        let open = next_questions(&mut events).await;
        let Some(question) = open.first() else { continue };
        let Some(reply) = replies.next() else { panic!("{open:?}") };
        assert!(!fixture.holders.reply(launch, "another", Some("no")).await.unwrap());
        assert!(fixture.holders.reply(launch, &question.id, reply).await.unwrap());
        if reply.is_none() {
            assert_eq!(question.request, r#"{"q":2}"#);
            break;
        }
        // Only possible after the first reply: after the last one the agent ends, and its holder
        // exits at any time.
        assert!(!fixture.holders.reply(launch, &question.id, reply).await.unwrap());
    }
    fixture.wait_for_end(launch).await;
    let stream = fs::read_to_string(fixture.paths.launch(launch).join("stream.jsonl")).unwrap();
    let lines: Vec<&str> = stream.lines().collect();
    assert!(lines[0].contains("a process of an agent may not use a holder"), "{stream}");
    assert_eq!(lines[1..], ["granted", "refused"], "{stream}");
}

#[tokio::test]
async fn question_is_sent_to_later_subscribers_until_the_process_that_asks_is_gone() {
    let fixture = HoldFixture::new();
    let mut lines = fixture.line_pipe("up");
    let asks = "echo '{}' > request; $program ask-person $socket < request & echo $! > up; wait; \
                exec sleep 600";
    let (launch, _) = fixture.start(&headless(&fixture, asks)).await;
    let asker = lines.read_lines(1).await;
    let mut first = fixture.holders.subscribe(launch).await.unwrap();
    while next_questions(&mut first).await.is_empty() {}
    let mut second = fixture.holders.subscribe(launch).await.unwrap();
    assert_eq!(next_questions(&mut second).await.len(), 1);
    let asker = Pid::from_raw(asker[0].trim().parse().unwrap()).unwrap();
    kill_process(asker, Signal::KILL).unwrap();
    assert_eq!(next_questions(&mut second).await, []);
    assert!(fixture.holders.stop(launch, Duration::ZERO).await.unwrap().is_some());
}
