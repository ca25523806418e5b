//! How the agents of one kind are called, and which of them are too many.

use crate::model::{AgentName, Counts};

/// Returns the names of the agents of a kind: so many as the file says, or as somebody said since.
/// One that was there before the others were counted is the first of them, and keeps its name.
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

/// Returns which one of a kind this is.
pub fn number(kind: &str, name: &str) -> Option<u32> {
    let rest = name.strip_prefix(kind)?;
    if rest.is_empty() {
        return Some(1);
    }
    let digits = rest.strip_prefix('-')?;
    let plain = !digits.starts_with('0') && digits.bytes().all(|byte| byte.is_ascii_digit());
    plain.then(|| digits.parse().ok())?
}

/// Tells whether a word means this agent: its own name, or that of its kind.
pub fn is_called(agent: &str, word: &str) -> bool {
    agent == word || number(word, agent).is_some()
}

/// Tells whether a name looks like one of several of a kind, and is another kind's.
pub fn is_of_its_own(kinds: &[AgentName], name: &str) -> bool {
    let is_other =
        |kind: &AgentName| kind.as_str() != name && number(kind.as_str(), name).is_some();
    kinds.iter().any(|kind| kind.as_str() == name) && kinds.iter().any(is_other)
}

/// Returns the agent that a session runs as, if the project does not have it.
pub fn surplus<'a>(agents: &[&AgentName], of: Option<&'a AgentName>) -> Option<&'a AgentName> {
    of.filter(|of| !agents.contains(of))
}

/// Tells whether an agent is one more of its kind than somebody said that there are.
pub fn is_too_many(counts: &Counts, agent: &AgentName) -> bool {
    counts.iter().any(|(kind, count)| {
        number(kind.as_str(), agent.as_str()).is_some_and(|number| number > *count)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agents_of_a_kind_keep_their_names_when_there_are_more_or_fewer() {
        let table = [
            (1, None, "", "coder"),
            (2, None, "coder", "coder-1 coder-2"),
            // One that was one of several goes on under its number.
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
        for (written, scaled, there, expected) in table {
            let exists = |name: &str| there.split(' ').any(|it| it == name);
            let found = names("coder", (written, scaled), exists).join(" ");
            assert_eq!(found, expected, "{written} {scaled:?} {there:?}");
        }
    }

    #[test]
    fn word_means_an_agent_or_all_of_a_kind() {
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
    fn agent_that_is_called_like_one_of_several_is_of_its_own() {
        let kinds = ["coder", "coder-1", "tester"].map(|name| AgentName::parse(name).unwrap());
        for (name, expected) in [("coder", false), ("coder-1", true), ("tester-1", false)] {
            assert_eq!(is_of_its_own(&kinds, name), expected, "{name}");
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
    fn the_highest_numbers_are_too_many() {
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
            assert_eq!(is_too_many(&counts, &name(agent)), expected, "{agent}");
        }
    }
}
