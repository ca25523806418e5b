//! Tests of the step between a holder and its agent, before the agent runs.

use std::fs;

use segue_core::model::TerminalSize;
use segue_core::ports::Holders as _;
use segue_core::{Kind, rules};

use super::fixture::{HoldFixture, TestLaunch, code};

/// Makes the dynamic linker print a warning before any program begins.
const MISSING_LIBRARY: (&str, &str) = ("LD_PRELOAD", "/nonexistent.so");
const WARNING: &str = "object '/nonexistent.so' from LD_PRELOAD cannot be preloaded";

/// Records the number and the file of every open descriptor.
const DESCRIPTORS: &str = "ls -l /proc/self/fd > printed; exit 1";

/// Returns the descriptors that an agent printed, without the first three and those that every
/// program inherits from this test.
fn inherited(printed: &str) -> Vec<String> {
    let links = printed.lines().filter_map(|line| line.split_once(" -> "));
    let links = links.map(|(facts, file)| (facts.rsplit(' ').next().unwrap(), file));
    let others = links.filter(|(number, file)| {
        let ours = fs::read_link(format!("/proc/self/fd/{number}"));
        let is_ours = ours.is_ok_and(|ours| ours.as_os_str() == *file);
        // The program has the folder open that it lists.
        !is_ours && !["0", "1", "2"].contains(number) && !file.starts_with("/proc/")
    });
    others.map(|(number, file)| format!("{number} {file}")).collect()
}

#[tokio::test]
async fn warning_before_exec_does_not_fail_the_start_and_is_on_the_terminal() {
    let fixture = HoldFixture::new();
    let mut wanted = fixture.shell("title up; read line");
    wanted.variables.push(MISSING_LIBRARY);
    let (launch, _) = fixture.start(&wanted).await;
    fixture.titled(launch, "up").await;
    let history = fixture.holders.history(launch).await.unwrap().unwrap();
    let history = String::from_utf8(history).unwrap();
    // Once for the step before the agent, and once for the agent.
    assert_eq!(history.matches(WARNING).count(), 2, "{history}");
}

#[tokio::test]
async fn warning_before_exec_is_in_the_error_log_of_a_headless_agent() {
    let fixture = HoldFixture::new();
    let mut wanted = fixture.shell("echo out; exit 3");
    wanted.variables.push(MISSING_LIBRARY);
    wanted.headless = true;
    let (launch, _) = fixture.start(&wanted).await;
    assert_eq!(fixture.ended(launch).await.exit, code(3));
    let folder = fixture.paths.launch(launch);
    assert_eq!(fs::read_to_string(folder.join("stream.jsonl")).unwrap(), "out\n");
    let errors = fs::read_to_string(folder.join("stderr.log")).unwrap();
    assert_eq!(errors.matches(WARNING).count(), 2, "{errors}");
}

#[tokio::test]
async fn failed_start_is_reported_even_after_other_output() {
    let fixture = HoldFixture::new();
    let mut wanted = fixture.shell("");
    wanted.variables.push(MISSING_LIBRARY);
    wanted.argv = vec!["/no/such/program".to_owned()];
    let error = fixture.try_start(&wanted).await.1.unwrap_err();
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
        let mut wanted = fixture.shell(DESCRIPTORS);
        wanted.headless = headless;
        let (launch, _) = fixture.start(&wanted).await;
        assert_eq!(fixture.ended(launch).await.exit, code(1));
        let printed = fs::read_to_string(fixture.folder().join("printed")).unwrap();
        assert!(printed.lines().count() > 3, "{printed}");
        assert_eq!(inherited(&printed), Vec::<String>::new(), "headless: {headless}");
    }
}

#[tokio::test]
async fn terminal_starts_with_the_requested_size_within_limits() {
    let fixture = HoldFixture::new();
    let table = [((33, 91), "33 91"), ((0, 0), "40 120"), ((u16::MAX, u16::MAX), "500 1000")];
    for ((rows, cols), printed) in table {
        let mut wanted = fixture.shell("stty size; title up; read line");
        wanted.size = TerminalSize { rows, cols };
        let (launch, _) = fixture.start(&wanted).await;
        fixture.titled(launch, "up").await;
        let snapshot = fixture.snapshot(launch).await;
        assert_eq!(snapshot.rows[0], printed);
        assert_eq!(format!("{} {}", snapshot.size.rows, snapshot.size.cols), printed);
        let environment = fixture.holders.environment(launch).await.unwrap().unwrap();
        assert_eq!(rules::terminal::size(&environment), snapshot.size, "for the next launch");
    }
}
