//! A demonstration of Segue's main job: a fleet of demo agents is killed and resumed.
//!
//! In a terminal, it opens a shell in which the user can try the commands. Without a terminal, it
//! runs the demonstration by itself, checks the result, and leaves no process running.
#![expect(clippy::print_stdout, reason = "the demonstration is printed on standard output")]
#![expect(clippy::expect_used, reason = "a failed setup must print the reason and stop")]

use std::io::IsTerminal as _;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use segue_testkit::{World, conversation, processes};
use serde_json::Value;

const AGENTS: [(&str, &str); 4] =
    [("coder", "amber"), ("tester", "quartz"), ("reviewer", "cedar"), ("writer", "heron")];

fn main() -> ExitCode {
    let tour = Tour::new();
    tour.bring_up();
    if std::io::stdin().is_terminal() && std::io::stdout().is_terminal() {
        tour.open_shell();
        return ExitCode::SUCCESS;
    }
    match tour.play() {
        Ok(()) => {
            println!("\nEvery agent is back in its own conversation.");
            ExitCode::SUCCESS
        }
        Err(problem) => {
            println!("\nFAILED: {problem}");
            ExitCode::FAILURE
        }
    }
}

struct Tour {
    world: World,
    program: PathBuf,
}

impl Tour {
    fn new() -> Self {
        let own = std::env::current_exe().expect("this program");
        let program = own.with_file_name("segue");
        let world = World::new(&program);
        let mut file = "[fleet]\nname = \"tour\"\n".to_owned();
        for (agent, word) in AGENTS {
            let lines = [
                "\n[[agents]]",
                &format!("name = \"{agent}\""),
                "vendor = \"demo\"",
                &format!("prompt = \"prompts/{agent}.md\"\n"),
            ];
            file += &lines.join("\n");
            world.write(&format!("prompts/{agent}.md"), &format!("remember the word {word}"));
        }
        world.write("segue.toml", &file);
        Self { world, program }
    }

    fn bring_up(&self) {
        println!("Four agents, each told a different word:\n");
        self.world.ok(["trust", "--yes"]);
        self.show(["up"]);
        self.show(["ls"]);
    }

    /// Prints a `segue` command as if it had been typed, runs it, and prints its output. Returns
    /// its exit code.
    fn show<const N: usize>(&self, arguments: [&str; N]) -> i32 {
        println!("$ segue {}", arguments.join(" "));
        let outcome = self.world.segue(arguments);
        print!("{}{}", outcome.stdout, outcome.stderr);
        println!();
        outcome.status
    }

    /// Kills all processes, resumes the fleet, and checks that every agent still knows its word and
    /// that no process is left at the end.
    fn play(&self) -> Result<(), String> {
        for session in self.sessions() {
            conversation::wait_turns(&self.world, &session, 1);
        }
        let killed = self.world.processes();
        println!("$ kill -9 {}", join(&killed));
        self.world.kill_everything();
        println!("(the daemon, every holder and every agent are gone)\n");
        self.show(["ls"]);
        if self.show(["resume"]) != 0 {
            return Err("not every agent is back".to_owned());
        }
        for (session, (agent, word)) in self.sessions().iter().zip(AGENTS) {
            let answer = conversation::ask(&self.world, session, "what is the word?");
            println!("{agent}, what is the word?  {answer}");
            if !answer.contains(word) {
                return Err(format!("{agent} was told {word} and says: {answer}"));
            }
        }
        println!();
        self.show(["stop", "--all"]);
        self.world.ok(["daemon", "stop"]);
        match self.world.processes().into_iter().filter(|pid| processes::is_alive(*pid)).count() {
            0 => Ok(()),
            left => Err(format!("{left} processes are left")),
        }
    }

    /// Returns the sessions in the order of [`AGENTS`].
    fn sessions(&self) -> Vec<Value> {
        AGENTS.iter().map(|(agent, _)| self.world.session(agent)).collect()
    }

    fn open_shell(&self) {
        println!("Now it is your turn, in a shell of its own:\n");
        println!("  segue attach coder      ask it \"what is the word?\"; leave with Ctrl-\\ d");
        println!("  pkill -9 segue          kills the daemon, the holders and the agents");
        println!("  segue resume            brings all of them back, each in its own conversation");
        println!("  segue log coder         what happened");
        println!("  exit                    ends everything\n");
        let folder = self.program.parent().unwrap_or(Path::new("/"));
        let path = format!("{}:/usr/local/bin:/usr/bin:/bin", folder.display());
        let shell = std::env::var_os("SHELL").unwrap_or_else(|| "/bin/sh".into());
        let ended = Command::new(shell)
            .current_dir(self.world.project())
            .env_clear()
            .envs(self.world.environment())
            .env("PATH", path)
            .env("TERM", std::env::var_os("TERM").unwrap_or_default())
            .status();
        println!("ending everything ({})", ended.map_or_else(|e| e.to_string(), |s| s.to_string()));
    }
}

fn join(pids: &[u32]) -> String {
    pids.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ")
}
