//! Isolated tests reach nothing, fail when they fail, and leave nothing behind.

use std::env;
use std::fs;
use std::io::ErrorKind;
use std::net::{TcpListener, TcpStream, UdpSocket};
use std::path::PathBuf;
use std::process::{Command, Stdio};

use segue_testkit::{isolated, launches, processes};

#[test]
fn only_loopback_is_there() {
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
#[should_panic(expected = "`a_failure_inside_is_one_outside` failed in isolation")]
fn a_failure_inside_is_one_outside() {
    isolated(|| panic!("as it shall"));
}

/// Names the folder in which `stays` says that it is there.
const MARK: &str = "SEGUE_TEST_ISOLATION_MARK";

#[test]
#[ignore = "runs until it is killed, for the test below"]
fn stays() {
    let Some(folder) = env::var_os(MARK).map(PathBuf::from) else { return };
    isolated(|| {
        let mut stray = Command::new("setsid").args(["sleep", "1000"]).spawn().unwrap();
        fs::write(folder.join("there"), "").unwrap();
        stray.wait().unwrap();
    });
}

#[test]
fn nothing_outlives_a_test_that_is_killed() {
    let folder = tempfile::tempdir().unwrap();
    let mut test = Command::new(env::current_exe().unwrap());
    test.args(["--exact", "stays", "--ignored"]).env(MARK, folder.path());
    let mut test = test.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let there = folder.path().join("there");
    launches::wait_until(&[folder.path()], "a process inside", || there.exists());
    let all = processes::mentioning(folder.path());
    assert!(all.len() > 3, "the test, its first process, itself again, and a stray: {all:?}");
    test.kill().unwrap();
    test.wait().unwrap();
    all.into_iter().for_each(processes::wait_gone);
}
