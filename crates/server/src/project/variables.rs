//! Variables in prompts and instructions, such as `{{agent}}`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use segue_core::flows::worktrees;
use segue_core::model::{AgentName, BranchName, FleetName, WorktreeOrder};
use segue_core::ports::Checkouts;
use segue_core::{Error, Result};
use segue_host::machine;

/// The values of the variables.
pub(super) struct VariableValues<'a> {
    pub(super) agent: &'a AgentName,
    pub(super) fleet: &'a FleetName,
    /// All agents of the fleet.
    pub(super) agents: &'a [AgentName],
    /// The folder of the project.
    pub(super) folder: &'a Path,
    /// The worktree in which the agent works. `None` if it works in the project's folder.
    pub(super) worktree: Option<PlannedWorktree<'a>>,
}

/// The worktree of an agent. It need not exist yet.
#[derive(Clone, Copy)]
pub(super) struct PlannedWorktree<'a> {
    pub(super) order: &'a WorktreeOrder,
    /// The folder for worktrees, if it is not Segue's own.
    pub(super) root: Option<&'a Path>,
    pub(super) checkouts: &'a dyn Checkouts,
    /// The recorded branches of worktrees, by their folders.
    pub(super) branches: &'a BTreeMap<PathBuf, BranchName>,
}

impl VariableValues<'_> {
    /// Replaces the variables in the text of a file. An error names the file and the line of the
    /// invalid variable.
    pub(super) fn fill(&self, file: &Path, text: &str) -> Result<String> {
        self.replace(text).map_err(|(at, error)| {
            let line = text[..at].matches('\n').count() + 1;
            let message = format!("`{}` line {line}: {}", file.display(), error.message);
            Error { message, ..error }
        })
    }

    /// Replaces the variables in the value of a key.
    pub(super) fn fill_value(&self, text: &str) -> Result<String> {
        self.replace(text).map_err(|(_, error)| error)
    }

    /// Replaces the variables in a text. An error has the byte offset of the invalid variable.
    fn replace(&self, text: &str) -> std::result::Result<String, (usize, Error)> {
        let (mut filled, mut rest) = (String::new(), text);
        while let Some((before, name, after)) = next(rest) {
            filled.push_str(before);
            let at = text.len() - rest.len() + before.len();
            filled.push_str(&self.value(name).map_err(|error| (at, error))?);
            rest = after;
        }
        Ok(filled + rest)
    }

    fn value(&self, name: &str) -> Result<String> {
        let peers = || self.agents.iter().filter(|name| *name != self.agent).map(AgentName::as_str);
        match name {
            "agent" => Ok(self.agent.to_string()),
            "fleet" => Ok(self.fleet.to_string()),
            "peers" => Ok(peers().collect::<Vec<_>>().join(", ")),
            "worktree" => Ok(self.place()?.display().to_string()),
            "branch" => self.branch(),
            _ => Err(Error::config(format!("unknown variable `{{{{{name}}}}}`"))
                .hint("use `{{agent}}`, `{{fleet}}`, `{{peers}}`, `{{branch}}` or `{{worktree}}`")
                .hint(format!("write `{{{{ {name} }}}}`, with spaces, for the literal text"))),
        }
    }

    fn branch(&self) -> Result<String> {
        if let Some(PlannedWorktree { order, branches, .. }) = self.worktree {
            return Ok(branches.get(&self.place()?).unwrap_or(&order.branch).to_string());
        }
        machine::branch(self.folder).ok_or_else(|| {
            Error::config("`{{branch}}` has no value: no branch is checked out")
                .hint(format!("check out a branch in `{}`", self.folder.display()))
        })
    }

    /// Returns the folder in which the agent works.
    fn place(&self) -> Result<PathBuf> {
        let Some(PlannedWorktree { order, root, checkouts, .. }) = self.worktree else {
            return Ok(self.folder.to_owned());
        };
        let place = worktrees::place(checkouts, order, self.agent, (self.folder, root))?;
        Ok(place.path)
    }
}

/// Returns the next variable, with the text before and after it. A variable is a word in double
/// braces without spaces.
fn next(text: &str) -> Option<(&str, &str, &str)> {
    let mut from = 0;
    while let Some(found) = text[from..].find("{{") {
        let at = from + found;
        let inside = &text[at + 2..];
        let length = inside.find(|c: char| !c.is_ascii_alphanumeric() && c != '_');
        if let Some(length) = length.filter(|length| *length > 0)
            && let Some(after) = inside[length..].strip_prefix("}}")
        {
            return Some((&text[..at], &inside[..length], after));
        }
        from = at + 1;
    }
    None
}

#[cfg(test)]
mod tests {
    use segue_core::model::{BranchStart, RepositoryUrl};

    use super::*;
    use crate::project::tests::checkouts;

    fn fill(folder: &Path, text: &str) -> Result<String> {
        fill_with(folder, text, None)
    }

    fn fill_with(
        folder: &Path,
        text: &str,
        worktree: Option<PlannedWorktree<'_>>,
    ) -> Result<String> {
        let [own, other] = ["coder", "tester"].map(|name| AgentName::parse(name).unwrap());
        let (fleet, all) = (FleetName::parse("shop").unwrap(), [own.clone(), other]);
        let (agent, fleet) = (&own, &fleet);
        let variables = VariableValues { agent, fleet, agents: &all, folder, worktree };
        variables.fill(Path::new("start.md"), text)
    }

    #[test]
    fn known_variables_are_replaced_once_and_other_braces_are_kept() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join(".git")).unwrap();
        std::fs::write(folder.path().join(".git/HEAD"), "ref: refs/heads/feature/x\n").unwrap();
        let place = folder.path().display().to_string();
        let table = [
            ("{{agent}} of {{fleet}}, with {{peers}}", "coder of shop, with tester".to_owned()),
            ("{{branch}} in {{worktree}}", format!("feature/x in {place}")),
            ("{{{agent}}}", "{coder}".to_owned()),
            (
                "{{ agent }} {{a-b}} {{}} {{ {agent} }} {{",
                "{{ agent }} {{a-b}} {{}} {{ {agent} }} {{".to_owned(),
            ),
            ("été {{agent}} ✓", "été coder ✓".to_owned()),
        ];
        for (text, expected) in table {
            assert_eq!(fill(folder.path(), text).unwrap(), expected);
        }
    }

    #[test]
    fn unknown_variable_is_an_error_that_names_its_line() {
        let folder = tempfile::tempdir().unwrap();
        let error = fill(folder.path(), "one\n{{agent}}\nthree {{agnet}}").unwrap_err();
        assert!(error.message.contains("`start.md` line 3"), "{error}");
        assert!(error.message.contains("`{{agnet}}`"), "{error}");
        let error = fill(folder.path(), "{{branch}}").unwrap_err();
        assert!(error.message.contains("line 1") && error.message.contains("branch"), "{error}");
    }

    #[test]
    fn branch_of_a_worktree_is_the_recorded_one_if_there_is_a_record() {
        let checkouts = checkouts();
        let (branch, start) = (BranchName::parse("fix").unwrap(), BranchStart::DefaultBranch);
        let url = Some(RepositoryUrl::parse("https://git.example.org/app").unwrap());
        let order = WorktreeOrder { branch, start, url, allows_commands_of_fork: false };
        let folder = Path::new("/code/shop");
        let filled = |branches: &BTreeMap<PathBuf, BranchName>| {
            let (order, checkouts) = (&order, &*checkouts);
            let worktree = PlannedWorktree { order, root: None, checkouts, branches };
            fill_with(folder, "{{branch}} in {{worktree}}", Some(worktree)).unwrap()
        };
        let before = filled(&BTreeMap::new());
        let (branch, path) = before.split_once(" in ").unwrap();
        assert_eq!(branch, "fix");
        let restored = BranchName::parse("fix-2").unwrap();
        let recorded = BTreeMap::from([(PathBuf::from(path), restored)]);
        assert_eq!(filled(&recorded), format!("fix-2 in {path}"));
    }
}
