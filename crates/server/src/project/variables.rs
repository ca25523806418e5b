//! Variables in prompts and instructions, such as `{{agent}}`.

use std::path::Path;

use segue_core::model::{AgentName, FleetName};
use segue_core::{Error, Result};
use segue_host::machine;

/// The values of the variables.
pub(super) struct VariableValues<'a> {
    pub(super) agent: &'a AgentName,
    pub(super) fleet: &'a FleetName,
    /// All agents of the fleet.
    pub(super) agents: &'a [AgentName],
    /// The folder in which the agent works.
    pub(super) folder: &'a Path,
}

impl VariableValues<'_> {
    /// Replaces the variables in a text. An error names the file and the line of the invalid
    /// variable.
    pub(super) fn fill(&self, file: &Path, text: &str) -> Result<String> {
        let (mut filled, mut rest) = (String::new(), text);
        while let Some((before, name, after)) = next(rest) {
            filled.push_str(before);
            let value = self.value(name).map_err(|error| {
                let at = text.len() - rest.len() + before.len();
                let line = text[..at].matches('\n').count() + 1;
                let message = format!("`{}` line {line}: {}", file.display(), error.message);
                Error { message, ..error }
            })?;
            filled.push_str(&value);
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
            "worktree" => Ok(self.folder.display().to_string()),
            "branch" => machine::branch(self.folder).ok_or_else(|| {
                Error::config("`{{branch}}` has no value: no branch is checked out")
                    .hint(format!("check out a branch in `{}`", self.folder.display()))
            }),
            _ => Err(Error::config(format!("unknown variable `{{{{{name}}}}}`"))
                .hint("use `{{agent}}`, `{{fleet}}`, `{{peers}}`, `{{branch}}` or `{{worktree}}`")
                .hint(format!("write `{{{{ {name} }}}}`, with spaces, for the literal text"))),
        }
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
    use super::*;

    fn fill(folder: &Path, text: &str) -> Result<String> {
        let [own, other] = ["coder", "tester"].map(|name| AgentName::parse(name).unwrap());
        let (fleet, all) = (FleetName::parse("shop").unwrap(), [own.clone(), other]);
        let variables = VariableValues { agent: &own, fleet: &fleet, agents: &all, folder };
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
}
