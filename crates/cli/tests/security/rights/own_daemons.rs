//! Daemons and holders that an agent starts itself.

use std::fs;

use segue_testkit::scene::{daemon_pid, wait_session};
use serde_json::Value;

use super::detached::Fugitive;
use super::{run_as_agent, start_as_agent, wait_for_file, world};

#[test]
fn agent_that_listens_at_the_daemons_socket_is_sent_nothing() {
    let world = world(true);
    world.ok(["daemon", "stop"]);
    let socket = world.state().join("daemon.sock");
    world.write(
        "listen.pl",
        "use IO::Socket::UNIX; my $path = shift; unlink $path;\n\
         my $listener = IO::Socket::UNIX->new(Local => $path, Listen => 9) or die $!;\n\
         open(my $up, '>', 'up'); close $up;\n\
         while (my $client = $listener->accept) { print <$client>; }\n",
    );
    let script = format!("perl listen.pl {} >heard", socket.display());
    start_as_agent(&world, "listen.sh", &script);
    wait_for_file(&world.project().join("up"));
    let outcome = world.segue(["run", "-d", "--vendor", "demo", "hello"]);
    assert_eq!(outcome.status, 7, "{outcome:#?}");
    assert!(outcome.stderr.contains("which an agent started"), "{outcome:#?}");
    assert_eq!(fs::read_to_string(world.project().join("heard")).unwrap(), "");
}

#[test]
fn second_daemon_on_the_same_store_is_refused() {
    let mut world = world(true);
    wait_session(&world, "loose", |session| session["status"] == "idle");
    let before = world.sessions();
    let other = world.root().join("other");
    fs::create_dir(&other).unwrap();
    std::os::unix::fs::symlink(world.segue_home().join("data"), other.join("data")).unwrap();
    let home = world.segue_home().display().to_string();
    world.set("SEGUE_HOME", other.display().to_string());
    let outcome = world.segue(["ls", "--all"]);
    assert_eq!((outcome.status, outcome.stdout.as_str()), (4, ""), "{outcome:#?}");
    assert!(outcome.stderr.contains("another daemon uses the store"), "{outcome:#?}");
    world.set("SEGUE_HOME", home);
    assert_eq!(world.sessions(), before);
}

#[test]
fn daemon_run_beside_a_running_daemon_reports_its_failure_once() {
    let world = world(true);
    let outcome = world.segue(["daemon", "run"]);
    assert_eq!((outcome.status, outcome.stdout.as_str()), (4, ""), "{outcome:#?}");
    assert!(outcome.stderr.starts_with("error: another daemon runs\n"), "{outcome:#?}");
}

/// An agent kills the daemon and starts another one in a PID namespace of its own, between these two
/// scripts. Checks that the new daemon is refused.
fn assert_refuses_daemon_in_namespace(is_privileged: bool, before: &str, after: &str) {
    let world = world(is_privileged);
    let daemon = daemon_pid(&world);
    let namespaces = if is_privileged { "-pfmC" } else { "-UpfmC --map-current-user" };
    let through = |start: &str| format!("setsid {start} &");
    let script = format!(
        "kill -9 {daemon}\n{before}\nunshare {namespaces} --mount-proc \
         sh -c '$SEGUE ls --all; $SEGUE trust --yes; $SEGUE run -d --vendor demo hello' >out 2>err\n\
         {after}\nmv err done"
    );
    let script = format!("export SEGUE\n{script}");
    let fugitive = Fugitive::start_through(&world, through, &script);
    wait_for_file(&world.project().join("done"));
    assert_eq!(fugitive.read("out"), "", "{}", fugitive.read("done"));
    let error = fugitive.read("done");
    assert!(error.contains("another PID namespace") || error.contains("unshare"), "{error}");
    let names: Vec<Value> = world.sessions().iter().map(|it| it["name"].clone()).collect();
    assert_eq!(names, ["coder", "loose"]);
    assert_eq!(world.session("loose")["status"], "idle");
}

#[test]
fn daemon_that_an_agent_starts_in_another_pid_namespace_is_refused() {
    assert_refuses_daemon_in_namespace(true, "", "");
}

#[test]
fn daemon_that_an_agent_starts_in_another_pid_namespace_is_refused_without_privileges() {
    assert_refuses_daemon_in_namespace(false, "", "");
}

/// Does the same, but the agent moves the holders' sockets away before it starts the daemon, and back
/// afterwards.
fn assert_refuses_daemon_without_sockets(is_privileged: bool) {
    let each = |step: &str| format!("for it in ../segue/state/launches/*; do {step}; done");
    let [away, back] = ["mv $it/holder.sock $it/away", "mv $it/away $it/holder.sock"].map(each);
    assert_refuses_daemon_in_namespace(is_privileged, &away, &back);
}

#[test]
fn daemon_in_another_pid_namespace_is_refused_although_the_sockets_were_moved_away() {
    assert_refuses_daemon_without_sockets(true);
}

#[test]
fn daemon_in_another_pid_namespace_is_refused_without_sockets_and_without_privileges() {
    assert_refuses_daemon_without_sockets(false);
}

#[test]
fn holder_that_an_agent_starts_is_refused() {
    let world = world(true);
    let outcome = run_as_agent(&world, "run.sh", "echo '{}' | $SEGUE hold /tmp");
    assert_ne!(outcome.status, 0, "{outcome:#?}");
    assert!(outcome.stderr.contains("an agent may not start a holder"), "{outcome:#?}");
}
