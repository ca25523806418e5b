//! Completion in a real shell, and the candidates that the program prints for other shells.

use std::fs;
use std::os::unix::fs::symlink;
use std::process::Command;

use segue_testkit::stand_in::StandIn;
use segue_testkit::{CommandOutcome, Terminal, World, scene};

use super::agents;

/// Timeout for completion in tests. A loaded machine may need longer than the default of 0.3 s.
const TIMEOUT: &str = "170s";

/// Puts `segue` on the `PATH` of a world.
fn put_on_path(world: &mut World) {
    let programs = world.root().join("bin");
    fs::create_dir(&programs).unwrap();
    symlink(world.program(), programs.join("segue")).unwrap();
    world.set("PATH", format!("{}:/usr/bin:/bin", programs.display()));
}

/// Returns the completion output for a command line whose last word is incomplete.
fn candidates(world: &World, shell: &str, line: &[&str]) -> CommandOutcome {
    let mut command = world.command(["--"].iter().chain(line));
    command.env("SEGUE_COMPLETE", shell).env("_CLAP_COMPLETE_INDEX", (line.len() - 1).to_string());
    command.env("_CLAP_IFS", "\n").env("SEGUE_COMPLETE_WAIT", TIMEOUT);
    CommandOutcome::of(&mut command)
}

/// Returns the sorted words that bash is offered, without options.
fn words(world: &World, line: &[&str]) -> Vec<String> {
    let outcome = candidates(world, "bash", line);
    assert_eq!((outcome.status, outcome.stderr.as_str()), (0, ""), "{line:?}");
    let mut words: Vec<String> = outcome.stdout.lines().map(str::to_owned).collect();
    words.retain(|word| !word.starts_with('-'));
    words.sort();
    words
}

#[test]
fn bash_completes_commands_sessions_and_flags_at_the_tab_key() {
    let mut world = agents(&["fox"]);
    put_on_path(&mut world);
    let mut command = Command::new("bash");
    command.args(["--norc", "--noprofile", "-i"]).current_dir(world.project()).env_clear();
    command.envs(world.environment()).env("PS1", "ready> ").env("HISTFILE", "");
    command.env("SEGUE_COMPLETE_WAIT", TIMEOUT);
    let mut shell = Terminal::start(&command, 24, 100);
    shell.wait_for("ready> ");
    shell.write("source <(segue completions bash); echo sour''ced\r");
    shell.wait_for("sourced");
    shell.write("segue att\t");
    shell.wait_for("segue attach ");
    shell.write("f\t");
    shell.wait_for("segue attach fox ");
    shell.write("\u{15}segue ls --sta\t");
    shell.wait_for("segue ls --status");
    shell.write("wor\t");
    shell.wait_for("--status working");
    shell.write("\u{15}exit\r");
    assert_eq!(shell.wait(), 0, "{shell:?}");
}

#[test]
fn completion_offers_names_of_sessions_fleets_agents_and_vendors() {
    let world = crate::world();
    scene::write_agents(&world, "shop", &["coder", "tester"]);
    world.ok(["up"]);
    scene::wait_first_turns(&world);
    world.ok(["stop", "tester"]);
    let table: [(&[&str], &[&str]); 13] = [
        (&["segue", "resu"], &["resume"]),
        (&["segue", "attach", ""], &["coder"]),
        (&["segue", "stop", ""], &["coder", "shop"]),
        (&["segue", "show", ""], &["coder", "tester"]),
        (&["segue", "rm", "co"], &["coder"]),
        (&["segue", "log", "shop/"], &["shop/coder", "shop/tester"]),
        (&["segue", "wait", "s"], &["shop"]),
        (&["segue", "answer", ""], &[]),
        (&["segue", "answer", "coder", ""], &["no", "yes"]),
        (&["segue", "up", ""], &["coder", "tester"]),
        (&["segue", "run", "--agent", "t"], &["tester"]),
        (&["segue", "run", "--vendor", "dem"], &["demo"]),
        (&["segue", "ls", "--fleet", ""], &["shop"]),
    ];
    for (line, expected) in table {
        assert_eq!(words(&world, line), expected, "{line:?}");
    }
    for shell in ["zsh", "fish", "elvish", "powershell"] {
        let answer = candidates(&world, shell, &["segue", "show", "cod"]);
        assert_eq!((answer.status, answer.stderr.as_str()), (0, ""), "{shell}: {answer:#?}");
        assert!(answer.stdout.contains("coder"), "{shell}: {answer:#?}");
    }
}

#[test]
fn completion_starts_no_daemon_and_prints_no_error() {
    let world = crate::world();
    assert_eq!(words(&world, &["segue", "attach", ""]), Vec::<String>::new());
    assert_eq!(words(&world, &["segue", "resu"]), ["resume"]);
    assert!(!world.state().exists(), "completion wrote to SEGUE_HOME");
    assert_eq!(world.json(["daemon", "status", "--json"])["running"], false);
    world.write("segue.toml", "this is no project file");
    assert_eq!(words(&world, &["segue", "up", ""]), Vec::<String>::new());
    let unknown = candidates(&world, "nonsense", &["segue", ""]);
    assert_eq!((unknown.stdout.as_str(), unknown.stderr.as_str()), ("", ""), "{unknown:#?}");
}

#[test]
fn completion_for_an_agent_offers_only_sessions_that_it_may_reach() {
    let world = agents(&["fox", "owl"]);
    assert_eq!(words(&world, &["segue", "show", ""]), ["fox", "owl"]);
    let agent = StandIn::with_new_daemon(&world, &world.session("fox"));
    let variables = "SEGUE_COMPLETE=bash _CLAP_COMPLETE_INDEX=2 _CLAP_IFS=:";
    let outcome =
        agent.run(&format!("SEGUE_COMPLETE_WAIT={TIMEOUT} {variables} $SEGUE -- segue show ''"));
    assert_eq!((outcome.status, outcome.stderr.as_str()), (0, ""), "{outcome:#?}");
    let offered: Vec<&str> =
        outcome.stdout.trim().split(':').filter(|word| !word.starts_with('-')).collect();
    assert_eq!(offered, ["fox"]);
}
