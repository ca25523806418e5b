//! The web page in a real browser. The scenarios are programs in `crates/web/browser`;
//! `scripts/web browser` installs what they need.
#![expect(clippy::unwrap_used, reason = "a panic fails the test")]

mod vscode;

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use segue_testkit::tls_client::{CHAIN, KEY};
use segue_testkit::vendors::with_claude;
use segue_testkit::{Model, NetworkClient, TestCertificate, World, isolated, scene};

fn world() -> World {
    World::new(env!("CARGO_BIN_EXE_segue"))
}

/// Runs a scenario in a world of its own.
fn run(scenario: &str) {
    let world = world();
    scene::share_environment(&world);
    listen_on_one_port(&world);
    run_in(&world, scenario);
}

/// Runs a scenario in a world whose daemon listens.
fn run_in(world: &World, scenario: &str) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../web");
    let packages = folder.join("node_modules/playwright-core");
    assert!(packages.exists(), "run `scripts/web browser`: {} is missing", packages.display());
    let mut command = Command::new("node");
    command.arg(folder.join("browser").join(scenario)).current_dir(world.project());
    command.env_clear().envs(world.environment()).stdin(Stdio::null());
    command.env("SEGUE_PROGRAM", world.program()).env("SEGUE_FOLDER", world.project());
    command.env("SEGUE_TEST_CODE_SERVER", vscode::place());
    if let Some(pictures) = std::env::var_os("SEGUE_PICTURES") {
        command.env("SEGUE_PICTURES", PathBuf::from(pictures));
    }
    let output = command.output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let (out, err) = (text(&output.stdout), text(&output.stderr));
    assert!(output.status.success(), "{scenario}: {}\n{out}\n{err}", output.status);
    assert_eq!(out.lines().last(), Some("ok"), "{out}\n{err}");
}

/// Makes the daemon listen on a port that it also has after a restart.
fn listen_on_one_port(world: &World) {
    let address = NetworkClient::listen(world).address.to_string();
    world.ok(["serve", "--listen", &address]);
}

#[test]
fn login_link_works_once_and_other_links_lead_to_the_command_that_makes_one() {
    run("login.mjs");
}

#[test]
fn every_view_is_readable_on_a_wide_screen_and_on_a_phone() {
    run("views.mjs");
}

#[test]
fn list_of_sessions_is_sorted_and_folded_and_the_browser_remembers_it() {
    run("lists.mjs");
}

#[test]
fn plan_is_drawn_live_and_its_gate_is_approved_where_it_needs_a_person() {
    run("plans.mjs");
}

#[test]
fn questions_are_answered_by_button_and_by_keyboard_and_text_stays_text() {
    run("answers.mjs");
}

#[test]
fn terminal_is_shared_by_browsers_and_survives_the_death_of_the_daemon() {
    run("terminals.mjs");
}

#[test]
fn lines_that_an_agent_writes_while_the_daemon_is_dead_are_all_shown_afterwards() {
    run("lines.mjs");
}

#[test]
fn whole_job_is_done_with_the_keyboard_alone() {
    run("keyboard.mjs");
}

#[test]
fn guest_sees_one_session_until_the_link_expires_or_is_revoked() {
    run("guests.mjs");
}

#[test]
fn program_at_another_port_gets_the_cookie_and_cannot_use_it() {
    run("other-port.mjs");
}

#[test]
fn question_is_notified_in_the_background_and_answered_by_the_button_of_the_notification() {
    run("notifications.mjs");
}

#[test]
fn page_without_its_daemon_shows_it_and_catches_up_with_all_events() {
    run("offline.mjs");
}

#[test]
fn queued_task_is_moved_by_dragging_by_arrows_and_by_keys_and_starts_in_that_order() {
    run("tasks.mjs");
}

#[test]
fn comments_on_lines_of_a_review_arrive_as_one_message() {
    run("review.mjs");
}

#[test]
fn handoff_shows_what_is_carried_and_the_story_continues_across_it() {
    run("handoff.mjs");
}

#[test]
fn texts_of_agents_other_names_of_the_host_and_readers_do_nothing_to_the_page() {
    run("hostile.mjs");
}

#[test]
fn login_and_terminals_work_over_tls_with_a_secure_cookie() {
    let world = world();
    scene::share_environment(&world);
    let address = NetworkClient::listen(&world).address.to_string();
    TestCertificate::valid().write(&world.project());
    world.ok(["serve", "--listen", &address, "--tls-cert", CHAIN, "--tls-key", KEY]);
    run_in(&world, "tls.mjs");
}

#[test]
fn real_claude_code_gets_text_from_the_page_and_runs_a_tool_after_a_button_allows_it() {
    isolated(|| {
        let (mut world, model) = (world(), Model::start());
        with_claude(&mut world, &model);
        scene::share_environment(&world);
        listen_on_one_port(&world);
        let prompt = "[[say: ready]] hello";
        let permission = "--permission=ask";
        world.ok(["run", "-d", "--vendor", "claude", permission, "--name", "fox", prompt]);
        world.ok(["wait", "fox"]);
        run_in(&world, "claude.mjs");
        let asked = model.wait_asked("typed in the browser");
        assert_eq!(asked.newest(), "[[say: heard you]] typed in the browser", "{asked:?}");
        assert!(model.exchanges().iter().any(|it| it.mentions("the tool is over")));
        assert!(world.project().join("made-by-claude").exists());
    });
}

#[test]
fn settings_show_tokens_sources_links_and_findings_with_their_cures() {
    run("settings.mjs");
}

#[test]
fn usage_grows_by_events_and_a_sweep_shows_what_it_removes() {
    run("usage.mjs");
}

#[test]
fn marked_sessions_are_sent_to_stopped_and_resumed_together() {
    run("several.mjs");
}

#[test]
fn agents_are_scaled_conversations_taken_in_and_worktrees_restored() {
    run("manage.mjs");
}

#[test]
fn session_at_its_usage_limit_needs_a_person_and_shows_what_helps() {
    run("failures.mjs");
}
