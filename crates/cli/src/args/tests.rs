use clap::CommandFactory as _;

use super::*;
use crate::commands::daemon::DaemonAction;

fn parsed(line: &str) -> Result<SegueArguments, NoCommand> {
    let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
    parse(&words)
}

fn failure(line: &str) -> Error {
    match parsed(line) {
        Err(NoCommand::Failure(error)) => error,
        other => panic!("{line}: {other:?}"),
    }
}

fn command(line: &str) -> SegueCommand {
    parsed(line).unwrap().command.unwrap()
}

#[test]
fn clap_accepts_the_definition_of_the_commands() {
    SegueArguments::command().debug_assert();
}

#[test]
fn valid_command_lines_are_parsed() {
    let lines = [
        "segue",
        "segue --json",
        "segue init",
        "segue up",
        "segue up coder tester --fleet night --fresh coder",
        "segue up --session night",
        "segue up --resume night",
        "segue resume",
        "segue resume shop shop/coder",
        "segue resume --all --plan --json",
        "segue resume --fresh shop/coder",
        "segue run",
        "segue run - --agent a --name n --cwd d --model m --permission ask -d",
        "segue run p --vendor v --headless --wait -- --vendor-flag",
        "segue ls --all --json",
        "segue --json ls",
        "segue attach",
        "segue attach shop/coder",
        "segue stop shop",
        "segue stop --all",
        "segue show coder",
        "segue show shop/coder --last 5 --follow --full",
        "segue show v:1 -n 5 --story --no-pager --json",
        "segue show coder --raw",
        "segue log",
        "segue log coder --follow",
        "segue rm coder --purge --yes",
        "segue doctor --fix",
        "segue trust",
        "segue trust dir --yes",
        "segue daemon",
        "segue daemon start",
        "segue daemon stop",
        "segue daemon status --json",
        "segue daemon run",
        "segue completions bash",
        "segue man dir",
    ];
    for line in lines {
        assert!(parsed(line).is_ok(), "{line}: {:?}", parsed(line));
    }
}

#[test]
fn invalid_command_lines_are_usage_errors_with_a_hint_at_the_help() {
    let lines = [
        "segue nonsense",
        "segue attach a b",
        "segue stop",
        "segue stop a --all",
        "segue resume a --all",
        "segue run --agent a --vendor v",
        "segue run --wait -d p",
        "segue run --permission sudo p",
        "segue run --unknown",
        "segue run one two",
        "segue up --resume a b",
        "segue up --resume a --fleet b",
        "segue show",
        "segue show a --last x",
        "segue show a --raw --follow",
        "segue show a --raw --last 1",
        "segue show a --story --follow",
        "segue rm",
        "segue rm",
        "segue daemon restart",
        "segue completions cmd",
        "segue --unknown",
    ];
    for line in lines {
        let error = failure(line);
        assert_eq!(error.kind.exit_status(), 2, "{line}");
        assert!(!error.message.is_empty() && !error.message.contains('\n'), "{line}: {error:?}");
        assert!(!error.message.starts_with("error"), "{line}: {error:?}");
        assert!(error.hints.last().unwrap().contains("--help` to see"), "{line}: {error:?}");
    }
}

#[test]
fn usage_error_keeps_the_tips_of_clap_and_names_the_command() {
    assert_eq!(
        failure("segue run --vender demo"),
        Error::usage("unexpected argument '--vender' found")
            .hint("did you mean `--vendor`?")
            .hint("if it is the prompt, run `echo PROMPT | segue run -`")
            .hint("run `segue run --help` to see how it is used"),
    );
    let table = [
        ("segue atach", "unknown command 'atach'", "did you mean `attach`?"),
        ("segue daemon strt", "unknown command 'strt'", "did you mean `start` or `status`?"),
        ("segue wait a --for idel", "invalid value 'idel'", "did you mean `idle`?"),
    ];
    for (line, message, hint) in table {
        let error = failure(line);
        assert!(error.message.starts_with(message), "{error:?}");
        assert!(error.hints.contains(&hint.to_owned()), "{error:?}");
    }
    assert_eq!(
        failure("segue show"),
        Error::usage("the following required arguments were not provided: <SESSION|VENDOR:ID>")
            .hint("run `segue show --help` to see how it is used"),
    );
}

#[test]
fn wrong_value_hints_at_the_help_of_its_command() {
    let table = [
        ("segue show a --last x", "show"),
        ("segue --json sho a --last x", "show"),
        ("segue log --last abc", "log"),
        ("segue scale coder abc", "scale"),
        ("segue handoff a --to b --mode bogus", "handoff"),
        ("segue run --permission sudo p", "run"),
        ("segue wait a --timeout soon", "wait"),
        ("segue daemon restart", "daemon"),
    ];
    for (line, command) in table {
        let expected = format!("run `segue {command} --help` to see how it is used");
        assert_eq!(failure(line).hints.last(), Some(&expected), "{line}");
    }
}

#[test]
fn invalid_number_error_describes_a_valid_number() {
    let table = [
        ("segue log --last abc", "'--last <N>': it must be a whole number"),
        ("segue handoff a --to b --budget abc", "'--budget <CHARS>': it must be a whole number"),
        ("segue handoff a --to b --budget ", "'--budget <CHARS>': it must be a whole number"),
        ("segue scale coder abc", "'<N>': it must be a whole number"),
        ("segue scale coder 99999999999", "'<N>': 99999999999 is not in 0..=4294967295"),
    ];
    for (line, expected) in table {
        let message = failure(line).message;
        assert!(message.ends_with(expected), "{line}: {message}");
    }
}

#[test]
fn unknown_handoff_mode_error_lists_the_modes() {
    let message = failure("segue handoff a --to b --mode bogus").message;
    assert!(["auto", "native", "digest"].iter().all(|mode| message.contains(mode)), "{message}");
}

#[test]
fn help_command_prints_the_same_text_as_the_help_flag() {
    let shown = |line: &str| match parsed(line) {
        Err(NoCommand::Show(help)) => help.render().to_string(),
        other => panic!("{line}: {other:?}"),
    };
    assert_eq!(shown("segue help"), shown("segue --help"));
    assert_eq!(shown("segue help show"), shown("segue show --help"));
    assert_eq!(shown("segue --json help sho"), shown("segue show --help"));
    assert_eq!(shown("segue help daemon stop"), shown("segue daemon stop --help"));
    assert_eq!(failure("segue help fork").message, "`segue fork` is not built yet");
    assert!(failure("segue help nonsense").message.contains("nonsense"));
}

#[test]
fn planned_commands_are_usage_errors_that_say_not_built_yet() {
    for command in NOT_BUILT {
        for line in [format!("segue {command} x --y"), format!("segue --json {command} --help")] {
            let error = failure(&line);
            assert_eq!(error.message, format!("`segue {command}` is not built yet"));
            assert_eq!(error.kind.exit_status(), 2);
        }
    }
}

#[test]
fn help_omits_commands_that_are_not_built_yet() {
    let help = SegueArguments::command().render_long_help().to_string();
    for command in NOT_BUILT {
        assert!(!help.contains(&format!("\n  {command} ")), "{command}");
    }
}

#[test]
fn every_command_has_an_example_in_its_help() {
    let command = SegueArguments::command();
    for command in command.get_subcommands() {
        let help = command.clone().render_long_help().to_string();
        assert!(help.contains("Example"), "{}", command.get_name());
        assert!(help.contains("  segue "), "{}", command.get_name());
    }
}

#[test]
fn help_and_version_are_shown_and_are_not_errors() {
    for line in ["segue --help", "segue run -h", "segue --version", "segue -V"] {
        assert!(matches!(parsed(line), Err(NoCommand::Show(_))), "{line}");
    }
}

#[test]
fn json_flag_is_accepted_before_and_after_the_command() {
    for line in ["segue --json ls", "segue ls --json"] {
        assert!(parsed(line).unwrap().json, "{line}");
    }
    let words = |line: &str| line.split(' ').map(str::to_owned).collect::<Vec<String>>();
    assert!(wants_json(&words("segue nonsense --json")));
    assert!(!wants_json(&words("segue run x -- --json")));
}

#[test]
fn session_is_an_alias_of_fleet_and_daemon_stop_is_not_forced_by_default() {
    let SegueCommand::Up(up) = command("segue up --session night") else { panic!() };
    assert_eq!(up.fleet.as_deref(), Some("night"));
    let SegueCommand::Daemon(daemon) = command("segue daemon stop") else { panic!() };
    assert_eq!(
        daemon.action,
        Some(DaemonAction::Stop(daemon::DaemonStopArguments { force: false }))
    );
}
