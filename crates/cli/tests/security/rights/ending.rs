//! Processes of an agent that are hard to end.

use std::fs;
use std::process::Command;
use std::sync::mpsc;

use segue_testkit::launches;
use segue_testkit::processes::wait_gone;
use segue_testkit::world::DEADLINE;

use super::{holder_of, start_as_agent, wait_for_file, world};

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
fn stopped_agent_leaves_no_cgroup() {
    let world = world(true);
    let launch = launches::newest_id(&world, &world.session("coder"));
    assert_eq!(segue_host::cgroup::exists(launch), segue_host::cgroup::check().is_ok());
    world.ok(["stop", "coder"]);
    assert!(!segue_host::cgroup::exists(launch));
}
