//! The whole life of an issue in the dialect of each forge: assigned, worked on, reviewed, failed in
//! CI, merged, cleaned up and reopened, in one conversation.

use std::path::{Path, PathBuf};

use segue_core::model::{ForgeSubject, PullState, ReviewVerdict};
use segue_testkit::dispatch_scene::{DispatchScene, REPOSITORY, TOKEN};
use segue_testkit::events::Events;
use segue_testkit::forge_server::{ForgeDialect, ForgeServerFault, ServedEvent, ServedRepository};
use segue_testkit::repositories::git;
use segue_testkit::scene::{text, write_project};
use segue_testkit::{files, git_server};
use serde_json::{Value, json};

use super::received;
use crate::world;

/// The program that the demo agent runs instead of asking a person. It works as an agent does.
const WORK: &str = "#!/bin/sh\ncat >/dev/null\necho fixed >> code.txt\n\
    git commit -q -a -m 'fix it' && git push -q origin HEAD && echo '{\"choice\":0}'\n";

const RULES: [&str; 4] = [
    "on = \"issue.assigned\"\nagent = \"coder\"\nreply = true\nprompt = \"/ask\\n{{ quoted }}\"",
    "on = \"pull.review_submitted\"\nagent = \"coder\"\nreply = true",
    "on = \"ci.failed\"\nagent = \"coder\"",
    "on = \"issue.commented\"\nagent = \"coder\"",
];

/// The life of one issue on one forge.
struct IssueLife {
    scene: DispatchScene,
    number: u64,
    pull: u64,
}

impl IssueLife {
    fn new(dialect: ForgeDialect) -> Self {
        let world = world();
        let work = world.home().join("work");
        files::write_program(&work, WORK);
        let identity = "git = { name = \"Coder\", email = \"coder@example.org\" }\n";
        let work = json!([format!("--ask-with={}", work.display())]);
        write_project(
            &world,
            &format!(
                "[fleet]\nname = \"shop\"\n[[agents]]\nname = \"coder\"\nvendor = \"demo\"\n\
                 args = {work}\n{identity}"
            ),
        );
        let scene = DispatchScene::of(dialect, world, &RULES);
        let number = scene.forge.change(|state| {
            let account = state.account.login.clone();
            state.add_issue(REPOSITORY, "Parser HERON fails", &[&account])
        });
        Self { scene, number, pull: 0 }
    }

    fn issue(&self) -> ForgeSubject {
        ForgeSubject::Issue(self.number)
    }

    fn branch(&self) -> String {
        format!("coder/issue-{}", self.number)
    }

    /// Waits until all tasks have ended. Returns the newest one, whose number is known.
    fn newest_task(&self, count: usize) -> Value {
        let mut tasks = self.scene.ended_tasks();
        assert_eq!(tasks.len(), count, "{:#?}\n{tasks:#?}", self.scene.processed());
        let task = tasks.pop().unwrap();
        assert_eq!(task["state"], "done", "{task:#}");
        task
    }

    /// Waits until this many replies are written. Returns how many comments of Segue a subject has.
    fn replies(&self, subject: ForgeSubject, written: usize) -> usize {
        let world = &self.scene.world;
        let mut events = Events::of(world);
        while world.ok(["log", "--json"]).matches("\"reply_changed\"").count() < written {
            events.wait_for(|event| event["kind"] == "reply_changed").unwrap();
        }
        let comments = self.scene.forge.comments(REPOSITORY, subject);
        comments.iter().filter(|it| it.body.contains("segue-reply")).count()
    }

    /// The issue is assigned: the agent commits, pushes and answers once, although the answer to the
    /// first attempt to write the comment is lost.
    fn assign(&self) -> Value {
        let scene = &self.scene;
        scene.forge.fail("/api/", 1, ForgeServerFault::LostAnswer);
        scene.report(self.issue(), ServedEvent::Assigned, "ada");
        let task = self.newest_task(1);
        let origin = scene.world.root().join("origins/app.git");
        let pushed = git(&origin, &["log", "-1", "--format=%an <%ae> %s", &self.branch()]);
        assert_eq!(pushed, "Coder <coder@example.org> fix it");
        assert_eq!(self.replies(self.issue(), 1), 1);
        let messages = received(&scene.world, &task);
        assert!(messages[0].contains("> Parser HERON fails"), "{messages:#?}");
        task
    }

    /// The agent's pull request is reviewed: the agent gets the review, and not the issue again.
    fn review(&mut self) -> Value {
        let (branch, number) = (self.branch(), self.number);
        let scene = &self.scene;
        let body = format!("Closes #{number}");
        self.pull = scene.forge.change(|state| state.add_pull(REPOSITORY, &branch, &body));
        let subject = ForgeSubject::Pull(self.pull);
        let review = scene.forge.change(|state| {
            let by = ("ada", ReviewVerdict::ChangesRequested);
            let lines = [("code.txt", 1, "Rename it."), ("code.txt", 2, "Test it.")];
            state.add_review(REPOSITORY, self.pull, by, &lines)
        });
        scene.report(subject, ServedEvent::Reviewed(&review), "ada");
        let task = self.newest_task(2);
        let messages = received(&scene.world, &task);
        assert_eq!(messages.len(), 2, "{messages:#?}");
        for comment in ["line 1, by @ada:\n> Rename it.", "line 2, by @ada:\n> Test it."] {
            let comment = format!("Comment on `code.txt`, {comment}");
            assert!(messages[1].contains(&comment), "{messages:#?}");
        }
        assert!(!messages[1].contains("HERON"), "{messages:#?}");
        assert_eq!(self.replies(subject, 2), 1);
        task
    }

    /// CI fails: the agent gets the end of the log of the failed job.
    fn fail_in_ci(&self) -> Value {
        let log = format!("the first line\n{}the last line: HERON\n", "much text\n".repeat(9000));
        let jobs: [(&str, bool, &[u8]); 2] =
            [("lint", false, b"fine"), ("unit", true, log.as_bytes())];
        let run = self.scene.forge.change(|state| state.add_run(REPOSITORY, &jobs));
        let subject = ForgeSubject::Pull(self.pull);
        self.scene.report(subject, ServedEvent::CiFailed { run }, "ada");
        let task = self.newest_task(3);
        let messages = received(&self.scene.world, &task);
        assert_eq!(messages.len(), 3, "{messages:#?}");
        let newest = &messages[2];
        assert!(newest.contains("The end of the log of job `unit`"), "{newest}");
        assert!(newest.contains("> the last line: HERON"), "{newest}");
        assert!(!newest.contains("the first line") && newest.len() < 40_000, "{newest}");
        task
    }

    /// The pull request is merged, which closes the issue: the worktree is removed.
    fn merge(&self, worktree: &Path) {
        let mut events = Events::of(&self.scene.world);
        self.change(|repository, life| {
            repository.pulls.get_mut(&life.pull).unwrap().state = PullState::Merged;
            repository.issues.get_mut(&life.number).unwrap().is_open = false;
        });
        assert!(worktree.is_dir());
        self.scene.report(ForgeSubject::Pull(self.pull), ServedEvent::Merged, "ada");
        events.wait_for(|event| event["kind"] == "issue_cleaned_up").unwrap();
        assert!(!worktree.exists());
        self.scene.report(self.issue(), ServedEvent::Closed, "ada");
        self.scene.processed();
    }

    /// The issue is reopened and gets a comment: the agent continues in the same worktree.
    fn reopen(&self) -> Value {
        let issue = |repository: &mut ServedRepository, life: &Self| {
            repository.issues.get_mut(&life.number).unwrap().is_open = true;
        };
        self.change(issue);
        self.scene.report(self.issue(), ServedEvent::Reopened, "ada");
        let comment = self.scene.forge.change(|state| {
            state.add_comment(REPOSITORY, self.issue(), "ada", "Please add a test.")
        });
        self.scene.report(self.issue(), ServedEvent::Commented(&comment), "ada");
        let task = self.newest_task(4);
        let messages = received(&self.scene.world, &task);
        assert!(messages[3].contains("> Please add a test."), "{messages:#?}");
        task
    }

    /// Changes the repository on the forge.
    fn change(&self, change: impl FnOnce(&mut ServedRepository, &Self)) {
        self.scene.forge.change(|state| {
            change(state.repository(REPOSITORY), self);
            let now = Some(state.tick());
            let repository = state.repository(REPOSITORY);
            repository.issues.values_mut().for_each(|it| it.updated_at = now);
            repository.pulls.values_mut().for_each(|it| it.updated_at = now);
        });
    }

    /// The secret of the webhook and the token are in no file but their own, in no form.
    fn assert_no_trace(&self, dialect: ForgeDialect) {
        let root = self.scene.world.root();
        let on_wire = git_server::base64(format!("x-access-token:{TOKEN}").as_bytes());
        let secret = dialect.secret();
        for (text, own) in [(&*secret, "hook-secret"), (TOKEN, "forge-token"), (&on_wire, "")] {
            let mut traces = files::containing(root, text);
            traces.retain(|path| *path != root.join(own));
            assert_eq!(traces, Vec::<PathBuf>::new());
        }
    }
}

fn issue_is_worked_on_reviewed_merged_and_reopened_in_one_conversation(dialect: ForgeDialect) {
    let mut life = IssueLife::new(dialect);
    let first = life.assign();
    let worktree = PathBuf::from(text(&first, "worktree"));
    let (reviewed, failed) = (life.review(), life.fail_in_ci());
    life.merge(&worktree);
    let reopened = life.reopen();
    assert!(worktree.is_dir());
    for task in [reviewed, failed, reopened] {
        assert_eq!(task["session"], first["session"], "{task:#}");
        assert_eq!(task["worktree"], first["worktree"], "{task:#}");
    }
    let written = |subject| life.replies(subject, 2);
    assert_eq!([written(life.issue()), written(ForgeSubject::Pull(life.pull))], [1, 1]);
    // The comment whose answer was lost was found, and not written again.
    assert_eq!(life.scene.forge.count("POST", "/api/"), 2);
    life.assert_no_trace(dialect);
}

#[test]
fn issue_of_github_is_worked_on_reviewed_merged_and_reopened_in_one_conversation() {
    issue_is_worked_on_reviewed_merged_and_reopened_in_one_conversation(ForgeDialect::Github);
}

#[test]
fn issue_of_forgejo_is_worked_on_reviewed_merged_and_reopened_in_one_conversation() {
    issue_is_worked_on_reviewed_merged_and_reopened_in_one_conversation(ForgeDialect::Forgejo);
}

#[test]
fn issue_of_gitea_is_worked_on_reviewed_merged_and_reopened_in_one_conversation() {
    issue_is_worked_on_reviewed_merged_and_reopened_in_one_conversation(ForgeDialect::Gitea);
}

#[test]
fn issue_of_gitlab_is_worked_on_reviewed_merged_and_reopened_in_one_conversation() {
    issue_is_worked_on_reviewed_merged_and_reopened_in_one_conversation(ForgeDialect::Gitlab);
}

#[test]
fn issue_of_gitlab_with_a_signing_token_lives_in_one_conversation() {
    issue_is_worked_on_reviewed_merged_and_reopened_in_one_conversation(ForgeDialect::GitlabSigned);
}
