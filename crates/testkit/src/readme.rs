//! The tour in the README: its commands, and the output that the README shows for them.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::PathBuf;
use std::process::Command;

use segue_conformance::World;

const README: &str = include_str!("../../../README.md");
const TOUR: &str = "## A tour in sixty seconds";

/// A command of the tour, and the lines that the README shows below it.
#[derive(Debug)]
pub struct TourStep {
    pub command: String,
    pub shown: Vec<String>,
}

/// Returns the steps of the tour's first block.
pub fn steps() -> Vec<TourStep> {
    let (_, tour) = README.split_once(TOUR).expect("the README has a tour");
    let (_, block) = tour.split_once("```console\n").expect("the tour has commands");
    let (block, _) = block.split_once("```").expect("the block ends");
    let mut steps: Vec<TourStep> = Vec::new();
    for line in block.lines().filter(|line| !line.is_empty()) {
        match line.strip_prefix("$ ") {
            Some(command) => {
                steps.push(TourStep { command: command.to_owned(), shown: Vec::new() });
            }
            None => steps.last_mut().expect("a command is first").shown.push(line.to_owned()),
        }
    }
    steps
}

/// A world for the tour: a shell in `~/src/shop` finds `segue` on its `PATH`.
#[derive(Debug)]
pub struct TourWorld {
    pub world: World,
    pub folder: PathBuf,
}

impl TourWorld {
    /// Makes a world for this `segue` program.
    pub fn new(program: impl Into<PathBuf>) -> Self {
        let mut world = World::new(program);
        let programs = world.root().join("bin");
        let folder = world.home().join("src/shop");
        fs::create_dir(&programs).expect("a folder");
        fs::create_dir_all(&folder).expect("a folder");
        symlink(world.program(), programs.join("segue")).expect("a symlink");
        world.set("PATH", format!("{}:/usr/bin:/bin", programs.display()));
        Self { world, folder }
    }

    /// Returns the folder of the programs that the shell finds.
    pub fn programs(&self) -> PathBuf {
        self.world.root().join("bin")
    }

    /// Returns a command in the folder of the tour.
    pub fn command(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        command.current_dir(&self.folder).env_clear().envs(self.world.environment());
        command
    }
}

/// Replaces the seconds in the column `SINCE` with the README's `0s`. On a loaded machine they are
/// more than zero.
pub fn without_age(line: &str) -> String {
    let is_age = |word: &&str| {
        word.strip_suffix('s').is_some_and(|count| count.parse::<u32>().is_ok_and(|it| it < 60))
    };
    match line.split(' ').find(is_age) {
        Some(age) => {
            let width = age.len();
            line.replacen(&format!(" {age} "), &format!(" {:width$} ", "0s"), 1)
        }
        None => line.to_owned(),
    }
}
