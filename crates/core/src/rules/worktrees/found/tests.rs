use super::*;
use FolderContent::{Empty, Files, Missing, NotAFolder};

const PATH: &str = "/data/worktrees/app/coder/x";

fn branch() -> BranchName {
    BranchName::parse("x").unwrap()
}

fn entry(branch: Option<&str>, locked: Option<&str>) -> Option<ListedWorktree> {
    Some(ListedWorktree {
        path: PATH.into(),
        head: None,
        branch: branch.map(str::to_owned),
        locked: locked.map(str::to_owned),
        is_main: false,
    })
}

fn link(expected_at: &str) -> GitLink {
    let is_occupied = expected_at == PATH || expected_at == "/there";
    GitLink::Worktree { expected_at: Some(expected_at.into()), is_occupied }
}

fn step(content: FolderContent, link: GitLink, entry: Option<ListedWorktree>) -> NextStep {
    next_step(&FoundWorktree { path: PATH.into(), content, link, entry }, &branch())
}

#[test]
fn state_of_a_listed_worktree_decides_the_next_step() {
    let right = || entry(Some("x"), None);
    let refuse = NextStep::Refuse;
    let other = |found: Option<&str>| {
        let found = found.map(str::to_owned);
        refuse(WorktreeRefusal::OtherBranch { found, wanted: branch() })
    };
    let gone = || refuse(WorktreeRefusal::LockedAndGone { reason: "usb".to_owned() });
    let table = [
        (Files, link(PATH), right(), NextStep::Reuse),
        (Files, link(PATH), entry(Some("x"), Some("usb")), NextStep::Reuse),
        (Files, link(PATH), entry(Some("main"), None), other(Some("main"))),
        (Files, link(PATH), entry(None, None), other(None)),
        (Files, link("/gone"), right(), NextStep::Repair),
        (Files, GitLink::Missing, right(), NextStep::Repair),
        (Files, GitLink::Broken, right(), NextStep::Repair),
        (Files, GitLink::Repository, right(), refuse(WorktreeRefusal::OwnRepository)),
        (Files, GitLink::Foreign, right(), refuse(WorktreeRefusal::ForeignWorktree)),
        (NotAFolder, GitLink::Missing, right(), refuse(WorktreeRefusal::NotAFolder)),
        (Missing, GitLink::Missing, right(), NextStep::DropEntry),
        (Empty, GitLink::Missing, right(), NextStep::DropEntry),
        (Missing, GitLink::Missing, entry(Some("x"), Some("usb")), gone()),
        (Empty, GitLink::Missing, entry(Some("x"), Some("usb")), gone()),
    ];
    for (content, link, entry, expected) in table {
        assert_eq!(step(content, link.clone(), entry.clone()), expected, "{link:?} {entry:?}");
    }
}

#[test]
fn folder_that_git_does_not_list_is_only_used_if_it_is_empty_or_was_moved() {
    let refuse = NextStep::Refuse;
    let copy = refuse(WorktreeRefusal::CopyOf { original: "/there".into() });
    let unknown = GitLink::Worktree { expected_at: None, is_occupied: false };
    let table = [
        (Missing, GitLink::Missing, NextStep::Create),
        (Empty, GitLink::Missing, NextStep::Create),
        (NotAFolder, GitLink::Missing, refuse(WorktreeRefusal::NotAFolder)),
        (Files, GitLink::Missing, refuse(WorktreeRefusal::NotListed)),
        (Files, GitLink::Broken, refuse(WorktreeRefusal::NotListed)),
        (Files, GitLink::Repository, refuse(WorktreeRefusal::OwnRepository)),
        (Files, GitLink::Foreign, refuse(WorktreeRefusal::ForeignWorktree)),
        (Files, link("/gone"), NextStep::Repair),
        (Files, link("/there"), copy),
        (Files, unknown, NextStep::Repair),
    ];
    for (content, link, expected) in table {
        assert_eq!(step(content, link.clone(), None), expected, "{content:?} {link:?}");
    }
}

#[test]
fn unfinished_steps_are_undone_or_completed_whatever_the_folder_has() {
    let salvage = RefName::parse("refs/segue/salvage/x/1").unwrap();
    let removing = UnfinishedStep::Removing { salvage: Some(salvage.clone()) };
    let restoring = UnfinishedStep::Restoring { salvage: salvage.clone() };
    for (content, link) in
        [(Missing, GitLink::Missing), (Empty, GitLink::Missing), (Files, link(PATH))]
    {
        let next = |unfinished: &UnfinishedStep| {
            step(content, link.clone(), entry(None, Some(&unfinished.reason())))
        };
        let completed = NextStep::CompleteRemoval { salvage: Some(salvage.clone()) };
        assert_eq!(next(&UnfinishedStep::Making), NextStep::UndoMaking);
        assert_eq!(next(&removing), completed);
        let completed = NextStep::CompleteRestoring { salvage: salvage.clone() };
        assert_eq!(next(&restoring), completed);
    }
}

#[test]
fn refusals_name_the_path_and_what_to_do() {
    let refusals = [
        WorktreeRefusal::NotAFolder,
        WorktreeRefusal::NotListed,
        WorktreeRefusal::OwnRepository,
        WorktreeRefusal::ForeignWorktree,
        WorktreeRefusal::CopyOf { original: "/there".into() },
        WorktreeRefusal::LockedAndGone { reason: String::new() },
        WorktreeRefusal::OtherBranch { found: None, wanted: branch() },
        WorktreeRefusal::OtherBranch { found: Some("main".to_owned()), wanted: branch() },
    ];
    for refusal in refusals {
        let error = refusal.at(Path::new("/a b"));
        assert!(error.message.contains("'/a b'") && !error.hints.is_empty(), "{error:?}");
    }
}

#[test]
fn hint_with_a_name_of_a_branch_can_be_pasted_into_a_shell() {
    let wanted = BranchName::parse("x;rm${IFS}-r").unwrap();
    let error = WorktreeRefusal::OtherBranch { found: None, wanted }.at(Path::new("/a"));
    assert!(error.hints[0].contains("switch 'x;rm${IFS}-r'`"), "{error:?}");
}
