//! Commands and errors that need no daemon. No test here starts one.

use std::ffi::OsStr;
use std::fs;
use std::io::Write as _;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use tempfile::TempDir;

/// A folder that is the home, the working directory and the place of Segue's own files.
struct IsolatedHome {
    folder: TempDir,
}

impl IsolatedHome {
    fn new() -> Self {
        Self { folder: TempDir::new().unwrap() }
    }

    fn path(&self) -> &Path {
        self.folder.path()
    }

    fn segue(&self) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_segue"));
        command.env_clear().env("HOME", self.path()).env("SEGUE_HOME", self.path().join("segue"));
        command.current_dir(self.path()).stdin(Stdio::null());
        command
    }

    fn run(&self, arguments: &[&str]) -> Output {
        self.segue().args(arguments).output().unwrap()
    }

    fn run_with_input(&self, arguments: &[&str], input: &[u8]) -> Output {
        let mut command = self.segue();
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.args(arguments).spawn().unwrap();
        child.stdin.take().unwrap().write_all(input).unwrap();
        child.wait_with_output().unwrap()
    }
}

/// Returns the exit status, standard output and standard error.
fn parts(output: &Output) -> (Option<i32>, String, String) {
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    (output.status.code(), text(&output.stdout), text(&output.stderr))
}

#[test]
fn invalid_command_line_exits_with_2_and_prints_to_standard_error() {
    let expected = "\
error: the following required arguments were not provided: <SESSION|VENDOR:ID>
hint: run `segue show --help` to see how it is used
";
    let output = IsolatedHome::new().run(&["show"]);
    assert_eq!(parts(&output), (Some(2), String::new(), expected.to_owned()));
}

#[test]
fn json_flag_prints_errors_as_json_on_standard_output() {
    let (status, stdout, stderr) = parts(&IsolatedHome::new().run(&["fork", "x", "--json"]));
    assert_eq!(status, Some(2));
    assert_eq!(
        stdout,
        "{\"error\":{\"kind\":\"usage\",\"message\":\"`segue fork` is not built yet\",\
         \"causes\":[],\"hints\":[\"run `segue --help` to see the commands of this version\"]}}\n",
    );
    assert!(stderr.starts_with("error: `segue fork` is not built yet\n"), "{stderr}");
}

#[test]
fn argument_that_is_not_utf8_is_refused() {
    let home = IsolatedHome::new();
    let mut command = home.segue();
    let output = command.arg("run").arg(OsStr::from_bytes(b"caf\xe9")).output().unwrap();
    let (status, stdout, stderr) = parts(&output);
    assert_eq!((status, stdout.as_str()), (Some(2), ""));
    assert!(stderr.starts_with("error: argument 2 is not UTF-8"), "{stderr}");
}

#[test]
fn control_sequences_in_arguments_are_not_printed_in_errors() {
    let (status, _, stderr) = parts(&IsolatedHome::new().run(&["\u{1b}[2J\u{9b}31mx"]));
    assert_eq!(status, Some(2));
    assert!(!stderr.contains(|c: char| c.is_control() && c != '\n'), "{stderr:?}");
}

#[test]
fn help_and_version_go_to_standard_output() {
    let home = IsolatedHome::new();
    for arguments in [&["--help"][..], &["resume", "--help"], &["--version"]] {
        let (status, stdout, stderr) = parts(&home.run(arguments));
        assert_eq!((status, stderr.as_str()), (Some(0), ""), "{arguments:?}");
        assert!(stdout.contains("segue"), "{arguments:?}: {stdout}");
    }
}

#[test]
fn closed_standard_output_is_no_error() {
    let home = IsolatedHome::new();
    let mut command = home.segue();
    command.args(["completions", "zsh"]).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!(parts(&output), (Some(0), String::new(), String::new()));
}

#[test]
fn failed_write_to_standard_output_is_an_error() {
    let full = fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let output =
        IsolatedHome::new().segue().args(["completions", "zsh"]).stdout(full).output().unwrap();
    let (status, _, stderr) = parts(&output);
    assert_eq!(status, Some(1));
    assert!(stderr.starts_with("error: cannot write to standard output\n"), "{stderr}");
}

#[test]
fn invalid_prompt_is_refused_before_anything_is_started() {
    let home = IsolatedHome::new();
    let table: [(&[u8], &str); 3] = [
        (b"a\0b", "error: the prompt has a zero byte at offset 1\n"),
        (b"\n", "error: the prompt is empty\n"),
        (b"caf\xe9", "error: the prompt on standard input is not UTF-8\n"),
    ];
    for (input, expected) in table {
        let (status, stdout, stderr) = parts(&home.run_with_input(&["run", "-d", "-"], input));
        assert_eq!((status, stdout.as_str()), (Some(2), ""), "{stderr}");
        assert!(stderr.starts_with(expected), "{stderr}");
    }
    let (status, _, stderr) = parts(&home.run(&["run", "--headless"]));
    assert_eq!(status, Some(2));
    assert!(stderr.starts_with("error: a headless run needs a prompt\n"), "{stderr}");
    assert!(!home.path().join("segue").exists());
}

#[test]
fn attach_needs_a_terminal() {
    let (status, stdout, stderr) = parts(&IsolatedHome::new().run(&["attach", "coder"]));
    assert_eq!((status, stdout.as_str()), (Some(2), ""));
    assert!(stderr.starts_with("error: `segue attach` needs a terminal\n"), "{stderr}");
}

#[test]
fn init_writes_a_project_and_never_overwrites() {
    let home = IsolatedHome::new();
    fs::create_dir(home.path().join("prompts")).unwrap();
    fs::write(home.path().join("prompts/coder.md"), "mine").unwrap();

    let (status, stdout, _) = parts(&home.run(&["init"]));
    assert_eq!(status, Some(0));
    assert_eq!(
        stdout,
        "wrote prompts/reviewer.md\nwrote prompts/start.md\nwrote segue.toml\n\
         left prompts/coder.md alone\n",
    );
    assert_eq!(fs::read_to_string(home.path().join("prompts/coder.md")).unwrap(), "mine");

    fs::write(home.path().join("segue.toml"), "mine too").unwrap();
    fs::remove_file(home.path().join("prompts/start.md")).unwrap();
    let (status, stdout, _) = parts(&home.run(&["init", "--json"]));
    assert_eq!(status, Some(0));
    assert_eq!(stdout, "{\"written\":[],\"left_alone\":[\"segue.toml\"]}\n");
    assert_eq!(fs::read_to_string(home.path().join("segue.toml")).unwrap(), "mine too");
    assert!(!home.path().join("prompts/start.md").exists());
}

#[test]
fn init_that_cannot_write_names_the_file() {
    let home = IsolatedHome::new();
    fs::write(home.path().join("prompts"), "a file where a folder is needed").unwrap();
    let (status, stdout, stderr) = parts(&home.run(&["init"]));
    assert_eq!((status, stdout.as_str()), (Some(1), ""));
    assert!(stderr.starts_with("error: cannot write `prompts/coder.md`\n  caused by:"), "{stderr}");
    assert!(!home.path().join("segue.toml").exists());
}

#[test]
fn manual_pages_of_all_commands_can_be_written() {
    let home = IsolatedHome::new();
    let (status, stdout, stderr) = parts(&home.run(&["man", "pages"]));
    assert_eq!((status, stdout.as_str(), stderr.as_str()), (Some(0), "", ""));
    for page in ["segue.1", "segue-run.1", "segue-handoff.1"] {
        assert!(home.path().join("pages").join(page).is_file(), "{page}");
    }
    assert!(!home.path().join("pages/segue-fork.1").exists());
}
