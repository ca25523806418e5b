//! Selects the handoffs that connect the sessions of one conversation.

use jiff::Timestamp;

use crate::model::{Handoff, SessionId};

/// Returns the handoffs in order: those that led to the session, then those that continued its
/// conversation. If a session was handed over to several sessions, the newest handoff is followed.
pub fn steps(handoffs: &[Handoff], session: SessionId) -> Vec<Handoff> {
    let mut steps = Vec::new();
    let mut first = (session, Timestamp::MAX);
    while let Some(step) = newest(handoffs, |it| it.to == first.0 && it.at < first.1) {
        first = (step.from, step.at);
        steps.insert(0, step.clone());
    }
    let begun = steps.last().map_or(Timestamp::MIN, |step| step.at);
    let mut last = (session, begun);
    while let Some(step) = newest(handoffs, |it| it.from == last.0 && it.at > last.1) {
        last = (step.to, step.at);
        steps.push(step.clone());
    }
    steps
}

fn newest(handoffs: &[Handoff], wanted: impl Fn(&Handoff) -> bool) -> Option<&Handoff> {
    handoffs.iter().filter(|it| wanted(it)).max_by_key(|it| it.at)
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;
    use crate::flows::samples::handoff;

    fn session(number: u128) -> SessionId {
        SessionId::new(Uuid::from_u128(number))
    }

    /// Returns the times of the handoffs that are found for a session.
    fn seconds(handoffs: &[Handoff], number: u128) -> Vec<i64> {
        steps(handoffs, session(number)).iter().map(|step| step.at.as_second()).collect()
    }

    #[test]
    fn every_session_of_a_chain_returns_the_same_handoffs() {
        let chain = [handoff(1, 2, 10), handoff(2, 3, 20), handoff(8, 9, 15)];
        for number in [1, 2, 3] {
            assert_eq!(seconds(&chain, number), [10, 20], "{number}");
        }
        assert_eq!(seconds(&chain, 9), [15]);
        assert_eq!(seconds(&chain, 7), Vec::<i64>::new());
    }

    #[test]
    fn conversation_that_comes_back_has_two_handoffs_and_a_cycle_ends() {
        let there_and_back = [handoff(1, 2, 10), handoff(2, 1, 20)];
        assert_eq!(seconds(&there_and_back, 1), [10, 20]);
        assert_eq!(seconds(&there_and_back, 2), [10, 20]);
        let at_once = [handoff(1, 2, 10), handoff(2, 1, 10), handoff(1, 1, 10)];
        assert_eq!(seconds(&at_once, 1).len(), 1);
    }

    #[test]
    fn newest_of_several_successors_is_followed() {
        let fork = [handoff(1, 2, 10), handoff(1, 3, 20), handoff(3, 4, 30)];
        assert_eq!(seconds(&fork, 1), [20, 30]);
        assert_eq!(seconds(&fork, 2), [10]);
        assert_eq!(seconds(&fork, 4), [20, 30]);
    }
}
