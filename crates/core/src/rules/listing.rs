//! Decides which sessions a list shows.

use std::path::PathBuf;

use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::model::{FleetName, Session, Status, StatusKind, VendorId};
use crate::rules::address;

/// A session that ended longer ago than this is only listed on request.
pub const RECENT: SignedDuration = SignedDuration::from_hours(24);

/// Which sessions to list. An empty field allows everything.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Filter {
    /// Also shows sessions that ended long ago.
    pub all: bool,
    pub fleets: Vec<FleetName>,
    pub vendors: Vec<VendorId>,
    pub statuses: Vec<StatusKind>,
    /// A path without symlinks. Only sessions that work in this folder or below it are listed.
    pub folder: Option<PathBuf>,
}

/// What a list does with a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Visibility {
    Shown,
    /// The session matches the filter but ended long ago. It is only counted.
    Counted,
    LeftOut,
}

/// Decides what a list does with a session. If the filter names a status, ended sessions of any age
/// are shown.
pub fn visibility(session: &Session, filter: &Filter, now: Timestamp) -> Visibility {
    let Filter { all, fleets, vendors, statuses, folder } = filter;
    let is_wanted = (fleets.is_empty() || fleets.contains(&session.fleet))
        && (vendors.is_empty() || vendors.contains(&session.vendor))
        && (statuses.is_empty() || statuses.contains(&session.status.kind()))
        && folder.as_ref().is_none_or(|folder| session.cwd.starts_with(folder));
    let is_over = matches!(session.status, Status::Ended(_)) || session.is_at_rest();
    let is_old = now.duration_since(session.updated_at) > RECENT;
    if !is_wanted {
        Visibility::LeftOut
    } else if is_over && is_old && !*all && statuses.is_empty() {
        Visibility::Counted
    } else {
        Visibility::Shown
    }
}

/// Finds the status that a word refers to. The beginning of the status is enough.
pub fn find_status(word: &str) -> Result<StatusKind> {
    let mut words: Vec<&str> = StatusKind::ALL.iter().map(|status| status.word()).collect();
    words.sort_unstable();
    let found = find_value("status", word, &words)?;
    StatusKind::from_word(found).ok_or_else(|| unknown("status", word, &words))
}

/// Finds the known value of a filter that a word refers to. The beginning of the value is enough.
/// `noun` names the values in the error: `fleet`, `vendor` or `status`.
pub fn find_value<'a>(noun: &str, word: &str, known: &[&'a str]) -> Result<&'a str> {
    address::find_name(known, word)
        .map_err(|unclear| unclear.explain(word, unknown(noun, word, known)))
}

fn unknown(noun: &str, word: &str, known: &[&str]) -> Error {
    let error = Error::not_found(format!("there is no {noun} `{word}`"));
    match known {
        [] => error,
        known => error.hint(format!("use one of: {}", known.join(", "))),
    }
}

impl Filter {
    /// Returns whether the store can check every condition.
    pub fn is_simple(&self) -> bool {
        let Self { all: _, fleets, vendors, statuses, folder } = self;
        fleets.len() <= 1 && vendors.len() <= 1 && statuses.is_empty() && folder.is_none()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::flows::samples;
    use crate::model::{How, WaitingFor};

    const HOUR: i64 = 3600;

    fn session(status: Status, age: i64) -> (Session, Timestamp) {
        let now = Timestamp::from_second(1_767_323_472).unwrap();
        let updated_at = now - SignedDuration::from_secs(age);
        let fleet = FleetName::parse("shop").unwrap();
        let vendor = VendorId::new("demo");
        let cwd = "/src/shop/sub".into();
        (Session { status, updated_at, fleet, vendor, cwd, ..samples::session(1, "coder") }, now)
    }

    #[test]
    fn sessions_that_ended_more_than_a_day_ago_are_only_counted() {
        let ended = Status::Ended(How::Quit);
        let table = [
            (Status::Working, 90 * HOUR, Visibility::Shown),
            (Status::Idle, 90 * HOUR, Visibility::Shown),
            (Status::Starting, 90 * HOUR, Visibility::Shown),
            (Status::Waiting(WaitingFor::Permission), 90 * HOUR, Visibility::Shown),
            (Status::Waiting(WaitingFor::Environment), 90 * HOUR, Visibility::Shown),
            (Status::Interrupted, 90 * HOUR, Visibility::Shown),
            (Status::Lost, 90 * HOUR, Visibility::Shown),
            (ended, 23 * HOUR, Visibility::Shown),
            (ended, 24 * HOUR, Visibility::Shown),
            (ended, 25 * HOUR, Visibility::Counted),
            (Status::Ended(How::Stopped), 25 * HOUR, Visibility::Counted),
        ];
        for (status, age, expected) in table {
            let (session, now) = session(status, age);
            assert_eq!(visibility(&session, &Filter::default(), now), expected, "{status:?} {age}");
            let all = Filter { all: true, ..Filter::default() };
            assert_eq!(visibility(&session, &all, now), Visibility::Shown, "{status:?} {age}");
        }
    }

    #[test]
    fn headless_session_whose_last_turn_is_long_over_is_only_counted() {
        let (session, now) = session(Status::Idle, 25 * HOUR);
        let headless = Session { headless: true, ..session.clone() };
        assert_eq!(visibility(&headless, &Filter::default(), now), Visibility::Counted);
        assert_eq!(visibility(&session, &Filter::default(), now), Visibility::Shown);
        let recent = Session { updated_at: now, ..headless };
        assert_eq!(visibility(&recent, &Filter::default(), now), Visibility::Shown);
    }

    #[test]
    fn session_is_shown_only_if_it_matches_every_filter() {
        let fleets = |names: &[&str]| {
            names.iter().map(|name| FleetName::parse(name).unwrap()).collect::<Vec<_>>()
        };
        let vendors =
            |names: &[&str]| names.iter().map(|name| VendorId::new(*name)).collect::<Vec<_>>();
        let none = Filter::default;
        let table = [
            (Filter { fleets: fleets(&["shop"]), ..none() }, true),
            (Filter { fleets: fleets(&["blog", "shop"]), ..none() }, true),
            (Filter { fleets: fleets(&["sho"]), ..none() }, false),
            (Filter { vendors: vendors(&["demo"]), ..none() }, true),
            (Filter { vendors: vendors(&["other"]), ..none() }, false),
            (Filter { statuses: vec![StatusKind::Working, StatusKind::Idle], ..none() }, true),
            (Filter { statuses: vec![StatusKind::Waiting], ..none() }, false),
            (Filter { folder: Some("/src/shop".into()), ..none() }, true),
            (Filter { folder: Some("/src/shop/sub".into()), ..none() }, true),
            (Filter { folder: Some("/src/sho".into()), ..none() }, false),
            (Filter { fleets: fleets(&["shop"]), vendors: vendors(&["other"]), ..none() }, false),
            (Filter { all: true, fleets: fleets(&["blog"]), ..none() }, false),
        ];
        let (session, now) = session(Status::Idle, 0);
        for (filter, shown) in table {
            let expected = if shown { Visibility::Shown } else { Visibility::LeftOut };
            assert_eq!(visibility(&session, &filter, now), expected, "{filter:?}");
        }
    }

    #[test]
    fn ended_sessions_of_any_age_are_shown_if_their_status_is_requested() {
        let (session, now) = session(Status::Ended(How::Quit), 90 * HOUR);
        let wanted = |status| Filter { statuses: vec![status], ..Filter::default() };
        assert_eq!(visibility(&session, &wanted(StatusKind::Ended), now), Visibility::Shown);
        assert_eq!(visibility(&session, &wanted(StatusKind::Idle), now), Visibility::LeftOut);
    }

    #[test]
    fn status_is_found_by_its_word_or_the_beginning_of_it() {
        assert_eq!(find_status("waiting").unwrap(), StatusKind::Waiting);
        assert_eq!(find_status("wa").unwrap(), StatusKind::Waiting);
        assert_eq!(find_status("w").unwrap_err().hints, ["use `waiting`", "use `working`"]);
        let unknown = find_status("sleeping").unwrap_err();
        assert_eq!(unknown.message, "there is no status `sleeping`");
        let all = "use one of: ended, idle, interrupted, lost, starting, waiting, working";
        assert_eq!(unknown.hints.last().unwrap(), all);
        assert!(find_status("").is_err());
    }
}
