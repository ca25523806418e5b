//! Connections to the daemon and to holders that hide which process uses them.

use std::path::Path;

use rustix::process::Signal;
use segue_testkit::scene::{daemon_pid, pid};
use segue_testkit::{World, launches, processes};

use super::{holder_of, run_as_agent, world};

/// A script that stops the listening process, connects, passes the connection to a child, and ends.
/// Then the child lets the listener continue, and sends the request.
pub(super) const CONNECT_AND_END: &str = r#"
use IO::Socket::UNIX;
my ($path, $listener, $request) = @ARGV;
sub states {
    my @states;
    for my $path (glob($_[0])) {
        my $line = '';
        if (open(my $file, '<', $path)) { $line = <$file>; }
        push @states, $line =~ /.*\) (\S)/ ? $1 : 'Z';
    }
    return @states;
}
kill 'STOP', $listener or die "stop: $!";
1 while grep { $_ ne 'T' } states("/proc/$listener/task/*/stat");
my $socket = IO::Socket::UNIX->new(Peer => $path) or die "connect: $!";
my $first = $$;
exit 0 if fork;
1 while grep { $_ ne 'Z' } states("/proc/$first/stat");
# The listener may have answered and closed the connection before the request is sent.
$SIG{PIPE} = 'IGNORE';
kill 'CONT', $listener;
syswrite($socket, pack('H*', $request));
print $_ while sysread($socket, $_, 65536);
"#;

/// Makes a process of `coder` send a request through the connection of a process that has ended.
/// The listening process is stopped meanwhile.
fn ask_through_ended_process(
    world: &World,
    socket: &Path,
    listener: u32,
    request: &[u8],
) -> String {
    let hex: String = request.iter().map(|byte| format!("{byte:02x}")).collect();
    let script = format!("perl connect.pl {} {listener} {hex} | cat", socket.display());
    let outcome = run_as_agent(world, &format!("ask-{}.sh", hex.len()), &script);
    format!("{}{}", outcome.stdout, outcome.stderr)
}

/// Checks that the daemon refuses requests through the connection of a process that has ended.
fn assert_daemon_refuses_ended_process(is_privileged: bool) {
    let world = world(is_privileged);
    let socket = world.state().join("daemon.sock");
    let daemon = daemon_pid(&world);
    let head = |line: &str| format!("{line} HTTP/1.1\r\nhost: segue\r\nconnection: close\r\n\r\n");
    for request in ["GET /v1/sessions", "POST /v1/shutdown"] {
        let answer = ask_through_ended_process(&world, &socket, daemon, head(request).as_bytes());
        assert!(answer.contains("the calling process cannot be identified"), "{answer}");
        assert!(!answer.contains("loose"), "{answer}");
    }
}

#[test]
fn connection_of_a_process_that_has_ended_is_refused_by_the_daemon() {
    assert_daemon_refuses_ended_process(true);
}

#[test]
fn connection_of_a_process_that_has_ended_is_refused_by_the_daemon_without_privileges() {
    assert_daemon_refuses_ended_process(false);
}

/// Returns a frame of the holder's protocol.
fn frame(kind: u8, json: &str) -> Vec<u8> {
    let mut frame = u32::try_from(json.len()).unwrap().to_be_bytes().to_vec();
    frame.push(kind);
    frame.extend(json.as_bytes());
    frame
}

/// Checks that a holder refuses requests through the connection of a process that has ended.
fn assert_holder_refuses_ended_process(is_privileged: bool) {
    let world = world(is_privileged);
    let loose = world.session("loose");
    let socket = launches::newest(&world, &loose).0.join("holder.sock");
    let hello = frame(1, r#"{"protocol":1,"oldest":1}"#);
    let request = [hello, frame(2, r#""environment""#)].concat();
    let holder = pid(&loose, "holder_pid");
    let answer = ask_through_ended_process(&world, &socket, holder, &request);
    assert!(answer.contains("a process of an agent may not use a holder"), "{answer}");
    assert!(!answer.contains("amber-in-the-environment"), "{answer}");
}

#[test]
fn connection_of_a_process_that_has_ended_is_refused_by_a_holder() {
    assert_holder_refuses_ended_process(true);
}

#[test]
fn connection_of_a_process_that_has_ended_is_refused_by_a_holder_without_privileges() {
    assert_holder_refuses_ended_process(false);
}

#[test]
fn command_line_that_imitates_a_holder_gives_no_rights() {
    let world = world(true);
    let loose = launches::newest_id(&world, &world.session("loose"));
    world.write("hold", "unset SEGUE_LAUNCH; $SEGUE stop loose\n");
    let outcome = run_as_agent(&world, "run.sh", &format!("export SEGUE; sh hold /x/{loose}"));
    assert_eq!(outcome.status, 2, "{outcome:#?}");
    assert!(outcome.stderr.contains("called from inside `project/coder`"), "{outcome:#?}");
}

#[test]
fn symlink_to_another_sessions_socket_gives_an_agent_no_access() {
    let world = world(true);
    let folder =
        |name: &str| launches::newest(&world, &world.session(name)).0.display().to_string();
    let (own, other) = (folder("coder"), folder("loose"));
    let holder = holder_of(&world, "coder");
    // The holder cannot create its own socket again while it is stopped.
    let script = format!(
        "kill -STOP {holder}; ln -s {other}/holder.sock link; mv -T link {own}/holder.sock\n\
         $SEGUE run -d --vendor demo --name child hello; echo run $?\n\
         $SEGUE send coder --timeout 1s 'typed into another session'; echo send $?"
    );
    let outcome = run_as_agent(&world, "run.sh", &script);
    assert!(!outcome.stdout.contains("run 0"), "{outcome:#?}");
    assert!(!outcome.stdout.contains("send 0"), "{outcome:#?}");
    assert!(!world.ok(["show", "loose", "--json"]).contains("typed into another session"));
    processes::send(holder, Signal::CONT);
    world.ok(["stop", "coder"]);
    let loose = world.session("loose");
    assert_eq!((&loose["status"], &loose["launches"]), (&"idle".into(), &1.into()), "{loose:#}");
}
