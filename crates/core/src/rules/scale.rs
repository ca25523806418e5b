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
        None => written == 1,
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
