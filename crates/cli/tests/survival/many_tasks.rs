//! Tasks of several agents in several repositories, while daemons, holders and git are killed: every
//! task ends exactly once, and no repository is damaged.

mod real_vendors;

use std::fs;
use std::path::{Path, PathBuf};

use segue_testkit::chance::Chance;
use segue_testkit::passing::Passing;
use segue_testkit::repositories::{git, make_repository};
use segue_testkit::{World, is_soak, processes, scene};
use serde_json::Value;

use crate::scenarios::check_repositories;
use crate::world;

const AGENTS: [&str; 4] = ["coder", "tester", "writer", "reviewer"];

/// More failpoints than pass between the starts of two tasks.
const MOST_FAILPOINTS: usize = 60;

/// The agents, the message that each task sends, and how many tasks, repositories and kills there
/// are.
#[derive(Clone, Copy, Debug)]
struct TaskCampaign {
    agents: &'static [&'static str],
    prompt: &'static str,
    tasks: usize,
    repositories: usize,
    kills: usize,
}

const SHORT: TaskCampaign =
    TaskCampaign { agents: &AGENTS, prompt: "/slow 0.2", tasks: 12, repositories: 2, kills: 8 };
const LONG: TaskCampaign = TaskCampaign { tasks: 50, repositories: 5, kills: 40, ..SHORT };

#[test]
fn every_task_ends_once_and_every_repository_is_whole_after_random_kills() {
    let campaign = if is_soak() { LONG } else { SHORT };
    let mut world = world();
    let passing = Passing::count(&mut world);
    scene::write_agents(&world, "shop", &AGENTS);
    campaign.run(&world, &passing);
}

impl TaskCampaign {
    /// Adds all tasks, kills processes at random times, and checks the tasks, the repositories and
    /// the processes after the end of the last task.
    fn run(&self, world: &World, passing: &Passing) {
        let mut chance = Chance::new();
        let urls: Vec<String> = (0..self.repositories).map(|it| origin(world, it)).collect();
        let tasks: Vec<String> = (0..self.tasks).map(|it| self.add(world, it, &urls)).collect();
        for _ in 0..self.kills {
            let Some(task) = open(world).pop() else { break };
            let mut waits = [world.start(["task", "wait", &task, "--json"])];
            passing.wait(1 + chance.below(MOST_FAILPOINTS), &waits);
            kill_something(world, &mut chance);
            waits[0].wait().unwrap();
        }
        while let Some(task) = open(world).pop() {
            world.segue(["task", "wait", &task, "--json"]);
        }
        let events = events(world);
        let done = tasks.iter().filter(|task| check_end(world, task, &events) == "done").count();
        println!("{done} of {} tasks are done", tasks.len());
        assert!(done * 2 > tasks.len(), "most tasks are done");
        check_worktrees(world);
        check_repositories(world);
        assert_eq!(lock_files(&world.segue_home().join("data/clones")), Vec::<PathBuf>::new());
        assert_eq!(scene::pids_running(world, "hold"), Vec::<u32>::new());
        assert_eq!(gits(world), Vec::<u32>::new());
    }

    /// Adds a task. Of four tasks of an agent in one repository, two are about the same issue and
    /// share a conversation, and two share only a worktree.
    fn add(&self, world: &World, number: usize, urls: &[String]) -> String {
        let (agent, turn) = (number % self.agents.len(), number / self.agents.len());
        let (name, url) = (self.agents[agent], &urls[(agent + turn / 4) % urls.len()]);
        let (key, branch) = (format!("task-{number}"), format!("{name}/shared"));
        let place = if turn.is_multiple_of(2) { ["--issue", "7"] } else { ["--branch", &branch] };
        let [flag, value] = place;
        let prompt = self.prompt;
        let words =
            ["task", "add", "--agent", name, "--repo", url, "--key", &key, flag, value, prompt];
        world.ok(words).trim().to_owned()
    }
}

/// Makes a repository beside the project, and returns its URL.
fn origin(world: &World, number: usize) -> String {
    let folder = world.root().join(format!("origin-{number}"));
    make_repository(&folder);
    format!("file://{}", folder.display())
}

/// Returns the ids of all tasks that have not ended.
fn open(world: &World) -> Vec<String> {
    let listed = world.json(["task", "ls", "--json"]);
    let tasks = listed["tasks"].as_array().unwrap();
    tasks.iter().map(|task| scene::text(task, "id").to_owned()).collect()
}

/// Kills the daemon, a holder, a git, or everything. Removes a worktree first, sometimes, so that a
/// salvage is interrupted, too.
fn kill_something(world: &World, chance: &mut Chance) {
    let mut removal = (chance.below(3) == 0).then(|| remove_some_worktree(world, chance)).flatten();
    match chance.below(4) {
        0 => scene::kill_daemon(world),
        1 => kill_one(&scene::pids_running(world, "hold"), chance),
        2 => kill_one(&gits(world), chance),
        _ => world.kill_everything(),
    }
    if let Some(removal) = &mut removal {
        removal.wait().unwrap();
    }
}

fn kill_one(pids: &[u32], chance: &mut Chance) {
    if !pids.is_empty() {
        processes::kill(pids[chance.below(pids.len())]);
    }
}

fn remove_some_worktree(world: &World, chance: &mut Chance) -> Option<std::process::Child> {
    let listed = world.json(["worktree", "ls", "--json"]);
    let all = listed["worktrees"].as_array()?;
    let some = all.get(chance.below(all.len().max(1)))?;
    // It is refused while a session works there.
    Some(world.start(["worktree", "rm", scene::text(some, "path"), "--yes"]))
}

/// Returns the processes of git that work in the folders of this world.
fn gits(world: &World) -> Vec<u32> {
    let is_git = |pid: &u32| {
        let program = processes::command_line(*pid).into_iter().next().unwrap_or_default();
        Path::new(&program)
            .file_name()
            .is_some_and(|name| name.to_string_lossy().starts_with("git"))
    };
    processes::mentioning(world.root()).into_iter().filter(is_git).collect()
}

/// Returns all events.
fn events(world: &World) -> Vec<Value> {
    let log = world.ok(["log", "--json", "--last", "100000"]);
    log.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Checks that a task ended exactly once. Returns its state.
fn check_end(world: &World, task: &str, events: &[Value]) -> String {
    let task = world.json(["task", "show", task, "--json"])["task"].clone();
    let is_end = |event: &&Value| {
        let state = event["data"]["state"].as_str().unwrap_or_default();
        event["data"]["task"] == task["id"] && ["done", "failed", "cancelled"].contains(&state)
    };
    let ends: Vec<&Value> = events.iter().filter(is_end).collect();
    assert_eq!(ends.len(), 1, "{ends:#?} {task:#}");
    if task["state"] == "done" {
        // An agent that was killed in its turn answers the request to go on.
        assert!(!scene::text(&task["result"], "answer").is_empty(), "{task:#}");
        assert!(!task["session"].is_null() && !task["worktree"].is_null(), "{task:#}");
    } else {
        println!("{}: {}", task["state"], task["reason"]);
    }
    scene::text(&task, "state").to_owned()
}

/// Checks that each worktree that exists is on its branch.
fn check_worktrees(world: &World) {
    let listed = world.json(["worktree", "ls", "--json"]);
    let present = |it: &&Value| it["state"] == "present";
    for worktree in listed["worktrees"].as_array().unwrap().iter().filter(present) {
        let folder = Path::new(scene::text(worktree, "path"));
        let branch = git(folder, &["branch", "--show-current"]);
        assert_eq!(branch, scene::text(worktree, "branch"), "{worktree:#}");
        assert_eq!(git(folder, &["status", "--porcelain"]), "", "{worktree:#}");
    }
}

/// Returns the lock files of git below a folder.
fn lock_files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let (folders, files): (Vec<_>, Vec<_>) = entries.partition(|path| path.is_dir());
    let locks = files.into_iter().filter(|path| path.extension().is_some_and(|it| it == "lock"));
    locks.chain(folders.iter().flat_map(|folder| lock_files(folder))).collect()
}
