//! Lists the calls of the fakes, and makes chosen calls fail.

use std::collections::BTreeMap;
use std::io;
use std::sync::{Arc, Mutex};

use segue_core::{Error, Result};

/// Lists the calls of all fakes of a world, in order, and makes chosen calls fail. A call is named
/// by its port and method: `store.commit`, `holders.start`.
#[derive(Clone, Debug, Default)]
pub struct Calls(Arc<Mutex<CallsState>>);

#[derive(Debug, Default)]
struct CallsState {
    seen: Vec<&'static str>,
    failing: BTreeMap<&'static str, usize>,
}

impl Calls {
    /// Makes the n-th call from now on fail: `1` is the next call. Only that call fails.
    pub fn fail(&self, call: &'static str, nth: usize) {
        self.0.lock().unwrap().failing.insert(call, nth);
    }

    /// Returns the calls so far, and forgets them.
    pub fn take(&self) -> Vec<&'static str> {
        std::mem::take(&mut self.0.lock().unwrap().seen)
    }

    /// Returns how often a method was called since the last [`Calls::take`].
    pub fn count(&self, call: &str) -> usize {
        self.0.lock().unwrap().seen.iter().filter(|it| **it == call).count()
    }

    /// Records a call. Returns an error if this call has to fail.
    pub(crate) fn enter(&self, call: &'static str) -> Result<()> {
        let fails = self.record(call);
        if !fails {
            return Ok(());
        }
        Err(Error::unavailable(format!("the fake of `{call}` fails, as the test requested"))
            .hint("look at the test"))
    }

    /// Records a call of a method that returns an I/O error.
    pub(crate) fn enter_io(&self, call: &'static str) -> io::Result<()> {
        self.enter(call).map_err(io::Error::other)
    }

    /// Records a call. Returns whether this call has to fail.
    fn record(&self, call: &'static str) -> bool {
        let mut state = self.0.lock().unwrap();
        state.seen.push(call);
        let Some(left) = state.failing.get_mut(call) else { return false };
        *left -= 1;
        let fails = *left == 0;
        if fails {
            state.failing.remove(call);
        }
        fails
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_chosen_call_fails_and_all_are_listed() {
        let calls = Calls::default();
        calls.fail("store.commit", 2);
        let fails = |call| calls.enter(call).is_err();
        assert_eq!(
            [fails("store.commit"), fails("holders.start"), fails("store.commit")],
            [false, false, true]
        );
        assert!(!fails("store.commit"));
        assert_eq!(calls.count("store.commit"), 3);
        assert_eq!(calls.take().len(), 4);
        assert!(calls.take().is_empty());
    }
}
