//! The names of folders and refs that are made from the names of repositories, agents and branches.

use std::path::{Path, PathBuf};

use sha2::{Digest as _, Sha256};

use crate::model::{AgentName, BranchName, RepositorySource};

/// Maximum lengths of the components. Together with `worktrees/` and the slashes they have fewer
/// than 100 characters, because tools put sockets and caches below them.
const REPOSITORY_LENGTH: usize = 28;
const AGENT_LENGTH: usize = 24;
const BRANCH_LENGTH: usize = 34;

/// Number of hexadecimal digits of a hash in a name.
const HASH_LENGTH: usize = 8;

/// Returns the folder of the worktree of one agent and one branch: `<repository>/<agent>/<branch>`
/// below the folder for worktrees.
///
/// The names have only letters, digits, `-`, `_` and `.`. Different names have different folders,
/// also on a file system that ignores case: a hash is appended to every name that had to be changed
/// or that has letters in upper case.
pub fn worktree_path(
    root: &Path,
    source: &RepositorySource,
    agent: &AgentName,
    branch: &BranchName,
) -> PathBuf {
    root.join(repository_name(source))
        .join(distinct(agent.as_str(), AGENT_LENGTH))
        .join(distinct(branch.as_str(), BRANCH_LENGTH))
}

/// Returns the name of the shared clone's folder.
pub fn clone_name(source: &RepositorySource) -> String {
    format!("{}.git", repository_name(source))
}

/// Returns the component of a salvage ref that identifies the worktree with this folder.
pub fn salvage_key(path: &Path) -> String {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    with_hash(&name, &path.to_string_lossy(), BRANCH_LENGTH)
}

/// Two repositories may have the same name, so the name always has a hash of the whole identity.
fn repository_name(source: &RepositorySource) -> String {
    match source {
        RepositorySource::Url(url) => with_hash(url.name(), url.id().as_str(), REPOSITORY_LENGTH),
        RepositorySource::Folder(folder) => {
            let name = folder.file_name().unwrap_or_default().to_string_lossy();
            with_hash(&name, &folder.to_string_lossy(), REPOSITORY_LENGTH)
        }
    }
}

/// Returns the text itself if it is a name that no other text can get, otherwise a changed one with
/// a hash.
fn distinct(text: &str, longest: usize) -> String {
    let is_plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "-_.".contains(c);
    let is_usable = !text.starts_with('.') && !text.ends_with('.') && text.len() <= longest;
    match is_usable && text.chars().all(is_plain) && !looks_hashed(text) {
        true => text.to_owned(),
        false => with_hash(text, text, longest),
    }
}

/// Returns whether the text ends like a name with a hash.
fn looks_hashed(text: &str) -> bool {
    let last = text.rsplit('-').next().unwrap_or_default();
    last.len() == HASH_LENGTH && last.bytes().all(|byte| byte.is_ascii_hexdigit())
}

fn with_hash(name: &str, hashed: &str, longest: usize) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() || "_.".contains(c) { c } else { '-' };
    let plain: String = name.chars().map(plain).collect();
    let cut: String = plain.chars().take(longest - HASH_LENGTH - 1).collect();
    // No dot at the ends: `.` and `..` are folders, and a ref must not have such a component.
    let cut = cut.trim_matches(|c| c == '.' || c == '-').replace("..", ".-");
    let digest: String = Sha256::digest(hashed).iter().map(|byte| format!("{byte:02x}")).collect();
    let hash = &digest[..HASH_LENGTH];
    if cut.is_empty() { hash.to_owned() } else { format!("{cut}-{hash}") }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;
    use crate::model::{RefName, RepositoryUrl};

    fn url(text: &str) -> RepositorySource {
        RepositorySource::Url(RepositoryUrl::parse(text).unwrap())
    }

    fn path(agent: &str, branch: &str) -> String {
        let (agent, branch) =
            (AgentName::parse(agent).unwrap(), BranchName::parse(branch).unwrap());
        let source = url("https://git.example.org/team/app.git");
        worktree_path(Path::new("worktrees"), &source, &agent, &branch).display().to_string()
    }

    #[test]
    fn path_of_plain_names_is_readable() {
        let path = path("coder-1", "fix-login");
        assert!(path.starts_with("worktrees/app-"), "{path}");
        assert!(path.ends_with("/coder-1/fix-login"), "{path}");
    }

    #[test]
    fn names_that_had_to_be_changed_have_a_hash() {
        let last = |branch: &str| path("a", branch).rsplit('/').next().unwrap().to_owned();
        for (branch, start) in [
            ("feature/login", "feature-login-"),
            ("Fix", "Fix-"),
            ("käse", "k-se-"),
            ("a-0123abcd", "a-0123abcd-"),
        ] {
            let name = last(branch);
            assert!(name.starts_with(start) && looks_hashed(&name), "{branch}: {name}");
        }
        let all = ["feature/login", "feature-login", "Feature-login", "feature/Login", "käse"];
        let folders: BTreeSet<String> = all.map(|it| last(it).to_lowercase()).into();
        assert_eq!(folders.len(), all.len(), "{folders:?}");
    }

    #[test]
    fn repositories_with_the_same_name_have_different_folders() {
        let names = [
            clone_name(&url("https://git.example.org/team/app.git")),
            clone_name(&url("https://git.example.org/other/app")),
            clone_name(&RepositorySource::Folder("/home/me/app".into())),
            clone_name(&RepositorySource::Folder("/home/you/app".into())),
        ];
        assert!(names.iter().all(|name| name.starts_with("app-") && name.ends_with(".git")));
        assert_eq!(BTreeSet::from(names).len(), 4);
        let spelled = clone_name(&url("https://GIT.example.org:443/team/app"));
        assert_eq!(spelled, clone_name(&url("https://git.example.org/team/app.git")));
    }

    proptest! {
        #[test]
        fn every_path_is_short_and_has_only_plain_characters(
            repository in "\\PC{0,40}", agent in "[a-zA-Z0-9][a-zA-Z0-9_-]{0,63}", branch in "\\PC{1,80}",
        ) {
            let (Ok(agent), Ok(branch)) = (AgentName::parse(&agent), BranchName::parse(&branch))
            else { return Ok(()) };
            let source = RepositorySource::Folder(PathBuf::from("/").join(&repository));
            let path = worktree_path(Path::new("worktrees"), &source, &agent, &branch);
            let text = path.to_str().unwrap();
            prop_assert!(text.len() < 100, "{text}");
            prop_assert_eq!(path.components().count(), 4);
            let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./".contains(c);
            prop_assert!(text.chars().all(is_plain), "{}", text);
            let name = format!("refs/segue/salvage/{}/1", salvage_key(&path));
            prop_assert!(RefName::parse(&name).is_ok(), "{}", name);
            let key = salvage_key(&PathBuf::from("/").join(&repository));
            let name = format!("refs/segue/salvage/{key}/1");
            prop_assert!(RefName::parse(&name).is_ok(), "{}", name);
        }

        #[test]
        fn different_branches_have_different_folders(one in "[a-bA-B./-]{1,5}", two in "[a-bA-B./-]{1,5}") {
            let lower = |text: &str| distinct(text, BRANCH_LENGTH).to_lowercase();
            prop_assert_eq!(one == two, lower(&one) == lower(&two), "{} {}", one, two);
        }
    }
}
