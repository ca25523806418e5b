//! Generates names for sessions that the user did not name, and decides the names of a session that is
//! renamed.

use uuid::Uuid;

use crate::model::{Session, SessionName, SessionNames};

const FIRST_WORDS: [&str; 16] = [
    "amber", "brisk", "calm", "clear", "crisp", "deep", "early", "fair", "keen", "light", "mild",
    "quiet", "rapid", "still", "sunny", "warm",
];
const SECOND_WORDS: [&str; 16] = [
    "birch", "brook", "cedar", "cove", "crane", "field", "finch", "harbor", "heron", "lark",
    "maple", "meadow", "otter", "reef", "ridge", "willow",
];

/// Returns two names made from `random`: a short one, and one that is almost certainly free.
pub fn suggestions(random: Uuid) -> [String; 2] {
    let bytes = random.as_bytes();
    let pick = |words: &[&'static str; 16], byte: u8| words[usize::from(byte % 16)];
    let name = format!("{}-{}", pick(&FIRST_WORDS, bytes[0]), pick(&SECOND_WORDS, bytes[1]));
    // There are only 256 short names.
    let longer = format!("{name}-{:02x}{:02x}{:02x}", bytes[13], bytes[14], bytes[15]);
    [name, longer]
}

/// Maximum length of a session's name.
const MAX_NAME_CHARS: usize = 64;

/// Length of two dashes and a number of four digits.
const NUMBER_CHARS: usize = 6;

/// Returns new names for a session whose name another session gets: its name with the vendor's name,
/// then the same with a number.
pub fn names_with_vendor(name: &str, vendor: &str) -> impl Iterator<Item = String> {
    let base = vendor_base(name, vendor);
    let numbered = base.clone();
    let numbered = (2..10_000).map(move |number| format!("{numbered}-{number}"));
    std::iter::once(base).chain(numbered)
}

/// Returns whether `candidate` is one of [`names_with_vendor`] for this name and this vendor.
pub fn is_name_with_vendor(candidate: &str, name: &str, vendor: &str) -> bool {
    let Some(rest) = candidate.strip_prefix(&vendor_base(name, vendor)) else { return false };
    let number = rest.strip_prefix('-').unwrap_or_default();
    rest.is_empty() || !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit())
}

/// Returns the names of a session after a person has renamed it. `segue up` still finds the session
/// of an agent by its earlier name, until the session gets that name again.
pub fn renamed_by_person(session: &Session, name: SessionName) -> SessionNames {
    let up_name = belongs_to_up(session).then(|| session.name_for_up().clone());
    let up_name = up_name.filter(|up_name| *up_name != name);
    SessionNames { name, up_name }
}

/// Returns the names of a session of an agent after `segue up` has renamed it. A name that a person
/// has given to the session stays.
pub fn renamed_by_up(session: &Session, name: SessionName) -> SessionNames {
    match &session.up_name {
        Some(_) if session.name == name => SessionNames { name, up_name: None },
        Some(_) => SessionNames { name: session.name.clone(), up_name: Some(name) },
        None => SessionNames { name, up_name: None },
    }
}

/// Returns whether `segue up` would find the session as a session of its agent. Excludes sessions
/// that were started with `segue run` under another name.
fn belongs_to_up(session: &Session) -> bool {
    let name = session.name_for_up().as_str();
    session.parent.is_none()
        && session.agent.as_ref().is_some_and(|agent| {
            let agent = agent.as_str();
            name == agent || is_name_with_vendor(name, agent, session.vendor.as_str())
        })
}

fn vendor_base(name: &str, vendor: &str) -> String {
    let most = MAX_NAME_CHARS.saturating_sub(vendor.len() + NUMBER_CHARS);
    let start: String = name.chars().take(most).collect();
    format!("{start}-{vendor}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::flows::samples;
    use crate::model::AgentName;

    fn session(name: &str, up_name: Option<&str>, agent: Option<&str>) -> Session {
        let parse = |name: &str| SessionName::parse(name).unwrap();
        let up_name = up_name.map(parse);
        let agent = agent.map(|agent| AgentName::parse(agent).unwrap());
        Session { up_name, agent, ..samples::session(1, name) }
    }

    #[test]
    fn session_of_an_agent_keeps_the_name_for_up_when_a_person_renames_it() {
        let table = [
            // The name, the name for `segue up`, the agent, the new name; the name for up then.
            (("coder", None, Some("coder")), "alice", Some("coder")),
            (("coder-tool-2", None, Some("coder")), "alice", Some("coder-tool-2")),
            (("alice", Some("coder"), Some("coder")), "bob", Some("coder")),
            (("alice", Some("coder"), Some("coder")), "coder", None),
            // A session that `segue up` does not start again takes its names with it.
            (("fix", None, Some("coder")), "coder", None),
            (("coder", None, None), "alice", None),
        ];
        for ((name, up_name, agent), new, expected) in table {
            let before = session(name, up_name, agent);
            let names = renamed_by_person(&before, SessionName::parse(new).unwrap());
            let found = names.up_name.as_ref().map(SessionName::as_str);
            assert_eq!((names.name.as_str(), found), (new, expected), "{name} {new}");
        }
        let child = Session {
            parent: Some(samples::session(2, "parent").id),
            ..session("coder", None, Some("coder"))
        };
        let names = renamed_by_person(&child, SessionName::parse("alice").unwrap());
        assert_eq!(names.up_name, None);
    }

    #[test]
    fn up_does_not_change_a_name_that_a_person_has_given() {
        let table = [
            (("coder", None), "coder-tool", ("coder-tool", None)),
            (("alice", Some("coder")), "coder-tool", ("alice", Some("coder-tool"))),
            (("alice", Some("coder")), "alice", ("alice", None)),
        ];
        for ((name, up_name), new, (expected, expected_up)) in table {
            let before = session(name, up_name, Some("coder"));
            let names = renamed_by_up(&before, SessionName::parse(new).unwrap());
            let found = names.up_name.as_ref().map(SessionName::as_str);
            assert_eq!((names.name.as_str(), found), (expected, expected_up), "{name} {new}");
        }
    }

    #[test]
    fn second_suggestion_is_longer_than_the_first_and_valid() {
        let [plain, longer] = suggestions(Uuid::from_u128(u128::MAX / 3));
        assert!(longer.starts_with(&plain) && longer != plain);
        assert!(SessionName::parse(&longer).is_ok());
    }

    #[test]
    fn names_with_a_vendor_are_numbered_and_never_too_long() {
        let names: Vec<String> = names_with_vendor("coder", "tool").take(3).collect();
        assert_eq!(names, ["coder-tool", "coder-tool-2", "coder-tool-3"]);
        let long = names_with_vendor(&"x".repeat(64), "some-tool").last().unwrap();
        assert!(long.ends_with("-some-tool-9999"), "{long}");
        assert!(SessionName::parse(&long).is_ok(), "{long}");
    }

    #[test]
    fn name_with_a_vendor_is_distinguished_from_names_with_the_same_prefix() {
        for made in ["coder-pi", "coder-pi-2", "coder-pi-9999"] {
            assert!(is_name_with_vendor(made, "coder", "pi"), "{made}");
        }
        for other in ["coder", "coder-pilot", "coder-pi-", "coder-pi-b", "coder-pi2", "coder-other"]
        {
            assert!(!is_name_with_vendor(other, "coder", "pi"), "{other}");
        }
        let long = "x".repeat(64);
        let made = names_with_vendor(&long, "tool").next().unwrap();
        assert!(is_name_with_vendor(&made, &long, "tool"));
    }
}
