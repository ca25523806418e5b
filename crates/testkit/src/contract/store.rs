//! The test suite that every implementation of the `Store` port must pass.
//!
//! A backend implements [`Backend`] and writes `segue_testkit::store_contract!(MyBackend::new());`
//! in one of its test files. The macro creates one test for each function of the suite.

#![expect(clippy::unwrap_used, reason = "a panic in this suite fails the test that called it")]

mod commits;
mod deliveries;
mod fleets;
mod handoffs;
mod housekeeping;
mod launches;
mod ledger;
mod log;
mod messages;
mod network;
mod plans;
mod queries;
mod requests;
mod samples;
mod sessions;
mod tasks;
mod usage;
mod worktrees;

use std::sync::Arc;

use segue_core::ports::Store;
use segue_core::{Error, Kind};

pub use commits::*;
pub use deliveries::*;
pub use fleets::*;
pub use handoffs::*;
pub use housekeeping::*;
pub use launches::*;
pub use ledger::*;
pub use log::*;
pub use messages::*;
pub use network::*;
pub use plans::*;
pub use queries::*;
pub use requests::*;
pub use samples::{Samples, commit, events};
pub use sessions::*;
pub use tasks::*;
pub use usage::*;
pub use worktrees::*;

/// The location of one store, for example a temporary folder. Dropping it deletes the store.
pub trait Backend: Sync {
    /// Opens the store. Every call opens the same store, with everything that was committed before.
    fn open(&self) -> impl Future<Output = Arc<dyn Store>> + Send;
}

/// Creates one test for each function of the suite. The expression is evaluated in every test and
/// returns a new `Backend`.
#[macro_export]
macro_rules! store_contract {
    ($backend:expr) => {
        $crate::store_contract! { $backend;
            a_conflict_in_one_change_rolls_back_the_whole_commit
            later_changes_of_a_commit_can_refer_to_earlier_ones
            committed_data_survives_reopening_the_store
            delivery_is_stored_once_for_each_id_and_each_body
            deliveries_are_selected_by_state_source_time_and_id
            tracked_issue_is_replaced_by_its_newest_record
            polled_repository_is_replaced_by_its_newest_record
            content_of_a_finished_delivery_is_removed_and_its_keys_stay
            reply_waits_until_it_is_written
            conversations_about_an_issue_are_those_of_all_agents
            two_open_handles_of_a_store_see_each_others_commits
            fifty_concurrent_commits_are_all_stored
            of_concurrent_commits_with_the_same_session_name_one_succeeds
            an_empty_commit_changes_nothing
            every_field_of_a_session_is_read_back_unchanged
            configure_replaces_every_setting_of_one_session
            session_names_are_unique_per_fleet_and_case_sensitive
            a_second_session_with_the_same_id_is_a_conflict
            every_kind_of_status_is_read_back_unchanged
            has_content_of_one_session_stays_set_after_a_status_change
            binding_another_conversation_resets_has_content
            sessions_are_listed_oldest_first_with_binding_and_launches
            removing_a_session_keeps_only_its_events
            a_session_with_an_open_launch_cannot_be_removed
            changes_to_an_unknown_session_fail_with_not_found
            every_field_of_a_launch_is_read_back_unchanged
            a_second_open_launch_of_a_session_is_a_conflict
            ending_a_launch_again_keeps_its_first_end
            processes_of_a_launch_are_recorded_only_while_it_is_open
            open_launches_returns_the_launches_without_an_end
            open_launches_of_other_machines_are_left_out
            changes_to_an_unknown_launch_fail_with_not_found
            bindings_are_returned_in_the_order_in_which_they_were_added
            a_vendor_session_id_of_another_session_is_a_conflict
            removing_a_session_frees_its_vendor_session_id
            a_binding_with_a_launch_of_another_session_is_a_conflict
            events_are_returned_in_order_after_a_number_up_to_a_limit
            events_can_be_filtered_by_session
            a_report_to_a_parent_is_kept_until_it_is_sent_once
            every_field_of_a_worktree_is_read_back_unchanged
            a_second_worktree_with_the_same_path_or_port_is_a_conflict
            a_worktree_is_leased_to_one_session_at_a_time
            a_worktree_is_taken_over_from_a_headless_session_whose_turn_is_over
            a_summary_names_the_worktree_of_its_session
            removing_a_session_releases_its_worktree
            a_removal_is_recorded_until_the_folder_exists_again
            a_worktree_can_get_another_branch
            the_commands_of_a_worktree_and_their_success_are_recorded
            changes_to_an_unknown_worktree_fail_with_not_found
            the_newest_events_of_several_sessions_are_returned_in_order
            the_payload_of_an_event_is_read_back_unchanged
            a_commit_returns_the_sequence_number_of_the_last_event
            event_numbers_increase_after_a_failed_commit_and_a_reopening
            a_second_folder_for_a_fleet_is_a_conflict
            a_folder_may_have_several_fleets
            fleets_without_a_folder_do_not_conflict
            a_new_agent_count_replaces_the_old_one
            timers_of_a_session_are_replaced_together_and_removed_with_it
            a_handoff_is_found_from_its_source_and_its_target_session
            a_session_can_take_the_name_that_another_session_gives_up
            a_new_trust_of_a_folder_replaces_the_old_one
            messages_are_returned_in_order_and_can_be_filtered_by_session
            senders_of_the_newest_messages_of_two_sessions_are_returned
            repetition_of_a_session_is_kept_until_it_is_replaced
            a_message_can_change_its_state_until_it_is_delivered
            messages_of_unknown_sessions_and_unknown_messages_are_refused
            a_query_returns_the_tasks_that_meet_all_of_its_conditions
            a_summary_of_a_task_has_its_session_and_the_beginning_of_its_prompt
            a_key_stands_for_one_task
            a_task_is_replaced_only_if_its_state_is_the_expected_one
            a_task_keeps_its_record_when_its_session_is_removed
            a_child_above_the_limit_of_its_parent_is_a_conflict
            usage_is_added_to_its_session_and_day
            usage_of_a_source_is_added_only_from_its_current_cursor
            usage_stays_when_its_session_is_removed
            an_agent_has_one_session_for_an_issue
            the_next_sweep_and_the_disk_level_are_kept_when_the_store_is_opened_again
            the_index_of_launches_has_the_end_of_each_launch
            tokens_are_listed_oldest_first_until_they_are_removed
            a_browser_is_removed_with_the_link_that_it_logged_in_with
            the_newest_listener_is_kept_until_it_is_switched_off
            the_newest_reports_of_an_agent_are_kept
            a_plan_is_replaced_only_if_nothing_has_changed_it
            a_query_returns_the_tasks_of_a_plan_that_meet_all_of_its_conditions
            no_task_of_a_held_plan_starts
            recording_a_request_step_twice_is_a_conflict
            a_request_id_is_scoped_to_its_caller
            new_requests_displace_only_old_requests_of_the_same_caller
            paths_that_are_not_utf8_are_read_back_unchanged
            a_query_returns_the_sessions_that_meet_all_of_its_conditions
            a_query_for_activity_leaves_out_sessions_that_rest
            pages_of_a_list_have_every_session_once
            pages_of_tasks_have_every_matching_task_once
            sessions_are_counted_by_status
            resting_places_are_listed_newest_first_until_their_sessions_run_or_are_removed
            vendors_and_config_dirs_of_sessions_are_listed_once
            models_of_a_vendor_are_listed_once_the_newest_first
            waiting_for_events_ends_with_the_commit_that_adds_one
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

/// Asserts that a commit failed with a conflict, and that the error message contains the given
/// words.
pub fn assert_conflict<T: std::fmt::Debug>(result: Result<T, Error>, named: &[&str]) {
    assert_refused(result, Kind::Conflict, named);
}

/// Asserts that a call failed with this kind of error, that the error message contains the given
/// words, and that the error has a hint.
pub fn assert_refused<T: std::fmt::Debug>(result: Result<T, Error>, kind: Kind, named: &[&str]) {
    let error = result.unwrap_err();
    assert_eq!(error.kind, kind, "{error:?}");
    for word in named {
        assert!(error.to_string().contains(word), "the error does not contain `{word}`: {error:?}");
    }
    assert!(!error.hints.is_empty(), "the error has no hint: {error:?}");
}
