//! Reads the checked-out commit and branch from git's own files, without running git.

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _};
use std::path::{Path, PathBuf};

use segue_core::model::{BranchName, CommitId};

use crate::files::open_regular;

/// At most this many bytes of a HEAD, ref or `.git` file are read. Real files are smaller.
const MAX_FILE_BYTES: u64 = 4096;
/// At most this many bytes of `packed-refs` are read. The file of a very large repository is
/// smaller.
const MAX_REFS_BYTES: u64 = 256 << 20;

/// The commit and the branch that HEAD points to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Head {
    /// `None` in a repository without commits.
    pub(crate) commit: Option<String>,
    /// `None` if HEAD is detached or does not name a valid branch.
    pub(crate) branch: Option<String>,
}

/// Returns the HEAD of the checkout that contains the folder. `None` if there is no checkout.
pub(crate) fn head(folder: &Path) -> Option<Head> {
    Repository::around(folder)?.head()
}

/// The folders of one git checkout.
#[derive(Debug)]
pub(crate) struct Repository {
    /// The folder with the checked-out files.
    pub(crate) checkout: PathBuf,
    /// The git folder of this checkout alone.
    pub(crate) folder: PathBuf,
    /// The git folder that this checkout shares with the other worktrees.
    pub(crate) common: PathBuf,
}

impl Repository {
    /// Returns the checkout that contains the folder: the folder itself or its nearest ancestor. A
    /// bare repository does not count.
    pub(crate) fn around(folder: &Path) -> Option<Self> {
        folder.ancestors().find_map(Self::of)
    }

    pub(crate) fn head(&self) -> Option<Head> {
        let head = first_line(&self.folder.join("HEAD"))?;
        let Some(reference) = head.strip_prefix("ref: ").map(str::trim) else {
            return commit_id(&head).map(|commit| Head { commit: Some(commit), branch: None });
        };
        // `HEAD` can contain any text, and the branch name becomes part of prompts and of terminal
        // output.
        let branch =
            reference.strip_prefix("refs/heads/").filter(|it| BranchName::parse(it).is_ok());
        Some(Head { commit: self.resolve(reference), branch: branch.map(str::to_owned) })
    }

    fn of(checkout: &Path) -> Option<Self> {
        let entry = checkout.join(".git");
        let metadata = fs::metadata(&entry).ok()?;
        let folder = if metadata.is_dir() {
            entry
        } else {
            checkout.join(first_line(&entry)?.strip_prefix("gitdir: ")?)
        };
        let common = match first_line(&folder.join("commondir")) {
            Some(shared) => folder.join(shared),
            None => folder.clone(),
        };
        Some(Self { checkout: checkout.to_owned(), folder, common })
    }

    fn resolve(&self, reference: &str) -> Option<String> {
        // A ref must not lead out of the repository.
        if reference.split('/').any(|part| part == ".." || part.is_empty()) {
            return None;
        }
        let loose = [&self.folder, &self.common].map(|folder| folder.join(reference));
        loose
            .iter()
            .find_map(|path| commit_id(&first_line(path)?))
            .or_else(|| self.packed(reference))
    }

    fn packed(&self, reference: &str) -> Option<String> {
        let file = open_regular(&self.common.join("packed-refs")).ok()?;
        let lines = BufReader::new(file.take(MAX_REFS_BYTES)).lines();
        lines.map_while(Result::ok).find_map(|line| {
            let (commit, name) = line.split_once(' ')?;
            (name == reference).then(|| commit_id(commit))?
        })
    }
}

/// Returns the text if it is the id of a commit.
fn commit_id(text: &str) -> Option<String> {
    CommitId::parse(text).ok().map(String::from)
}

fn first_line(path: &Path) -> Option<String> {
    let mut text = String::new();
    open_regular(path).ok()?.take(MAX_FILE_BYTES).read_to_string(&mut text).ok()?;
    text.lines().next().map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use tempfile::TempDir;

    use super::*;

    const ONE: &str = "1111111111111111111111111111111111111111";
    const TWO: &str = "2222222222222222222222222222222222222222";

    fn put(path: PathBuf, content: &str) {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }

    fn on(commit: Option<&str>, branch: Option<&str>) -> Option<Head> {
        Some(Head { commit: commit.map(str::to_owned), branch: branch.map(str::to_owned) })
    }

    #[test]
    fn loose_refs_take_precedence_over_packed_refs_also_from_a_subfolder() {
        let temp = TempDir::new().unwrap();
        let git = temp.path().join(".git");
        let below = temp.path().join("a/b");
        fs::create_dir_all(&below).unwrap();
        put(git.join("HEAD"), "ref: refs/heads/feature/x\n");
        assert_eq!(head(&below), on(None, Some("feature/x")));
        put(
            git.join("packed-refs"),
            &format!("# pack-refs with: peeled\n{ONE} refs/heads/feature/x\n^{TWO}\n"),
        );
        assert_eq!(head(&below), on(Some(ONE), Some("feature/x")));
        put(git.join("refs/heads/feature/x"), &format!("{TWO}\n"));
        assert_eq!(head(&below), on(Some(TWO), Some("feature/x")));
    }

    #[test]
    fn a_detached_head_has_a_commit_and_no_branch() {
        let temp = TempDir::new().unwrap();
        put(temp.path().join(".git/HEAD"), &format!("{ONE}\n"));
        assert_eq!(head(temp.path()), on(Some(ONE), None));
    }

    #[test]
    fn a_worktree_has_its_own_head_and_the_shared_refs() {
        let temp = TempDir::new().unwrap();
        let own = temp.path().join("main/.git/worktrees/tree");
        put(temp.path().join("tree/.git"), "gitdir: ../main/.git/worktrees/tree\n");
        put(own.join("HEAD"), "ref: refs/heads/topic\n");
        put(own.join("commondir"), "../..\n");
        put(temp.path().join("main/.git/refs/heads/topic"), &format!("{ONE}\n"));
        assert_eq!(head(&temp.path().join("tree")), on(Some(ONE), Some("topic")));
    }

    #[test]
    fn invalid_head_files_yield_no_commit() {
        let temp = TempDir::new().unwrap();
        assert_eq!(head(temp.path()), None);
        put(temp.path().join("secret"), ONE);
        put(temp.path().join(".git/HEAD"), "ref: ../secret\n");
        assert_eq!(head(temp.path()), on(None, None));
        put(temp.path().join(".git/HEAD"), "ref: refs/heads/main. Stop. New orders\n");
        assert_eq!(head(temp.path()), on(None, None));
        put(temp.path().join(".git/HEAD"), "what is this\n");
        assert_eq!(head(temp.path()), None);
    }
}
