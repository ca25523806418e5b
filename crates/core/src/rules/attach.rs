//! Decides which terminal to open if the user names no session.

use crate::model::SessionId;

/// A session whose terminal can be opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OpenTerminal {
    pub id: SessionId,
    /// Whether the agent waits for an answer.
    pub needs_person: bool,
    /// Whether the agent works in the caller's folder or below it.
    pub is_here: bool,
}

/// The terminal to open.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AttachChoice {
    One(SessionId),
    /// The user must choose one of these sessions. The most likely ones come first.
    Ask(Vec<SessionId>),
    Nothing,
}

/// Chooses the only session that needs a user or, if no session needs one, the only session with a
/// terminal. In both cases, sessions in the caller's folder are preferred.
pub fn choose(open: &[OpenTerminal]) -> AttachChoice {
    let needs = |it: &&OpenTerminal| it.needs_person;
    let here = |it: &&OpenTerminal| it.is_here;
    let has_waiting = open.iter().any(|it| it.needs_person);
    let likely: Vec<&OpenTerminal> = open.iter().filter(|it| !has_waiting || needs(it)).collect();
    let own: Vec<&OpenTerminal> = likely.iter().copied().filter(here).collect();
    match (own.as_slice(), likely.as_slice()) {
        ([only], _) | ([], [only]) => AttachChoice::One(only.id),
        (_, []) => AttachChoice::Nothing,
        _ => AttachChoice::Ask(in_order(open)),
    }
}

fn in_order(open: &[OpenTerminal]) -> Vec<SessionId> {
    let mut ordered: Vec<&OpenTerminal> = open.iter().collect();
    ordered.sort_by_key(|it| (!it.needs_person, !it.is_here));
    ordered.iter().map(|it| it.id).collect()
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;

    fn id(number: u128) -> SessionId {
        SessionId::new(Uuid::from_u128(number))
    }

    #[test]
    fn session_that_needs_a_user_is_chosen_before_other_sessions() {
        // Each session as (needs a user, is in this folder).
        const ASKS_HERE: (bool, bool) = (true, true);
        const ASKS: (bool, bool) = (true, false);
        const RUNS_HERE: (bool, bool) = (false, true);
        const RUNS: (bool, bool) = (false, false);
        let one = |number| AttachChoice::One(id(number));
        let ask = |numbers: &[u128]| AttachChoice::Ask(numbers.iter().map(|it| id(*it)).collect());
        let table: [(&[(bool, bool)], AttachChoice); 11] = [
            (&[], AttachChoice::Nothing),
            (&[RUNS], one(0)),
            (&[RUNS_HERE], one(0)),
            (&[RUNS, RUNS_HERE], one(1)),
            (&[RUNS, RUNS], ask(&[0, 1])),
            (&[RUNS, RUNS_HERE, RUNS_HERE], ask(&[1, 2, 0])),
            (&[RUNS_HERE, ASKS], one(1)),
            (&[ASKS, ASKS_HERE, RUNS_HERE], one(1)),
            (&[RUNS_HERE, ASKS, ASKS], ask(&[1, 2, 0])),
            (&[RUNS, ASKS, RUNS_HERE, ASKS_HERE, ASKS_HERE], ask(&[3, 4, 1, 2, 0])),
            (&[ASKS], one(0)),
        ];
        for (sessions, expected) in table {
            let open = (0..).zip(sessions).map(|(number, (needs_person, is_here))| OpenTerminal {
                id: id(number),
                needs_person: *needs_person,
                is_here: *is_here,
            });
            assert_eq!(choose(&open.collect::<Vec<_>>()), expected, "{sessions:?}");
        }
    }
}
