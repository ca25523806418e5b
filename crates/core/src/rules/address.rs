//! Resolves a word to the session, fleet, agent or vendor that a user means.

use std::collections::BTreeSet;

use crate::error::Error;
use crate::model::{SessionId, VendorSessionId};

mod nearest;

pub use nearest::nearest;

const URL: &str = "segue://session/";
/// Minimum length of a prefix of a session id.
const MIN_ID_PREFIX_CHARS: usize = 4;

/// A session that can be addressed. The fields are borrowed from the caller's data.
#[derive(Clone, Copy, Debug)]
pub struct Addressable<'a> {
    pub id: SessionId,
    pub fleet: &'a str,
    pub name: &'a str,
    pub vendor_session: Option<&'a VendorSessionId>,
    /// An agent started this session and chose its name.
    pub is_child: bool,
}

/// How much of a name a user must type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Precision {
    /// The complete name, or a prefix of an id. For commands that cannot be undone.
    Whole,
    /// A prefix of a name is enough if no other name begins with it.
    Beginning,
}

/// What an address can refer to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AddressTargets {
    Sessions,
    /// Sessions, or a fleet, which stands for all of its sessions.
    SessionsAndFleets,
}

/// The result of resolving an address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ResolvedAddress {
    Session(SessionId),
    Fleet(String),
    /// The address matches all of these equally well.
    Several(Vec<AddressMatch>),
    /// Nothing matches. `similar` contains the most similar addresses.
    Nothing {
        similar: Vec<String>,
    },
}

/// One of several matches of an address.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum AddressMatch {
    Session(SessionId),
    Fleet(String),
}

/// How to interpret an address.
#[derive(Clone, Copy, Debug)]
pub struct AddressReading<'a> {
    /// The fleet of the caller's folder. Its names are preferred.
    pub here: Option<&'a str>,
    pub precision: Precision,
    pub targets: AddressTargets,
}

/// Resolves `text`. Exact matches are tried first, so that a complete name never resolves to a
/// longer name that begins with it. The order is: id or URL, `fleet/name`, a name in the fleet
/// `here`, a name in any fleet, the vendor's id, a fleet. Then prefixes are tried: of an id, and of
/// a name in the fleet `here`. If no name in that fleet matches, prefixes of names in any fleet and
/// of fleets are tried, too.
pub fn find(
    sessions: &[Addressable<'_>],
    text: &str,
    reading: AddressReading<'_>,
) -> ResolvedAddress {
    let text = without_scheme(text);
    if text.is_empty() {
        return ResolvedAddress::Nothing { similar: Vec::new() };
    }
    if let Ok(id) = text.parse::<SessionId>()
        && sessions.iter().any(|session| session.id == id)
    {
        return ResolvedAddress::Session(id);
    }
    let all = Pool { sessions, text, reading };
    all.shadowed()
        .or_else(|| all.whole())
        .or_else(|| all.beginning())
        .unwrap_or_else(|| ResolvedAddress::Nothing { similar: all.similar() })
}

/// Returns the id in a `segue://session/` URL. Returns any other text unchanged.
pub fn without_scheme(text: &str) -> &str {
    text.strip_prefix(URL).unwrap_or(text)
}

/// Finds the one of `names` that a word refers to: the name itself, or the only name that begins
/// with the word. The error contains the matching names or the similar names.
pub fn find_name<'a>(names: &[&'a str], word: &str) -> Result<&'a str, Unclear> {
    if let Some(name) = names.iter().find(|name| **name == word) {
        return Ok(name);
    }
    let beginning: BTreeSet<&str> = match word {
        "" => BTreeSet::new(),
        word => names.iter().copied().filter(|name| name.starts_with(word)).collect(),
    };
    match beginning.iter().collect::<Vec<_>>().as_slice() {
        [only] => Ok(only),
        [] => Err(Unclear::Unknown { similar: nearest(word, names.iter().copied()) }),
        _ => Err(Unclear::Several(beginning.into_iter().map(str::to_owned).collect())),
    }
}

/// Returns the one of `names` that a word refers to. A word without a match is returned unchanged,
/// so that the caller's lookup reports the error.
pub fn whole_name(names: &[&str], word: &str) -> Result<String, Error> {
    match find_name(names, word) {
        Ok(name) => Ok(name.to_owned()),
        Err(Unclear::Unknown { .. }) => Ok(word.to_owned()),
        Err(Unclear::Several(names)) => Err(ambiguous(word, &names)),
    }
}

/// Why a word does not refer to exactly one name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unclear {
    Unknown {
        similar: Vec<String>,
    },
    /// All of these names begin with the word.
    Several(Vec<String>),
}

impl Unclear {
    /// Returns the error for a word: `unknown` with similar names as hints, or the list of matching
    /// names.
    pub fn explain(self, word: &str, mut unknown: Error) -> Error {
        match self {
            Self::Unknown { similar } => {
                let similar = similar.iter().map(|name| format!("did you mean `{name}`?"));
                unknown.hints = similar.chain(unknown.hints).collect();
                unknown
            }
            Self::Several(names) => ambiguous(word, &names),
        }
    }
}

fn ambiguous(word: &str, names: &[String]) -> Error {
    let error = Error::usage(format!("`{word}` can mean {} names", names.len()));
    names.iter().fold(error, |error, name| error.hint(format!("use `{name}`")))
}

struct Pool<'a> {
    sessions: &'a [Addressable<'a>],
    text: &'a str,
    reading: AddressReading<'a>,
}

impl Pool<'_> {
    /// Finds the sessions that a word may mean if an agent has named its child session with it, and
    /// the name of a user's session begins with it. `None` in all other cases.
    fn shadowed(&self) -> Option<ResolvedAddress> {
        let is_name = |it: &Addressable<'_>| it.name == self.text;
        let accepts_prefix = self.reading.precision == Precision::Beginning;
        let of_user = self.matching(&|it| is_name(it) && !it.is_child);
        let mut candidates = self.matching(&|it| is_name(it) && it.is_child);
        if !accepts_prefix || !of_user.is_empty() || candidates.is_empty() {
            return None;
        }
        let begins = |it: &Addressable<'_>| it.name.starts_with(self.text) && !it.is_child;
        candidates.extend(self.matching(&begins));
        resolved(candidates).filter(|found| matches!(found, ResolvedAddress::Several(_)))
    }

    /// Matches the text exactly, in the order that [`find`] describes.
    fn whole(&self) -> Option<ResolvedAddress> {
        let text = self.text;
        let readings: [&dyn Fn(&Addressable<'_>) -> bool; 4] = [
            &|it| text.split_once('/') == Some((it.fleet, it.name)),
            &|it| Some(it.fleet) == self.reading.here && it.name == text,
            &|it| it.name == text,
            &|it| it.vendor_session.is_some_and(|id| id.as_str() == text),
        ];
        let found = readings.iter().find_map(|reading| resolved(self.matching(*reading)));
        found.or_else(|| resolved(self.fleets(|fleet| fleet == text)))
    }

    /// Matches the text as a prefix of an id and, if allowed, of a name. Both are matched together,
    /// so that a text that fits both is reported as ambiguous.
    fn beginning(&self) -> Option<ResolvedAddress> {
        let is_long_enough = self.text.len() >= MIN_ID_PREFIX_CHARS;
        let mut candidates =
            self.matching(&|it| is_long_enough && it.id.to_string().starts_with(self.text));
        if self.reading.precision == Precision::Beginning {
            let here = |it: &Addressable<'_>| Some(it.fleet) == self.reading.here;
            let own = self.matching(&|it| here(it) && it.name.starts_with(self.text));
            candidates.extend(if own.is_empty() { self.beginning_anywhere() } else { own });
        }
        resolved(candidates)
    }

    fn beginning_anywhere(&self) -> BTreeSet<AddressMatch> {
        let Some((fleet, name)) = self.text.split_once('/') else {
            let mut candidates = self.matching(&|it| it.name.starts_with(self.text));
            candidates.extend(self.fleets(|fleet| fleet.starts_with(self.text)));
            return candidates;
        };
        let own = self.matching(&|it| it.fleet == fleet && it.name.starts_with(name));
        if !own.is_empty() {
            return own;
        }
        self.matching(&|it| it.fleet.starts_with(fleet) && it.name.starts_with(name))
    }

    fn matching(&self, reading: &dyn Fn(&Addressable<'_>) -> bool) -> BTreeSet<AddressMatch> {
        let matching = self.sessions.iter().filter(|it| reading(it));
        matching.map(|it| AddressMatch::Session(it.id)).collect()
    }

    fn fleets(&self, reading: impl Fn(&str) -> bool) -> BTreeSet<AddressMatch> {
        if self.reading.targets == AddressTargets::Sessions {
            return BTreeSet::new();
        }
        let fleets = self.sessions.iter().map(|it| it.fleet).filter(|fleet| reading(fleet));
        fleets.map(|fleet| AddressMatch::Fleet(fleet.to_owned())).collect()
    }

    /// Returns the addresses that are most similar to the text: first the same name in another
    /// fleet, then names that begin with the text.
    fn similar(&self) -> Vec<String> {
        let address = |it: &Addressable<'_>| format!("{}/{}", it.fleet, it.name);
        let addresses: Vec<String> = self.sessions.iter().map(address).collect();
        let names: BTreeSet<&str> = self.sessions.iter().map(|it| it.name).collect();
        let near = nearest(self.text, names);
        let begins = |it: &&Addressable<'_>| it.name.starts_with(self.text);
        let is_near = |it: &&Addressable<'_>| near.iter().any(|name| name == it.name);
        let same_name = |it: &&Addressable<'_>| {
            self.text.split_once('/').is_some_and(|(_, name)| name == it.name)
        };
        let mut similar: Vec<String> =
            self.sessions.iter().filter(same_name).map(address).collect();
        similar.extend(self.sessions.iter().filter(begins).map(address));
        similar.extend(self.sessions.iter().filter(is_near).map(address));
        if self.text.contains('/') {
            similar.extend(nearest(self.text, addresses.iter().map(String::as_str)));
        }
        if self.reading.targets == AddressTargets::SessionsAndFleets {
            let fleets: BTreeSet<&str> = self.sessions.iter().map(|it| it.fleet).collect();
            let begins = |fleet: &&&str| fleet.starts_with(self.text);
            similar.extend(fleets.iter().filter(begins).map(|&fleet| fleet.to_owned()));
            similar.extend(nearest(self.text, fleets));
        }
        let mut seen = BTreeSet::new();
        similar.retain(|it| seen.insert(it.clone()));
        similar.truncate(nearest::MAX_SUGGESTIONS);
        similar
    }
}

/// Returns the only candidate, or all of them. `None` if there is no candidate.
fn resolved(candidates: BTreeSet<AddressMatch>) -> Option<ResolvedAddress> {
    let mut candidates: Vec<AddressMatch> = candidates.into_iter().collect();
    match (candidates.pop(), candidates.is_empty()) {
        (None, _) => None,
        (Some(AddressMatch::Session(id)), true) => Some(ResolvedAddress::Session(id)),
        (Some(AddressMatch::Fleet(name)), true) => Some(ResolvedAddress::Fleet(name)),
        (Some(last), false) => {
            candidates.push(last);
            Some(ResolvedAddress::Several(candidates))
        }
    }
}

#[cfg(test)]
mod tests;
