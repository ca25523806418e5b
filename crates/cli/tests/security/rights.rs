//! An agent's processes get no more rights if they detach, hide or kill other processes.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::mpsc;

use rustix::process::Signal;
use segue_testkit::processes::wait_gone;
use segue_testkit::scene::{daemon_pid, pid, wait_session, write_project};
use segue_testkit::world::DEADLINE;
use segue_testkit::{CommandOutcome, World, launches, processes, wait};
use serde_json::Value;

/// A script that stops the listening process, connects, passes the connection to a child, and ends.
/// Then the child lets the listener continue, and sends the request.
const CONNECT_AND_END: &str = r#"
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

/// The agent of `coder`. It runs the scripts whose names it reads from a pipe. Any user may write
/// to that pipe.
const AGENT: &str = r#"
while :; do
    # Nothing is read if the writer of the last name has not closed the pipe yet.
    read -r script <go || continue
    sh "./$script" >"$script.out" 2>"$script.err" </dev/null
    echo $? >"$script.new"
    mv "$script.new" "$script.status"
done
"#;

/// Creates a world with two sessions: `coder`, whose agent runs scripts and has permission `ask`,
/// and `loose`, which has permission `auto`.
fn world(is_privileged: bool) -> World {
    let mut world = crate::world();
    if !is_privileged {
        world.drop_privileges();
    }
    world.set("WITNESS", "amber-in-the-environment");
    world.write("agent.sh", AGENT);
    world.write("connect.pl", CONNECT_AND_END);
    let made = Command::new("mkfifo").args(["-m", "666"]).arg(world.project().join("go")).status();
    assert!(made.unwrap().success());
    write_project(&world, "[vendors.shell]\ncommand = [\"sh\", \"./agent.sh\"]\n");
    world.ok(["run", "-d", "--vendor", "shell", "--name", "coder"]);
    world.ok(["run", "-d", "--vendor", "demo", "--name", "loose", "--permission", "auto", "hello"]);
    world
}

/// Makes the agent of `coder` run a script. In it `$SEGUE` is the program under test.
fn start_as_agent(world: &World, name: &str, script: &str) {
    world.write(name, &format!("SEGUE={}\n{script}\n", world.program().display()));
    fs::write(world.project().join("go"), format!("{name}\n")).unwrap();
}

/// Makes the agent of `coder` run a script, and waits for its end.
fn run_as_agent(world: &World, name: &str, script: &str) -> CommandOutcome {
    start_as_agent(world, name, script);
    let file = |what: &str| world.project().join(format!("{name}.{what}"));
    wait_for_file(&file("status"));
    let read = |what: &str| String::from_utf8_lossy(&fs::read(file(what)).unwrap()).into_owned();
    let status = read("status").trim().parse().unwrap();
    CommandOutcome { status, stdout: read("out"), stderr: read("err") }
}

fn wait_for_file(path: &Path) {
    wait::until(&[path.parent().unwrap()], &path.display().to_string(), || path.exists());
}

/// Returns the pid of a session's holder.
fn holder_of(world: &World, name: &str) -> u32 {
    pid(&world.session(name), "holder_pid")
}

/// A process of `coder` that runs a script in a new process session and an empty environment.
struct Fugitive<'a> {
    world: &'a World,
    folder: PathBuf,
}

impl<'a> Fugitive<'a> {
    /// Starts the process. `$SEGUE` is the program, and the files `out` and `err` get its output.
    fn start(world: &'a World, script: &str) -> Self {
        Self::start_through(world, |start| format!("setsid {start} &"), script)
    }

    /// Starts the process with the command that `through` makes from the command line that clears
    /// the environment.
    fn start_through(world: &'a World, through: impl FnOnce(&str) -> String, script: &str) -> Self {
        let folder = world.project();
        let text = format!(
            "echo $$ >pid.new; mv pid.new pid; exec >>out 2>>err; SEGUE={}\n{script}\n",
            world.program().display()
        );
        world.write("fugitive.sh", &text);
        let home =
            format!("HOME={} SEGUE_HOME={}", world.home().display(), world.segue_home().display());
        let start = through(&format!("env -i {home} PATH=$PATH sh ./fugitive.sh"));
        // This does not wait, because the agent may end with its holder before it writes its status.
        start_as_agent(world, "start.sh", &start);
        Self { world, folder }
    }

    /// Waits until the process has started; returns its pid.
    fn pid(&self) -> u32 {
        wait_for_file(&self.folder.join("pid"));
        self.read("pid").trim().parse().unwrap()
    }

    fn read(&self, file: &str) -> String {
        fs::read_to_string(self.folder.join(file)).unwrap_or_default()
    }

    /// Waits until the process is gone. Checks that it learned nothing about other sessions. It may see
    /// its own session until its killed holder is gone.
    #[track_caller]
    fn assert_ended_with_nothing(&self) {
        wait_gone(self.pid());
        let is_own = |line: &str| line.starts_with("NAME ") || line.contains("/coder ");
        let out = self.read("out");
        assert!(out.lines().all(is_own), "{out}{}", self.read("err"));
        let names: Vec<Value> = self.world.sessions().iter().map(|it| it["name"].clone()).collect();
        assert_eq!(names, ["coder", "loose"]);
        assert_eq!(self.world.session("loose")["launches"], 1);
    }
}

/// Requests everything that an agent must not get, until the process is ended.
const REQUEST_FOREVER: &str = "while :; do \
    $SEGUE ls --all; $SEGUE stop loose; \
    $SEGUE run -d --permission auto --vendor demo --name out hello; done";

/// An agent's process kills its holder. Checks that it gets nothing and is ended.
fn assert_killed_holder_gives_no_rights(is_privileged: bool) {
    let world = world(is_privileged);
    let holder = holder_of(&world, "coder");
    let fugitive = Fugitive::start(&world, &format!("kill -9 {holder}; {REQUEST_FOREVER}"));
    fugitive.assert_ended_with_nothing();
}

#[test]
fn killing_its_holder_gives_an_agent_no_rights_and_ends_its_processes() {
    assert_killed_holder_gives_no_rights(true);
}

#[test]
fn killing_its_holder_gives_an_agent_without_a_cgroup_no_rights_and_ends_its_processes() {
    assert_killed_holder_gives_no_rights(false);
}

#[test]
fn killing_daemon_and_holder_gives_an_agent_in_a_cgroup_no_rights() {
    if segue_host::cgroup::check().is_err() {
        return;
    }
    let world = world(true);
    let holder = holder_of(&world, "coder");
    let daemon = daemon_pid(&world);
    let script = format!("kill -9 {daemon} {holder}; echo >killed; {REQUEST_FOREVER}");
    let fugitive = Fugitive::start(&world, &script);
    wait_for_file(&world.project().join("killed"));
    // A person starts the next daemon, which finds the processes that are left.
    world.ok(["ls"]);
    fugitive.assert_ended_with_nothing();
}

#[test]
fn nested_cgroup_with_any_name_gives_an_agent_no_rights() {
    if segue_host::cgroup::check().is_err() {
        return;
    }
    let world = world(true);
    let holder = holder_of(&world, "coder");
    let daemon = daemon_pid(&world);
    let script = format!(
        "mount=$(sed -n 's/^[^ ]* [^ ]* [^ ]* [^ ]* \\([^ ]*\\) .* - cgroup2 .*/\\1/p' /proc/self/mountinfo)\n\
         own=$mount$(sed -n 's/^0:://p' /proc/self/cgroup)/$(printf '\\377')\n\
         mkdir \"$own\" && echo 0 >\"$own/cgroup.procs\" || exit\n\
         kill -9 {daemon} {holder}; echo >killed; {REQUEST_FOREVER}"
    );
    let fugitive = Fugitive::start(&world, &script);
    wait_for_file(&world.project().join("killed"));
    world.ok(["ls"]);
    fugitive.assert_ended_with_nothing();
}

#[test]
fn variable_of_an_attention_command_does_not_protect_an_agents_process() {
    let world = world(false);
    let holder = holder_of(&world, "coder");
    let through = |start: &str| format!("setsid {} &", start.replace("-i", "-i SEGUE_REASON=x"));
    let script = format!("kill -9 {holder}; {REQUEST_FOREVER}");
    Fugitive::start_through(&world, through, &script).assert_ended_with_nothing();
}

#[test]
fn unmarked_child_of_a_marked_process_is_ended_with_the_launch() {
    let world = world(false);
    let holder = holder_of(&world, "coder");
    let through = |start: &str| {
        format!("setsid sh -c 'trap \"\" HUP TERM; {start} & while :; do sleep 600; done' &")
    };
    let script = format!("kill -9 {holder}; {REQUEST_FOREVER}");
    Fugitive::start_through(&world, through, &script).assert_ended_with_nothing();
}

/// A script that stops its holder. Then it forks and ends all the time, in several chains, so that
/// hardly any scan sees all of its processes. They share a lock, which is free when the last process
/// has ended.
const FORKING: &str = r#"
use Fcntl ':flock';
use POSIX 'setsid';
my ($holder, $folder) = @ARGV;
open(my $lock, '>', "$folder/lock") or die $!;
flock($lock, LOCK_EX) or die $!;
kill 'STOP', $holder;
open(my $file, '>', "$folder/started") or die $!;
for (1 .. 2) { fork or last }
while (1) {
    my $child = fork;
    next unless defined $child;
    exit if $child;
    setsid;
}
"#;

/// Checks that `segue stop` ends processes that fork and end all the time.
fn assert_stop_ends_forking(is_privileged: bool) {
    let world = world(is_privileged);
    world.write("forking.pl", FORKING);
    let holder = holder_of(&world, "coder");
    let folder = world.project().display().to_string();
    let start = format!("setsid env -i PATH=$PATH perl {folder}/forking.pl {holder} {folder} &");
    start_as_agent(&world, "start.sh", &start);
    wait_for_file(&world.project().join("started"));
    world.ok(["stop", "coder"]);
    let lock = fs::File::open(world.project().join("lock")).unwrap();
    let (sender, ended) = mpsc::channel();
    std::thread::spawn(move || sender.send(lock.lock()));
    ended.recv_timeout(DEADLINE).unwrap().unwrap();
}

#[test]
fn stop_ends_processes_that_fork_and_end_all_the_time() {
    assert_stop_ends_forking(true);
}

#[test]
fn stop_ends_processes_that_fork_and_end_all_the_time_without_a_cgroup() {
    assert_stop_ends_forking(false);
}

/// A program whose first thread ends while another thread goes on.
const LEADERLESS: &str = r#"
#include <pthread.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>
static void *go_on(void *leader) {
    pthread_join(*(pthread_t *)leader, NULL);
    FILE *file = fopen("pid.new", "w");
    fprintf(file, "%d\n", getpid());
    fclose(file);
    rename("pid.new", "pid");
    for (;;) pause();
}
int main(void) {
    static pthread_t leader;
    pthread_t other;
    leader = pthread_self();
    pthread_create(&other, NULL, go_on, &leader);
    pthread_exit(NULL);
}
"#;

/// Checks that `segue stop` ends a process whose first thread has ended.
fn assert_stop_ends_leaderless(is_privileged: bool) {
    let world = world(is_privileged);
    world.write("leaderless.c", LEADERLESS);
    let (source, program) =
        (world.project().join("leaderless.c"), world.project().join("leaderless"));
    let built = Command::new("cc").arg("-pthread").arg("-o").arg(&program).arg(&source).status();
    assert!(built.unwrap().success());
    start_as_agent(&world, "start.sh", "setsid env -i ./leaderless &");
    let pid = world.project().join("pid");
    wait_for_file(&pid);
    let pid = fs::read_to_string(pid).unwrap().trim().parse().unwrap();
    world.ok(["stop", "coder"]);
    wait_gone(pid);
}

#[test]
fn stop_ends_a_process_whose_first_thread_has_ended() {
    assert_stop_ends_leaderless(true);
}

#[test]
fn stop_ends_a_process_whose_first_thread_has_ended_without_a_cgroup() {
    assert_stop_ends_leaderless(false);
}

#[test]
fn doctor_shows_an_agent_nothing_about_other_sessions() {
    let world = world(true);
    let loose = holder_of(&world, "loose");
    // A stopped holder is a finding that names its session.
    processes::send(loose, Signal::STOP);
    let outcome = run_as_agent(&world, "doctor.sh", "$SEGUE doctor");
    let found = world.segue(["doctor"]).stdout;
    processes::send(loose, Signal::CONT);
    assert!(found.contains("project/loose"), "{found}");
    assert!(!outcome.stdout.contains("loose"), "{outcome:#?}");
}

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
fn doctor_reports_which_protection_is_active() {
    let protection = |world: &World| {
        let report = world.ok(["doctor"]);
        report.lines().find(|line| line.contains("are identified by")).unwrap().to_owned()
    };
    let unprivileged = world(false);
    assert!(protection(&unprivileged).contains("by their ancestry: no cgroup can be made here"));
    drop(unprivileged);
    if segue_host::cgroup::check().is_ok() {
        assert!(protection(&world(true)).contains("by their cgroups"));
    }
}

#[test]
fn stopped_agent_leaves_no_cgroup() {
    let world = world(true);
    let launch = launches::newest_id(&world, &world.session("coder"));
    assert_eq!(segue_host::cgroup::exists(launch), segue_host::cgroup::check().is_ok());
    world.ok(["stop", "coder"]);
    assert!(!segue_host::cgroup::exists(launch));
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

#[test]
fn error_about_a_name_shows_an_agent_nothing_about_other_sessions() {
    let world = world(true);
    let loose = world.session("loose")["id"].as_str().unwrap().to_owned();
    // No other id has this prefix.
    let prefix = &loose[..30];
    let script = format!("$SEGUE show {prefix}; $SEGUE show loose; $SEGUE show nobody");
    let outcome = run_as_agent(&world, "run.sh", &script);
    assert!(!outcome.stderr.contains(&loose), "{outcome:#?}");
    let errors: Vec<&str> =
        outcome.stderr.lines().filter(|line| line.starts_with("error")).collect();
    assert!(errors.len() == 3 && errors.windows(2).all(|it| it[0] == it[1]), "{outcome:#?}");
}
