//! The names of the agents of one kind, and which agents exceed the number of that kind.
//!
//! A kind is an agent of the project file, of which several can run at the same time.

use crate::model::{AgentName, Counts};

/// The largest number of agents of one kind. No real project runs more on one machine.
pub const MAX_AGENTS_OF_KIND: u32 = 100;

/// Returns whether a project file may set this number of agents of one kind.
pub fn is_in_range(count: u32) -> bool {
    (1..=MAX_AGENTS_OF_KIND).contains(&count)
}

/// Returns the names of the agents of a kind. Their number is `scaled`, which `segue scale` sets,
/// or `written`, the number in the project file. An agent that had the plain name before `segue
/// scale` is the first of them and keeps its name.
pub fn names(
    kind: &str,
    (written, scaled): (u32, Option<u32>),
    exists: impl Fn(&str) -> bool,
) -> Vec<String> {
    let numbered = |number: u32| format!("{kind}-{number}");
    let count = scaled.unwrap_or(written);
    let plain = match scaled {
        None => written == 1 && (exists(kind) || !exists(&numbered(1))),
        Some(_) => exists(kind) || (written == 1 && count == 1 && !exists(&numbered(1))),
    };
    let name = |number| if number == 1 && plain { kind.to_owned() } else { numbered(number) };
    (1..=count).map(name).collect()
}

/// Returns the number of an agent within its kind: 1 for the plain name, N for `kind-N`. `None` if
/// the name is not of this kind.
pub fn number(kind: &str, name: &str) -> Option<u32> {
    let rest = name.strip_prefix(kind)?;
    if rest.is_empty() {
        return Some(1);
    }
    let digits = rest.strip_prefix('-')?;
    let plain = !digits.starts_with('0') && digits.bytes().all(|byte| byte.is_ascii_digit());
    plain.then(|| digits.parse().ok())?
}

/// Returns whether a word refers to this agent: it is the agent's own name or the name of its kind.
pub fn is_called(agent: &str, word: &str) -> bool {
    agent == word || number(word, agent).is_some()
}

/// Returns whether a name looks like a numbered agent of another kind but is itself a kind.
pub fn is_separate_kind(kinds: &[AgentName], name: &str) -> bool {
    let is_other =
        |kind: &AgentName| kind.as_str() != name && number(kind.as_str(), name).is_some();
    kinds.iter().any(|kind| kind.as_str() == name) && kinds.iter().any(is_other)
}

/// Returns the agent of a session if the project does not have that agent. Otherwise `None`.
pub fn surplus<'a>(agents: &[&AgentName], agent: Option<&'a AgentName>) -> Option<&'a AgentName> {
    agent.filter(|agent| !agents.contains(agent))
}

/// Returns whether an agent's number exceeds the number that `segue scale` set for its kind.
pub fn exceeds_count(counts: &Counts, agent: &AgentName) -> bool {
    counts.iter().any(|(kind, count)| {
        number(kind.as_str(), agent.as_str()).is_some_and(|number| number > *count)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agents_keep_their_names_when_their_number_changes() {
        let table = [
            (1, None, "", "coder"),
            (2, None, "coder", "coder-1 coder-2"),
            // A single agent that was one of several keeps its number.
            (1, None, "coder-1 coder-2", "coder-1"),
            (1, None, "coder coder-1", "coder"),
            (1, Some(1), "", "coder"),
            (1, Some(3), "", "coder-1 coder-2 coder-3"),
            (1, Some(3), "coder", "coder coder-2 coder-3"),
            (1, Some(1), "coder coder-2", "coder"),
            (1, Some(1), "coder-1 coder-2", "coder-1"),
            (2, Some(1), "coder-1 coder-2", "coder-1"),
            (2, Some(3), "", "coder-1 coder-2 coder-3"),
            (2, Some(0), "coder-1", ""),
        ];
        for (written, scaled, existing, expected) in table {
            let exists = |name: &str| existing.split(' ').any(|it| it == name);
            let found = names("coder", (written, scaled), exists).join(" ");
            assert_eq!(found, expected, "{written} {scaled:?} {existing:?}");
        }
    }

    #[test]
    fn word_refers_to_one_agent_or_to_all_agents_of_a_kind() {
        let table = [
            ("coder", "coder", true),
            ("coder-1", "coder", true),
            ("coder-1", "coder-1", true),
            ("coder-1", "coder-2", false),
            ("coder-x", "coder", false),
            ("coder", "coder-1", false),
        ];
        for (agent, word, expected) in table {
            assert_eq!(is_called(agent, word), expected, "{agent} {word}");
        }
    }

    #[test]
    fn kind_whose_name_looks_like_a_numbered_agent_is_recognized() {
        let kinds = ["coder", "coder-1", "tester"].map(|name| AgentName::parse(name).unwrap());
        for (name, expected) in [("coder", false), ("coder-1", true), ("tester-1", false)] {
            assert_eq!(is_separate_kind(&kinds, name), expected, "{name}");
        }
    }

    #[test]
    fn session_of_an_agent_that_the_project_does_not_have_is_surplus() {
        let name = |text: &str| AgentName::parse(text).unwrap();
        let (first, second) = (name("coder-1"), name("coder-2"));
        assert_eq!(surplus(&[&first], Some(&second)), Some(&second));
        assert_eq!(surplus(&[&first], Some(&first)), None);
        assert_eq!(surplus(&[&first], None), None);
    }

    #[test]
    fn agents_with_numbers_above_the_count_are_too_many() {
        let name = |text: &str| AgentName::parse(text).unwrap();
        let counts = Counts::from([(name("coder"), 2), (name("idle"), 0)]);
        let table = [
            ("coder", false),
            ("coder-1", false),
            ("coder-2", false),
            ("coder-3", true),
            ("coder-10", true),
            ("coder-03", false),
            ("coder-x", false),
            ("coders-3", false),
            ("idle", true),
            ("idle-1", true),
            ("other-9", false),
        ];
        for (agent, expected) in table {
            assert_eq!(exceeds_count(&counts, &name(agent)), expected, "{agent}");
        }
    }
}
