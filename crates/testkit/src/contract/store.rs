//! What every store has to keep, whatever it is made of.
//!
//! A backend implements [`Backend`] and writes `segue_testkit::store_contract!(MyBackend::new());`
//! in one of its test files: each behaviour becomes a test of its own.

#![expect(clippy::unwrap_used, reason = "a suite of tests: a failure is a failed test")]

mod commits;
mod fleets;
mod handoffs;
mod launches;
mod ledger;
mod log;
mod messages;
mod requests;
mod samples;
mod sessions;

use std::sync::Arc;

use segue_core::ports::Store;
use segue_core::{Error, Kind};

pub use commits::*;
pub use fleets::*;
pub use handoffs::*;
pub use launches::*;
pub use ledger::*;
pub use log::*;
pub use messages::*;
pub use requests::*;
pub use samples::{Samples, commit, events};
pub use sessions::*;

/// A place for one store; it goes, with what is in it, when it is dropped.
pub trait Backend: Sync {
    /// Opens the store; the second time it is the same one, with what was committed before.
    fn open(&self) -> impl Future<Output = Arc<dyn Store>> + Send;
}

/// Makes a test of each behaviour, for the backend that the expression gives.
#[macro_export]
macro_rules! store_contract {
    ($backend:expr) => {
        $crate::store_contract! { $backend;
            a_commit_is_all_or_nothing
            changes_of_one_commit_build_on_each_other
            what_was_committed_is_there_after_reopening
            what_was_committed_is_there_while_another_has_it_open
            fifty_commits_at_once_are_all_there
            of_many_that_want_one_name_one_gets_it
            an_empty_commit_changes_nothing
            every_field_of_a_session_comes_back
            a_session_is_archived_for_as_long_as_it_says
            a_name_is_unique_in_its_fleet_only
            a_session_id_is_used_once
            a_status_is_kept_in_every_shape
            what_was_said_stays_said_in_its_conversation
            in_another_conversation_nothing_was_said_yet
            permissions_only_get_tighter
            sessions_are_listed_from_the_oldest_with_what_lists_show
            a_removed_session_takes_all_but_its_events_along
            a_session_with_an_open_launch_cannot_be_removed
            unknown_sessions_are_not_found
            every_field_of_a_launch_comes_back
            a_session_has_one_open_launch
            the_first_end_of_a_launch_stays
            processes_are_recorded_while_a_launch_is_open
            open_launches_are_those_without_an_end
            unknown_launches_are_not_found
            the_ledger_keeps_every_line_in_order
            a_vendor_id_belongs_to_one_session
            a_vendor_id_is_free_again_when_its_session_is_removed
            a_binding_names_a_launch_of_its_own_session
            events_come_in_order_after_a_number_and_up_to_a_limit
            events_of_one_session_are_told_apart
            the_newest_events_of_several_sessions_come_in_order
            a_commit_returns_the_last_number_of_the_log
            numbers_of_events_are_never_used_twice
            a_fleet_has_one_folder
            a_folder_may_have_several_fleets
            fleets_without_a_folder_do_not_meet
            the_newest_count_counts
            timers_go_with_their_session
            handoffs_are_found_from_both_ends
            a_name_can_be_given_to_another_session
            the_newest_trust_counts
            messages_come_back_in_order_and_are_told_apart
            a_message_moves_on_until_it_is_settled
            a_message_belongs_to_a_session_that_is_known
            a_step_of_a_request_is_recorded_once
            a_request_id_belongs_to_its_caller
            old_requests_are_forgotten_and_only_of_the_same_caller
            paths_that_are_not_text_come_back_unchanged
        }
    };
    ($backend:expr; $($behaviour:ident)*) => {
        $(
            #[tokio::test]
            async fn $behaviour() {
                $crate::contract::store::$behaviour(&$backend).await;
            }
        )*
    };
}

/// Asserts that a change was refused as a conflict, in words that name the given things.
pub fn assert_conflict<T: std::fmt::Debug>(result: Result<T, Error>, named: &[&str]) {
    assert_refused(result, Kind::Conflict, named);
}

/// Asserts that something was refused, with this kind, words that name the given things, and a hint.
pub fn assert_refused<T: std::fmt::Debug>(result: Result<T, Error>, kind: Kind, named: &[&str]) {
    let error = result.unwrap_err();
    assert_eq!(error.kind, kind, "{error:?}");
    for word in named {
        assert!(error.to_string().contains(word), "`{word}` is not named: {error:?}");
    }
    assert!(!error.hints.is_empty(), "no hint: {error:?}");
}
