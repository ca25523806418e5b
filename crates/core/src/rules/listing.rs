//! Which sessions a list shows.

use std::path::PathBuf;

use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};

use crate::model::{FleetName, Session, Status, VendorId};

/// A session that ended longer ago than this is not shown without being asked for.
const RECENT: SignedDuration = SignedDuration::from_hours(24);

/// Which sessions are wanted. An empty list allows everything.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Filter {
    /// Includes sessions that ended long ago.
    pub all: bool,
    pub fleets: Vec<FleetName>,
    pub vendors: Vec<VendorId>,
    /// Words for statuses, such as `idle`.
    pub statuses: Vec<String>,
    /// A real path: only sessions that work there or below.
    pub folder: Option<PathBuf>,
}

/// What a list does with a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    Shown,
    /// It is wanted but ended long ago: it is only counted.
    Counted,
    LeftOut,
}

/// Decides what a list does with a session. Whoever asks for `ended` sessions gets all of them.
pub fn place(session: &Session, filter: &Filter, now: Timestamp) -> Place {
    let Filter { all, fleets, vendors, statuses, folder } = filter;
    let word = session.status.word();
    let is_wanted = (fleets.is_empty() || fleets.contains(&session.fleet))
        && (vendors.is_empty() || vendors.contains(&session.vendor))
        && (statuses.is_empty() || statuses.iter().any(|status| status == word))
        && folder.as_ref().is_none_or(|folder| session.cwd.starts_with(folder));
    match session.status {
        _ if !is_wanted => Place::LeftOut,
        Status::Ended(_) if *all || !statuses.is_empty() => Place::Shown,
        Status::Ended(_) if now.duration_since(session.updated_at) > RECENT => Place::Counted,
        _ => Place::Shown,
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
    fn what_ended_more_than_a_day_ago_is_only_counted() {
        let ended = Status::Ended(How::Quit);
        let table = [
            (Status::Working, 90 * HOUR, Place::Shown),
            (Status::Idle, 90 * HOUR, Place::Shown),
            (Status::Starting, 90 * HOUR, Place::Shown),
            (Status::Waiting(WaitingFor::Permission), 90 * HOUR, Place::Shown),
            (Status::Waiting(WaitingFor::Environment), 90 * HOUR, Place::Shown),
            (Status::Lost, 90 * HOUR, Place::Shown),
            (ended, 23 * HOUR, Place::Shown),
            (ended, 24 * HOUR, Place::Shown),
            (ended, 25 * HOUR, Place::Counted),
            (Status::Ended(How::Stopped), 25 * HOUR, Place::Counted),
        ];
        for (status, age, expected) in table {
            let (session, now) = session(status, age);
            assert_eq!(place(&session, &Filter::default(), now), expected, "{status:?} {age}");
            let all = Filter { all: true, ..Filter::default() };
            assert_eq!(place(&session, &all, now), Place::Shown, "{status:?} {age}");
        }
    }

    #[test]
    fn a_session_has_to_pass_every_filter() {
        let fleets = |names: &[&str]| {
            names.iter().map(|name| FleetName::parse(name).unwrap()).collect::<Vec<_>>()
        };
        let vendors =
            |names: &[&str]| names.iter().map(|name| VendorId::new(*name)).collect::<Vec<_>>();
        let words = |words: &[&str]| words.iter().map(|&it| it.to_owned()).collect::<Vec<_>>();
        let none = Filter::default;
        let table = [
            (Filter { fleets: fleets(&["shop"]), ..none() }, true),
            (Filter { fleets: fleets(&["blog", "shop"]), ..none() }, true),
            (Filter { fleets: fleets(&["sho"]), ..none() }, false),
            (Filter { vendors: vendors(&["demo"]), ..none() }, true),
            (Filter { vendors: vendors(&["other"]), ..none() }, false),
            (Filter { statuses: words(&["working", "idle"]), ..none() }, true),
            (Filter { statuses: words(&["waiting"]), ..none() }, false),
            (Filter { folder: Some("/src/shop".into()), ..none() }, true),
            (Filter { folder: Some("/src/shop/sub".into()), ..none() }, true),
            (Filter { folder: Some("/src/sho".into()), ..none() }, false),
            (Filter { fleets: fleets(&["shop"]), vendors: vendors(&["other"]), ..none() }, false),
            (Filter { all: true, fleets: fleets(&["blog"]), ..none() }, false),
        ];
        let (session, now) = session(Status::Idle, 0);
        for (filter, shown) in table {
            let expected = if shown { Place::Shown } else { Place::LeftOut };
            assert_eq!(place(&session, &filter, now), expected, "{filter:?}");
        }
    }

    #[test]
    fn ended_sessions_that_are_asked_for_are_shown_however_old_they_are() {
        let (session, now) = session(Status::Ended(How::Quit), 90 * HOUR);
        let wanted = |word: &str| Filter { statuses: vec![word.to_owned()], ..Filter::default() };
        assert_eq!(place(&session, &wanted("ended"), now), Place::Shown);
        assert_eq!(place(&session, &wanted("idle"), now), Place::LeftOut);
    }
}
