//! What a forge that cannot send deliveries has answered about a repository.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::model::{CommitId, PullState, RepositoryAddress, SourceName};

/// The last answers of a polled forge about a repository. The next answers are compared with them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PolledRepository {
    pub source: SourceName,
    pub address: RepositoryAddress,
    pub issues: PolledList,
    pub pulls: PolledList,
    /// The finished CI runs of agents' branches that are known, by branch.
    #[serde(default)]
    pub runs: BTreeMap<String, Vec<String>>,
}

/// The issues or the pull requests of a repository.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PolledList {
    /// The time of the newest known change, by the clock of the forge. `None` if the list was
    /// empty.
    pub changed_at: Option<Timestamp>,
    /// The open objects, and those that were closed at the time of the newest change, by number.
    pub known: BTreeMap<u64, PolledObject>,
}

impl PolledList {
    /// Returns the first record of a list. `newest` is the time of the newest change when it was
    /// requested; an object that changed later is not known yet, so that the next answer shows it as
    /// new.
    pub fn begun(newest: Option<Timestamp>, open: Vec<(u64, PolledObject)>) -> Self {
        let is_known = |(_, object): &(u64, PolledObject)| object.updated_at <= newest;
        Self { changed_at: newest, known: open.into_iter().filter(is_known).collect() }
    }

    /// Remembers what the forge has answered about objects. Forgets objects that were closed before
    /// the newest change: the forge lists them again only if they change again.
    pub fn remember(&mut self, answered: Vec<(u64, PolledObject)>) {
        for (number, object) in answered {
            let is_settled =
                self.known.get(&number).is_some_and(|known| known.updated_at == object.updated_at);
            self.changed_at = self.changed_at.max(object.updated_at);
            self.known.insert(number, PolledObject { is_settled, ..object });
        }
        let newest = self.changed_at;
        self.known.retain(|_, it| it.state == PullState::Open || it.updated_at >= newest);
    }

    /// Returns whether the answer about an object is the same as two answers before.
    pub fn is_settled(&self, number: u64, updated_at: Option<Timestamp>) -> bool {
        let known = self.known.get(&number);
        known.is_some_and(|known| known.is_settled && known.updated_at == updated_at)
    }
}

/// An issue or a pull request as the forge last described it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PolledObject {
    pub state: PullState,
    #[serde(default)]
    pub is_draft: bool,
    #[serde(default)]
    pub head: Option<CommitId>,
    #[serde(default)]
    pub labels: Vec<String>,
    /// The logins of the assigned users.
    #[serde(default)]
    pub assignees: Vec<String>,
    /// The logins of the users whose review is requested.
    #[serde(default)]
    pub reviewers: Vec<String>,
    pub updated_at: Option<Timestamp>,
    /// Whether two answers had the same time of the last change. Forges keep whole seconds: a change
    /// in the same second as the first answer is only in the second one.
    #[serde(default)]
    pub is_settled: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn object(state: PullState, second: i64) -> PolledObject {
        PolledObject {
            state,
            is_draft: false,
            head: None,
            labels: Vec::new(),
            assignees: Vec::new(),
            reviewers: Vec::new(),
            updated_at: at(second),
            is_settled: false,
        }
    }

    fn at(second: i64) -> Option<Timestamp> {
        Some(Timestamp::from_second(second).unwrap())
    }

    #[test]
    fn closed_objects_are_forgotten_after_a_later_change() {
        use PullState::{Merged, Open};
        let mut list = PolledList::begun(at(5), vec![(1, object(Open, 3)), (2, object(Open, 9))]);
        assert_eq!(list.known.keys().collect::<Vec<_>>(), [&1], "2 changed after the first answer");
        list.remember(vec![(1, object(Merged, 7))]);
        assert_eq!((list.changed_at, list.known.len()), (at(7), 1));
        list.remember(vec![(3, object(Open, 8))]);
        assert_eq!(list.known.keys().collect::<Vec<_>>(), [&3]);
    }

    #[test]
    fn object_is_settled_after_two_answers_with_the_same_time() {
        let mut list = PolledList::default();
        for expected in [false, false, true] {
            assert_eq!(list.is_settled(1, at(4)), expected);
            list.remember(vec![(1, object(PullState::Open, 4))]);
        }
        assert!(!list.is_settled(1, at(5)));
    }
}
