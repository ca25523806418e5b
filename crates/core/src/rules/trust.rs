//! Records what a user trusts in a project file, and finds what has changed since.

use std::path::Path;

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::error::Error;
use crate::model::{PROJECT_FILE, TrustClaim};
use crate::rules::shell::quoted;

/// Version of the recorded format. It is increased when the claims cover more of a project file.
/// Users are then asked again about files that they trusted before.
const FORMAT_VERSION: u32 = 2;

/// At most this many lines of a text, or of a change in one, are shown.
const MAX_SHOWN_LINES: usize = 40;
/// At most this many characters of a line are shown.
const MAX_SHOWN_CHARACTERS: usize = 300;

/// How many lines of untrusted content an error shows. `segue trust` shows all of them.
const MAX_REFUSAL_LINES: usize = 30;

/// Prefix of each line of a text that is shown.
const TEXT_MARK: &str = "  | ";

impl TrustClaim {
    fn shown(&self) -> &str {
        self.words.as_deref().unwrap_or(&self.value)
    }

    fn is_same(&self, other: &Self) -> bool {
        (&self.what, &self.value, self.is_text) == (&other.what, &other.value, other.is_text)
    }

    fn headline(&self) -> String {
        if self.is_text {
            format!("{}, {} bytes", self.what, self.value.len())
        } else {
            format!("{}: {}", self.what, shortened(self.shown()))
        }
    }
}

/// The data that is recorded when a user trusts a project file.
#[derive(Serialize, Deserialize)]
struct Trusted {
    form: u32,
    claims: Vec<TrustClaim>,
}

/// Returns the text to record for these claims. It contains all of them, so that a later change can
/// be shown.
pub fn recorded(claims: &[TrustClaim]) -> String {
    let trusted = Trusted { form: FORMAT_VERSION, claims: claims.to_vec() };
    // Serialization cannot fail: the value consists of strings, numbers and booleans.
    serde_json::to_string(&trusted).unwrap_or_default()
}

/// Returns a hash of these claims. Different claims have different hashes.
pub fn digest(claims: &[TrustClaim]) -> String {
    let hash = Sha256::digest(recorded(claims));
    hash.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Returns the claims for display, with their texts.
pub fn shown(claims: &[TrustClaim]) -> Vec<String> {
    let mut lines = Vec::new();
    for claim in claims {
        if claim.is_text {
            lines.push(format!("{}:", claim.headline()));
            let all: Vec<&str> = claim.value.lines().collect();
            lines.extend(limited(&all, TEXT_MARK));
        } else {
            lines.push(claim.headline());
        }
    }
    lines
}

/// Returns the claims for display, one line each.
pub fn headlines(claims: &[TrustClaim]) -> Vec<String> {
    claims.iter().map(TrustClaim::headline).collect()
}

/// The changes, for display.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Changes {
    /// One line for each claim.
    pub headlines: Vec<String>,
    /// The same lines, each followed by the lines that differ.
    pub lines: Vec<String>,
}

/// Returns what has changed since a project file was trusted. Empty if nothing has changed.
pub fn changes(trusted: &str, now: &[TrustClaim]) -> Changes {
    let mut changes = Changes::default();
    let before = match serde_json::from_str::<Trusted>(trusted) {
        Ok(before) if before.form == FORMAT_VERSION => before.claims,
        _ => {
            let reason =
                "it was trusted by a version that did not check prompts, instructions and models";
            changes.add(reason.to_owned(), Vec::new());
            return changes;
        }
    };
    for claim in now {
        match before.iter().find(|it| it.what == claim.what) {
            None => {
                let lines: Vec<&str> = claim.shown().lines().collect();
                changes.add(format!("new: {}", claim.what), limited(&lines, "  + "));
            }
            Some(old) if old.value != claim.value => {
                changes.add(format!("changed: {}", claim.what), difference(old, claim));
            }
            Some(_) => {}
        }
    }
    for claim in before.iter().filter(|it| now.iter().all(|new| new.what != it.what)) {
        changes.add(format!("removed: {}", claim.what), Vec::new());
    }
    let is_same = before.len() == now.len() && before.iter().zip(now).all(|(a, b)| a.is_same(b));
    if changes.headlines.is_empty() && !is_same {
        changes.add("the order of the agents or settings".to_owned(), Vec::new());
    }
    changes
}

impl Changes {
    fn add(&mut self, headline: String, lines: Vec<String>) {
        self.headlines.push(headline.clone());
        self.lines.push(headline);
        self.lines.extend(lines);
    }
}

/// Returns the lines that differ: all lines except those that both texts have in common at the
/// beginning and at the end.
fn difference(old: &TrustClaim, new: &TrustClaim) -> Vec<String> {
    let (old, new): (Vec<&str>, Vec<&str>) =
        (old.shown().lines().collect(), new.shown().lines().collect());
    let same = |pairs: &mut dyn Iterator<Item = (&&str, &&str)>| {
        pairs.take_while(|(old, new)| old == new).count()
    };
    let begin = same(&mut old.iter().zip(&new));
    let rest = old.len().min(new.len()) - begin;
    let end = same(&mut old.iter().rev().zip(new.iter().rev()).take(rest));
    let mut lines = limited(&old[begin..old.len() - end], "  - ");
    lines.extend(limited(&new[begin..new.len() - end], "  + "));
    if lines.is_empty() {
        lines.push("  the line endings".to_owned());
    }
    lines
}

fn limited(lines: &[&str], mark: &str) -> Vec<String> {
    let shown = lines.iter().take(MAX_SHOWN_LINES);
    let mut shown: Vec<String> = shown.map(|line| format!("{mark}{}", shortened(line))).collect();
    if let Some(more) = lines.len().checked_sub(MAX_SHOWN_LINES).filter(|more| *more > 0) {
        shown.push(format!("{mark}… and {more} more lines"));
    }
    shown
}

/// Returns the error for a project file that the user has not trusted as it is now. `None` if
/// nothing has changed since the user trusted it. `changes` is `None` if it was never trusted.
pub fn refusal(folder: &Path, changes: Option<Changes>, now: &[TrustClaim]) -> Option<Error> {
    let lines = match changes {
        Some(changes) if changes.headlines.is_empty() => return None,
        Some(changes) => changes.lines,
        None => headlines(now),
    };
    let file = folder.join(PROJECT_FILE);
    let error = Error::config(format!("`{}` is not trusted as it is now", file.display()));
    let shown = lines.iter().take(MAX_REFUSAL_LINES).map(|line| line.trim_start());
    let error = shown.fold(error, |error, line| error.caused_by(line));
    Some(error.hint(format!("look at it, then run `segue trust {}`", quoted(folder))))
}

fn shortened(line: &str) -> String {
    let mut short: String = line.chars().take(MAX_SHOWN_CHARACTERS).collect();
    if short.len() < line.len() {
        let more = line.chars().count() - MAX_SHOWN_CHARACTERS;
        short = format!("{short}… and {more} more characters");
    }
    short
}

#[cfg(test)]
mod tests {
    use super::*;

    fn claims(prompt: &str) -> Vec<TrustClaim> {
        vec![
            TrustClaim::setting("agent coder", "demo with permission ask"),
            TrustClaim::text("agent coder: prompt of `p.md`", prompt),
        ]
    }

    #[test]
    fn settings_are_shown_in_one_line_and_texts_line_by_line() {
        let expected = [
            "agent coder: demo with permission ask",
            "agent coder: prompt of `p.md`, 7 bytes:",
            "  | one",
            "  | two",
        ];
        assert_eq!(shown(&claims("one\ntwo")), expected);
        let long = "line\n".repeat(100);
        let shown = shown(&claims(&long));
        assert_eq!(shown.len(), 2 + MAX_SHOWN_LINES + 1);
        assert_eq!(shown.last().unwrap(), "  | … and 60 more lines");
        assert!(super::shown(&claims(&"x".repeat(1000)))[2].ends_with("… and 700 more characters"));
        assert_eq!(headlines(&claims(&long)).len(), 2);
    }

    #[test]
    fn every_change_of_the_claims_is_reported() {
        let old = recorded(&claims("one\ntwo\nthree"));
        assert_eq!(changes(&old, &claims("one\ntwo\nthree")), Changes::default());
        let found = changes(&old, &claims("one\n2\nthree"));
        assert_eq!(found.headlines, ["changed: agent coder: prompt of `p.md`"]);
        assert_eq!(found.lines[1..], ["  - two", "  + 2"]);
        let found = changes(&old, &claims("one\ntwo\nthree\n"));
        assert_eq!(found.lines[1..], ["  the line endings"]);
        let found = changes(&old, &claims("one\ntwo\nthree")[..1]);
        assert_eq!(found.headlines, ["removed: agent coder: prompt of `p.md`"]);
        let mut more = claims("one\ntwo\nthree");
        more.push(TrustClaim::setting("agent coder: environment A", "1"));
        assert_eq!(changes(&old, &more).lines, ["new: agent coder: environment A", "  + 1"]);
        more.truncate(2);
        more.reverse();
        assert_eq!(changes(&old, &more).headlines, ["the order of the agents or settings"]);
        for prompt in ["", "one", "one\ntwo\nthree\nfour", "three\ntwo\none", "two"] {
            assert_ne!(changes(&old, &claims(prompt)), Changes::default(), "{prompt}");
        }
    }

    #[test]
    fn trust_recorded_in_an_older_format_is_reported_as_changed() {
        let older = "agent coder: demo with permission ask, arguments []";
        assert_eq!(changes(older, &claims("one")).headlines.len(), 1);
        assert_eq!(changes("", &claims("one")).headlines.len(), 1);
        let older = recorded(&claims("one")).replace("\"form\":2", "\"form\":1");
        assert_eq!(changes(&older, &claims("one")).headlines.len(), 1);
    }

    #[test]
    fn digest_has_64_characters_and_differs_for_different_claims() {
        let one = digest(&claims("one"));
        assert_eq!((one.len(), &one), (64, &digest(&claims("one"))));
        assert_ne!(one, digest(&claims("two")));
    }

    #[test]
    fn words_for_a_setting_do_not_change_recorded_trust() {
        let setting = TrustClaim::setting("vendor mytool", "[\"mytool\"], new None");
        let before = recorded(std::slice::from_ref(&setting));
        let now = [setting.in_words("runs `mytool`")];
        assert_eq!(changes(&before, &now), Changes::default());
        assert_eq!(headlines(&now), ["vendor mytool: runs `mytool`"]);
        assert_eq!(changes(&recorded(&now), &now), Changes::default());
    }

    #[test]
    fn refusal_lists_what_is_not_trusted_and_names_the_command() {
        let (now, folder) = (claims("one\ntwo"), Path::new("/my shop"));
        let same = Some(changes(&recorded(&now), &now));
        assert_eq!(refusal(folder, same, &now), None);
        let never = refusal(folder, None, &now).unwrap();
        assert_eq!(never.message, "`/my shop/segue.toml` is not trusted as it is now");
        assert_eq!(never.causes, headlines(&now));
        assert_eq!(never.hints, ["look at it, then run `segue trust '/my shop'`"]);
        let changed = refusal(folder, Some(changes(&recorded(&claims("one")), &now)), &now);
        assert_eq!(changed.unwrap().causes[1..], ["+ two"]);
        let long = claims(&"line\n".repeat(100));
        let many = refusal(folder, Some(changes(&recorded(&claims("")), &long)), &long);
        assert_eq!(many.unwrap().causes.len(), MAX_REFUSAL_LINES);
    }
}
