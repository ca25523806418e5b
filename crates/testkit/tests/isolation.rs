//! Tests of `isolated`: an isolated test reaches no network, reports its failure, and leaves no
//! process behind.

use std::env;
use std::fs;
use std::io::ErrorKind;
use std::net::{TcpListener, TcpStream, UdpSocket};
use std::path::PathBuf;
use std::process::{Command, Stdio};

use segue_testkit::{isolated, launches, processes};

#[test]
fn an_isolated_test_sees_only_the_loopback_interface() {
    isolated(|| {
        let interfaces = fs::read_to_string("/proc/self/net/dev").unwrap();
        let names: Vec<&str> =
            interfaces.lines().skip(2).map(|it| it.split(':').next().unwrap().trim()).collect();
        assert_eq!(names, ["lo"]);
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let socket = UdpSocket::bind("0.0.0.0:0").unwrap();
        let refused = socket.connect("192.0.2.1:53").unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::NetworkUnreachable);
    });
}

#[test]
#[should_panic(expected = "`a_failure_of_an_isolated_test_is_reported` failed in isolation")]
fn a_failure_of_an_isolated_test_is_reported() {
    isolated(|| panic!("this failure is intended"));
}

/// The environment variable with the folder in which `runs_until_it_is_killed` creates a file when
/// it has started.
const MARK: &str = "SEGUE_TEST_ISOLATION_MARK";

#[test]
#[ignore = "not a test of its own: the test below starts and kills it"]
fn runs_until_it_is_killed() {
    let Some(folder) = env::var_os(MARK).map(PathBuf::from) else { return };
    isolated(|| {
        let mut stray = Command::new("setsid").args(["sleep", "1000"]).spawn().unwrap();
        fs::write(folder.join("there"), "").unwrap();
        stray.wait().unwrap();
    });
}

#[test]
fn killing_an_isolated_test_ends_all_its_processes() {
    let folder = tempfile::tempdir().unwrap();
    let mut test = Command::new(env::current_exe().unwrap());
    test.args(["--exact", "runs_until_it_is_killed", "--ignored"]).env(MARK, folder.path());
    let mut test = test.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let there = folder.path().join("there");
    launches::wait_until(&[folder.path()], "a process inside", || there.exists());
    let all = processes::mentioning(folder.path());
    assert!(all.len() > 3, "fewer than outer test, first process, inner test and stray: {all:?}");
    test.kill().unwrap();
    test.wait().unwrap();
    all.into_iter().for_each(processes::wait_gone);
}
