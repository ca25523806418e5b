//! Tests of the process that a holder starts, before it executes the agent.

use std::fs;

use segue_core::model::TerminalSize;
use segue_core::ports::Holders as _;
use segue_core::{Kind, rules};

use super::fixture::{HoldFixture, TestLaunch, exit_code};

/// Makes the dynamic linker print a warning whenever a program starts.
const MISSING_LIBRARY: (&str, &str) = ("LD_PRELOAD", "/nonexistent.so");
const WARNING: &str = "object '/nonexistent.so' from LD_PRELOAD cannot be preloaded";

/// Writes the number and the file of every open descriptor to a file.
const LIST_DESCRIPTORS: &str = "ls -l /proc/self/fd > printed; exit 1";

/// Returns the listed descriptors, without the standard ones and those that every program inherits
/// from this test.
fn inherited_from_holder(printed: &str) -> Vec<String> {
    let links = printed.lines().filter_map(|line| line.split_once(" -> "));
    let links = links.map(|(details, file)| (details.rsplit(' ').next().unwrap(), file));
    let inherited = links.filter(|(number, file)| {
        let own_file = fs::read_link(format!("/proc/self/fd/{number}"));
        let is_of_test = own_file.is_ok_and(|own_file| own_file.as_os_str() == *file);
        // `ls` has the folder open that it lists.
        !is_of_test && !["0", "1", "2"].contains(number) && !file.starts_with("/proc/")
    });
    inherited.map(|(number, file)| format!("{number} {file}")).collect()
}

#[tokio::test]
async fn warning_before_exec_does_not_fail_the_start_and_is_on_the_terminal() {
    let fixture = HoldFixture::new();
    let mut test_launch = fixture.shell("title up; read line");
    test_launch.variables.push(MISSING_LIBRARY);
    let (launch, _) = fixture.start(&test_launch).await;
    fixture.wait_for_title(launch, "up").await;
    let history = fixture.holders.history(launch).await.unwrap().unwrap();
    let history = String::from_utf8(history).unwrap();
    // The linker warns twice: before `exec-agent` and before the agent.
    assert_eq!(history.matches(WARNING).count(), 2, "{history}");
}

#[tokio::test]
async fn warning_before_exec_is_in_the_error_log_of_a_headless_agent() {
    let fixture = HoldFixture::new();
    let mut test_launch = fixture.shell("echo out; exit 3");
    test_launch.variables.push(MISSING_LIBRARY);
    test_launch.headless = true;
    let (launch, _) = fixture.start(&test_launch).await;
    assert_eq!(fixture.wait_for_end(launch).await.exit, exit_code(3));
    let folder = fixture.paths.launch(launch);
    assert_eq!(fs::read_to_string(folder.join("stream.jsonl")).unwrap(), "out\n");
    let errors = fs::read_to_string(folder.join("stderr.log")).unwrap();
    assert_eq!(errors.matches(WARNING).count(), 2, "{errors}");
}

#[tokio::test]
async fn failed_start_is_reported_despite_other_output() {
    let fixture = HoldFixture::new();
    let mut test_launch = fixture.shell("");
    test_launch.variables.push(MISSING_LIBRARY);
    test_launch.argv = vec!["/no/such/program".to_owned()];
    let error = fixture.try_start(&test_launch).await.1.unwrap_err();
    assert_eq!(error.message, "cannot start `/no/such/program`");
}

#[tokio::test]
async fn agent_does_not_start_in_a_folder_that_became_a_symlink() {
    let fixture = HoldFixture::new();
    let real = fixture.folder().join("real");
    let link = fixture.folder().join("link");
    fs::create_dir(&real).unwrap();
    std::os::unix::fs::symlink(&real, &link).unwrap();
    let (_, result) = fixture.try_start(&TestLaunch { cwd: link, ..fixture.shell("pwd") }).await;
    let error = result.unwrap_err();
    assert_eq!(error.kind, Kind::Conflict);
    assert!(error.message.ends_with("link` was replaced meanwhile"), "{error}");
    fixture.start(&TestLaunch { cwd: real.canonicalize().unwrap(), ..fixture.shell("pwd") }).await;
}

#[tokio::test]
async fn agent_inherits_no_descriptor_of_its_holder() {
    let fixture = HoldFixture::new();
    for headless in [false, true] {
        let mut test_launch = fixture.shell(LIST_DESCRIPTORS);
        test_launch.headless = headless;
        let (launch, _) = fixture.start(&test_launch).await;
        assert_eq!(fixture.wait_for_end(launch).await.exit, exit_code(1));
        let printed = fs::read_to_string(fixture.folder().join("printed")).unwrap();
        assert!(printed.lines().count() > 3, "{printed}");
        assert_eq!(inherited_from_holder(&printed), Vec::<String>::new(), "headless: {headless}");
    }
}

#[tokio::test]
async fn terminal_starts_with_the_requested_size_within_limits() {
    let fixture = HoldFixture::new();
    let table = [((33, 91), "33 91"), ((0, 0), "40 120"), ((u16::MAX, u16::MAX), "500 1000")];
    for ((rows, cols), expected) in table {
        let mut test_launch = fixture.shell("stty size; title up; read line");
        test_launch.size = TerminalSize { rows, cols };
        let (launch, _) = fixture.start(&test_launch).await;
        fixture.wait_for_title(launch, "up").await;
        let snapshot = fixture.snapshot(launch).await;
        assert_eq!(snapshot.rows[0], expected);
        assert_eq!(format!("{} {}", snapshot.size.rows, snapshot.size.cols), expected);
        let environment = fixture.holders.environment(launch).await.unwrap().unwrap();
        assert_eq!(
            rules::terminal::size(&environment),
            snapshot.size,
            "the next launch gets another size"
        );
    }
}
