//! Finds the agents of a project that a user's words mean.

use std::path::PathBuf;

use crate::error::{Error, Result};
use crate::model::{AgentName, PROJECT_FILE, Project, ProjectAgent};
use crate::rules::address::{self, Unclear};
use crate::rules::scale;

impl Project {
    /// Returns the kind of agents with this name. Returns an error if the kind cannot be scaled.
    pub fn kind(&self, name: &str) -> Result<AgentName> {
        let known: Vec<_> = self.kinds.iter().map(AgentName::as_str).collect();
        let name = self.find(&known, name)?;
        let is_meant = |kind: &&AgentName| kind.as_str() == name;
        let kind = self.kinds.iter().find(is_meant).ok_or_else(|| self.unknown(name, &known))?;
        let others = self.kinds.iter().filter(|it| *it != kind);
        match others.into_iter().find(|it| scale::number(name, it.as_str()).is_some()) {
            None => Ok(kind.clone()),
            Some(other) => Err(Error::config(format!(
                "`{other}` is another agent, but would also be an agent of the kind `{name}`"
            ))
            .hint(format!("give `{other}` another name in `{}`", self.file().display()))),
        }
    }

    /// Returns the agent with this name, or the only agent whose name has this prefix.
    pub fn agent(&self, name: &str) -> Result<&ProjectAgent> {
        let known = self.agent_names();
        let name = self.find(&known, name)?;
        self.agent_of_name(name).ok_or_else(|| self.unknown(name, &known))
    }

    /// Returns the agent with exactly this name.
    pub fn exact_agent(&self, name: &str) -> Result<&ProjectAgent> {
        self.agent_of_name(name).ok_or_else(|| {
            let known = self.agent_names();
            let similar = address::nearest(name, known.iter().copied());
            Unclear::Unknown { similar }.explain(name, self.unknown(name, &known))
        })
    }

    pub fn agent_names(&self) -> Vec<&str> {
        self.agents.iter().map(|agent| agent.name.as_str()).collect()
    }

    /// Returns the agents that a word means: the agent with this name, all agents of the only kind
    /// with this name or prefix, or the only agent with this prefix.
    pub fn agents_meant_by(&self, word: &str) -> Result<Vec<&ProjectAgent>> {
        if let Some(agent) = self.agent_of_name(word) {
            return Ok(vec![agent]);
        }
        let kinds: Vec<&str> = self.kinds.iter().map(AgentName::as_str).collect();
        if let Ok(kind) = address::find_name(&kinds, word) {
            let of_kind = |it: &&ProjectAgent| scale::is_called(it.name.as_str(), kind);
            let all: Vec<&ProjectAgent> = self.agents.iter().filter(of_kind).collect();
            if !all.is_empty() {
                return Ok(all);
            }
        }
        self.agent(word).map(|agent| vec![agent])
    }

    /// Returns the agents that several words mean, each once. Without words, returns all agents.
    pub fn agents_meant_by_all(&self, words: &[String]) -> Result<Vec<&ProjectAgent>> {
        if words.is_empty() && self.kinds.is_empty() {
            return Err(self.no_agents());
        }
        if words.is_empty() {
            return Ok(self.agents.iter().collect());
        }
        let mut agents: Vec<&ProjectAgent> = Vec::new();
        for word in words {
            for agent in self.agents_meant_by(word)? {
                if agents.iter().all(|known| known.name != agent.name) {
                    agents.push(agent);
                }
            }
        }
        Ok(agents)
    }

    /// Returns whether no other agent of the project has the vendor of this agent.
    pub fn is_only_agent_of_vendor(&self, agent: &ProjectAgent) -> bool {
        self.agents.iter().filter(|it| it.vendor == agent.vendor).count() == 1
    }

    /// Returns an error if a name belongs to an agent of the project.
    pub fn refuse_name_of_agent(&self, name: &str) -> Result<()> {
        if self.agent_of_name(name).is_none() {
            return Ok(());
        }
        Err(Error::usage(format!("`{name}` is the name of an agent in `{PROJECT_FILE}`")).hint(
            "use another `--name`: an agent cannot give its sessions the names of the project's agents",
        ))
    }

    fn agent_of_name(&self, name: &str) -> Option<&ProjectAgent> {
        self.agents.iter().find(|agent| agent.name.as_str() == name)
    }

    fn find<'a>(&self, known: &[&'a str], name: &str) -> Result<&'a str> {
        let unknown = |unclear: Unclear| unclear.explain(name, self.unknown(name, known));
        address::find_name(known, name).map_err(unknown)
    }

    fn unknown(&self, name: &str, known: &[&str]) -> Error {
        Error::not_found(format!("there is no agent `{name}` in `{}`", self.file().display()))
            .hint(format!("its agents are: {}", known.join(", ")))
    }

    fn no_agents(&self) -> Error {
        Error::config(format!("there are no agents in `{}`", self.file().display()))
            .hint("add some; `segue init` in an empty folder writes an example")
    }

    fn file(&self) -> PathBuf {
        self.folder.join(PROJECT_FILE)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Kind;
    use crate::flows::samples::project;

    fn shop() -> Project {
        let agents = [("coder-1", "one"), ("coder-2", "one"), ("tester", "two"), ("writer", "one")];
        project(&["coder", "tester", "writer"], &agents)
    }

    #[test]
    fn words_mean_one_agent_or_all_agents_of_a_kind_each_once() {
        let table: [(&[&str], &str); 7] = [
            (&[], "coder-1 coder-2 tester writer"),
            (&["coder"], "coder-1 coder-2"),
            (&["co"], "coder-1 coder-2"),
            (&["coder-2"], "coder-2"),
            (&["te"], "tester"),
            (&["coder-2", "coder"], "coder-2 coder-1"),
            (&["tester", "tester"], "tester"),
        ];
        for (words, expected) in table {
            let words: Vec<String> = words.iter().map(|&word| word.to_owned()).collect();
            let project = shop();
            let found = project.agents_meant_by_all(&words).unwrap();
            let found: Vec<&str> = found.iter().map(|it| it.name.as_str()).collect();
            assert_eq!(found.join(" "), expected, "{words:?}");
        }
    }

    #[test]
    fn unknown_agent_is_not_found_and_a_project_without_agents_is_a_config_error() {
        let called = |project: &Project, word: &str| {
            project.agents_meant_by_all(&[word.to_owned()]).map(|_| ()).unwrap_err()
        };
        let error = called(&shop(), "nobody");
        assert_eq!(error.kind, Kind::NotFound);
        assert!(error.hints.iter().any(|it| it.contains("coder-1, coder-2, tester")), "{error:?}");
        assert_eq!(project(&[], &[]).agents_meant_by_all(&[]).unwrap_err().kind, Kind::Config);
    }

    #[test]
    fn kind_is_found_unless_another_kind_looks_like_one_of_its_agents() {
        assert_eq!(shop().kind("coder").unwrap().as_str(), "coder");
        assert_eq!(shop().kind("test").unwrap().as_str(), "tester");
        assert_eq!(shop().kind("coder-1").unwrap_err().kind, Kind::NotFound);
        let confusing = project(&["coder", "coder-1"], &[("coder", "one"), ("coder-1", "one")]);
        assert_eq!(confusing.kind("coder").unwrap_err().kind, Kind::Config);
    }

    #[test]
    fn agent_is_the_only_one_of_its_vendor_if_no_other_agent_has_that_vendor() {
        let project = shop();
        for (name, expected) in [("coder-1", false), ("tester", true), ("writer", false)] {
            let agent = project.exact_agent(name).unwrap();
            assert_eq!(project.is_only_agent_of_vendor(agent), expected, "{name}");
        }
    }

    #[test]
    fn name_of_an_agent_is_refused_for_other_sessions() {
        assert!(shop().refuse_name_of_agent("coder").is_ok());
        assert_eq!(shop().refuse_name_of_agent("coder-1").unwrap_err().kind, Kind::Usage);
    }
}
