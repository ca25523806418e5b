//! What keys, events and answers do with the model.

use std::collections::BTreeSet;

use crossterm::event::{KeyCode, MouseButton, MouseEvent, MouseEventKind};
use segue_core::api::SessionView;
use segue_core::model::{SessionId, Turn};
use segue_core::{Error, model::Role};
use serde_json::json;

use super::{DetailMessage, UiEffect, UiMessage, update};
use crate::api::TalkPage;
use crate::model::{DetailView, LinkState, ListTab, Modal, PaneFocus, UiModel};
use crate::samples::{empty_model, fleet, gate, keys, list, model, press, session};

fn wide() -> UiModel {
    model(120, 40, fleet())
}

fn id(number: u32) -> SessionId {
    session(number, "any", "idle", json!({})).session
}

fn selected(model: &UiModel) -> String {
    model.selected().map(|it| it.address.clone()).unwrap_or_default()
}

fn notice(model: &UiModel) -> &str {
    model.notice.as_ref().map(|it| it.text.as_str()).unwrap_or_default()
}

fn mouse(model: &mut UiModel, kind: MouseEventKind, column: u16, row: u16) -> Vec<UiEffect> {
    let modifiers = crossterm::event::KeyModifiers::NONE;
    update(model, UiMessage::Mouse(MouseEvent { kind, column, row, modifiers }))
}

#[test]
fn keys_move_the_selection_through_both_fleets_and_stop_at_the_ends() {
    let mut model = wide();
    let table = [
        ("", "shop/coder"),
        ("j", "shop/writer"),
        ("j", "shop/reviewer"),
        ("k", "shop/writer"),
        ("kkk", "shop/coder"),
        ("G", "api/planner"),
        ("j", "api/planner"),
        ("g", "shop/coder"),
    ];
    for (typed, expected) in table {
        keys(&mut model, typed);
        assert_eq!(selected(&model), expected, "after {typed}");
    }
}

#[test]
fn gate_is_approved_after_it_was_shown_and_the_user_chooses_among_several() {
    let mut model = wide();
    keys(&mut model, "p");
    assert_eq!(notice(&model), "no plan waits for your approval");
    let approval = |task: &str| UiEffect::ApproveGate(gate(task).plan, gate(task).task);
    update(&mut model, UiMessage::Gates(Ok(vec![gate("ship")])));
    assert!(keys(&mut model, "p").is_empty());
    assert!(matches!(&model.modal, Some(Modal::Confirm(it)) if it.title == "Approve ship"));
    assert!(keys(&mut model, "⏎").contains(&approval("ship")));

    update(&mut model, UiMessage::Gates(Ok(vec![gate("ship"), gate("publish")])));
    keys(&mut model, "p");
    assert!(matches!(&model.modal, Some(Modal::Pick(it)) if it.items.len() == 2));
    keys(&mut model, "j⏎");
    assert!(keys(&mut model, "⏎").contains(&approval("publish")));
    // Another person has approved it meanwhile.
    keys(&mut model, "p");
    update(&mut model, UiMessage::Gates(Ok(Vec::new())));
    keys(&mut model, "⏎");
    assert_eq!(notice(&model), "ship does not wait for an approval any more");
}

#[test]
fn click_on_a_gate_shows_what_its_approval_starts() {
    let mut model = wide();
    update(&mut model, UiMessage::Gates(Ok(vec![gate("ship")])));
    let rows = crate::geometry::Areas::of(&model).attention_rows();
    let click = MouseEventKind::Down(MouseButton::Left);
    mouse(&mut model, click, 5, rows.y + rows.height - 1);
    assert!(matches!(&model.modal, Some(Modal::Confirm(it)) if it.title == "Approve ship"));
}

#[test]
fn events_about_plans_load_the_gates() {
    let mut model = wide();
    let changed = |is_about_work| UiMessage::Changed { sessions: BTreeSet::new(), is_about_work };
    assert!(update(&mut model, changed(true)).contains(&UiEffect::LoadGates));
    assert!(!update(&mut model, changed(false)).contains(&UiEffect::LoadGates));
}

#[test]
fn form_of_a_new_task_chooses_among_the_agents_of_the_project_unless_a_name_was_written() {
    let agents = |names: &[&str]| {
        let agent = |name: &&str| json!({ "name": name, "vendor": "demo" });
        let agents: Vec<_> = names.iter().map(agent).collect();
        let list = json!({ "project": "/shop", "agents": agents });
        UiMessage::Agents(Ok(serde_json::from_value(list).unwrap()))
    };
    let agent = |model: &UiModel| match &model.modal {
        Some(Modal::Form(form)) => form.value("agent"),
        _ => None,
    };
    let mut model = wide();
    assert!(keys(&mut model, "T").contains(&UiEffect::LoadAgents));
    // The agent of a session is proposed until the agents are known.
    assert_eq!(agent(&model).as_deref(), Some("reviewer"));
    update(&mut model, agents(&["coder", "reviewer"]));
    assert_eq!(agent(&model).as_deref(), Some("reviewer"));
    keys(&mut model, "⇥");
    press(&mut model, KeyCode::Right);
    assert_eq!(agent(&model).as_deref(), Some("coder"));
    press(&mut model, KeyCode::Esc);

    keys(&mut model, "T⇥-other");
    update(&mut model, agents(&["coder", "reviewer"]));
    assert_eq!(agent(&model).as_deref(), Some("reviewer-other"));
    press(&mut model, KeyCode::Esc);

    keys(&mut model, "T");
    update(&mut model, agents(&[]));
    assert_eq!(agent(&model).as_deref(), Some("reviewer"), "without a project file");
}

#[test]
fn selection_stays_at_its_session_when_the_list_changes() {
    let mut model = wide();
    keys(&mut model, "jj");
    let mut sessions = fleet();
    sessions.insert(0, session(9, "aaa", "waiting", json!({ "waiting_for": "trust" })));
    sessions.reverse();
    update(&mut model, UiMessage::Sessions(Ok(list(sessions))));
    assert_eq!(selected(&model), "shop/reviewer");
    let without: Vec<SessionView> = fleet().into_iter().filter(|it| it.session != id(2)).collect();
    update(&mut model, UiMessage::Sessions(Ok(list(without))));
    assert!(!selected(&model).is_empty(), "the nearest row is selected");
}

#[test]
fn n_goes_through_the_sessions_that_need_a_person_longest_waiting_first() {
    let mut model = wide();
    keys(&mut model, "G");
    let order: Vec<String> = (0..4)
        .map(|_| {
            keys(&mut model, "n");
            selected(&model)
        })
        .collect();
    assert_eq!(order, ["shop/writer", "shop/coder", "api/lost-one", "shop/writer"]);
    keys(&mut model, "N");
    assert_eq!(selected(&model), "api/lost-one");
}

#[test]
fn session_that_waits_longest_is_selected_when_the_screen_opens() {
    let mut model = empty_model(120, 40);
    update(&mut model, UiMessage::Sessions(Ok(list(fleet()))));
    assert_eq!(selected(&model), "shop/writer");
}

#[test]
fn answer_is_shown_first_and_given_with_enter() {
    let answer = |number, question: &str, answer: &str| UiEffect::Answer {
        session: id(number),
        question: question.to_owned(),
        answer: answer.to_owned(),
    };
    let table = [("y", "yes  to: Bash: npm test"), ("2", "always  to: Bash: npm test")];
    for ((typed, shown), given) in table.into_iter().zip(["yes", "2"]) {
        let mut model = wide();
        assert_eq!(keys(&mut model, typed), []);
        let Some(Modal::Confirm(confirmation)) = &model.modal else { panic!("{typed}") };
        assert!(confirmation.lines[0].starts_with(shown), "{:?}", confirmation.lines);
        assert_eq!(confirmation.lines[1], "in ~/src/shop");
        assert_eq!(keys(&mut model, "⏎"), [answer(1, "q1", given)]);
        assert!(model.modal.is_none());
    }
}

#[test]
fn exclamation_mark_answers_without_a_confirmation_and_esc_gives_no_answer() {
    let mut model = wide();
    let effects = keys(&mut model, "!d");
    let expected =
        UiEffect::Answer { session: id(1), question: "q1".to_owned(), answer: "no".to_owned() };
    assert_eq!(effects, [expected]);
    assert!(!model.skips_confirmation);
    let mut model = wide();
    assert_eq!(keys(&mut model, "y⎋"), []);
    assert!(model.modal.is_none());
}

#[test]
fn question_without_yes_refuses_yes_and_takes_its_choices() {
    let mut model = wide();
    keys(&mut model, "jy");
    assert!(notice(&model).contains("no yes"), "{}", notice(&model));
    let effects = keys(&mut model, "a3");
    let expected =
        UiEffect::Answer { session: id(4), question: "q2".to_owned(), answer: "3".to_owned() };
    assert_eq!(effects, [expected]);
}

#[test]
fn dialog_of_a_question_that_was_answered_elsewhere_is_closed() {
    let mut model = wide();
    keys(&mut model, "a");
    let mut sessions = fleet();
    sessions[0].dialog = None;
    update(&mut model, UiMessage::Sessions(Ok(list(sessions))));
    assert!(model.modal.is_none());
    assert!(notice(&model).contains("does not ask this any more"));
}

#[test]
fn digits_choose_views_if_no_question_is_asked_or_the_right_side_has_the_focus() {
    let mut model = wide();
    keys(&mut model, "jj2");
    assert_eq!(model.detail.view, DetailView::Talk);
    keys(&mut model, "g⇥5");
    assert_eq!((model.detail.view, model.modal.is_none()), (DetailView::Log, true));
}

#[test]
fn selecting_another_session_ends_the_watching_and_loads_its_view() {
    let mut model = wide();
    let effects = keys(&mut model, "j");
    let request = model.detail.request;
    assert_eq!(effects, [UiEffect::StopWatching, UiEffect::Watch { request, session: id(4) }]);
    let effects = keys(&mut model, "⇥2");
    let request = model.detail.request;
    let load = UiEffect::LoadTalk { request, session: id(4), before: None };
    assert_eq!(effects, [UiEffect::StopWatching, load]);
}

#[test]
fn answer_to_an_earlier_request_is_dropped() {
    let mut model = wide();
    keys(&mut model, "⇥2");
    let page = TalkPage { turns: vec![Turn::new(Role::User, "hello")], before: None };
    let old = model.detail.request - 1;
    let talk = |page| DetailMessage::Talk { is_earlier: false, page: Ok(page) };
    update(&mut model, UiMessage::Detail(old, talk(page.clone())));
    assert!(!model.detail.talk.is_loaded());
    let request = model.detail.request;
    update(&mut model, UiMessage::Detail(request, talk(page)));
    assert!(model.detail.talk.is_loaded());
}

#[test]
fn earlier_turns_are_requested_once_when_the_reader_scrolls_up() {
    let mut model = wide();
    keys(&mut model, "⇥2");
    let turns = (0..50).map(|it| Turn::new(Role::User, it.to_string())).collect();
    let page = TalkPage { turns, before: Some("c".to_owned()) };
    let message = DetailMessage::Talk { is_earlier: false, page: Ok(page) };
    let request = model.detail.request;
    update(&mut model, UiMessage::Detail(request, message));
    assert_eq!(keys(&mut model, "k"), []);
    let (request, session) = (model.detail.request, id(1));
    let expected = UiEffect::LoadTalk { request, session, before: Some("c".to_owned()) };
    assert_eq!(keys(&mut model, "g"), [expected]);
    assert_eq!(keys(&mut model, "k"), []);
}

#[test]
fn message_is_written_in_several_lines_and_sent_with_enter() {
    let mut model = wide();
    keys(&mut model, "shello");
    let alt = crossterm::event::KeyModifiers::ALT;
    let newline = crossterm::event::KeyEvent::new(KeyCode::Enter, alt);
    update(&mut model, UiMessage::Key(newline));
    update(&mut model, UiMessage::Paste("wor\u{1b}ld\r\n!".to_owned()));
    let text = "hello\nworld\n!".to_owned();
    let expected =
        UiEffect::Send { sessions: vec![id(1)], text, interrupts: false, is_review: false };
    assert_eq!(keys(&mut model, "⏎"), [expected]);
    assert_eq!(keys(&mut model, "s⏎"), [], "an empty message is not sent");
}

#[test]
fn text_of_the_users_editor_is_taken_over_and_the_terminal_is_watched_again() {
    let mut model = wide();
    keys(&mut model, "sdraft");
    let control = crossterm::event::KeyModifiers::CONTROL;
    let key = crossterm::event::KeyEvent::new(KeyCode::Char('e'), control);
    let effects = update(&mut model, UiMessage::Key(key));
    assert_eq!(effects, [UiEffect::Edit("draft".to_owned())]);
    let effects = update(&mut model, UiMessage::Edited(Ok("better\n".to_owned())));
    let request = model.detail.request;
    assert_eq!(effects, [UiEffect::Watch { request, session: id(1) }]);
    let text = "better".to_owned();
    let expected =
        UiEffect::Send { sessions: vec![id(1)], text, interrupts: false, is_review: false };
    assert_eq!(keys(&mut model, "⏎"), [expected]);
}

#[test]
fn marked_sessions_get_one_message_each() {
    let mut model = wide();
    let effects = keys(&mut model, "  sx⏎");
    let sessions = vec![id(1), id(4)];
    let expected =
        UiEffect::Send { sessions, text: "x".to_owned(), interrupts: false, is_review: false };
    assert_eq!(effects, [expected]);
}

#[test]
fn stop_names_what_is_kept_and_starts_with_enter() {
    let mut model = wide();
    keys(&mut model, "jjx");
    let Some(Modal::Confirm(confirmation)) = &model.modal else { panic!() };
    let expected = "stops reviewer; its conversation stays; its current turn is cut off; 1 message \
        stay queued";
    assert_eq!(confirmation.lines, [expected]);
    assert_eq!(keys(&mut model, "⏎"), [UiEffect::Stop(vec![id(2)])]);
}

#[test]
fn impossible_actions_only_report_why() {
    let table = [
        ("jjjjj", "e", "coder does not run (interrupted): resume it first"),
        ("jj", "r", "reviewer runs already"),
        ("jj", "y", "reviewer asks nothing that could be answered"),
        ("jjj", "+", "tester is not an agent of segue.toml"),
        ("", "v", "no worktree is selected: w lists them"),
        ("", "M", "there are no comments: m comments on a line of the diff"),
    ];
    for (moves, key, expected) in table {
        let mut model = wide();
        keys(&mut model, moves);
        assert_eq!(keys(&mut model, key), [], "{key}");
        assert_eq!(notice(&model), expected, "{key}");
        assert!(model.modal.is_none());
    }
}

#[test]
fn resume_asks_for_the_plan_first() {
    let mut model = wide();
    keys(&mut model, "jjjj");
    assert_eq!(selected(&model), "api/lost-one");
    keys(&mut model, "j");
    assert_eq!(keys(&mut model, "r"), [UiEffect::Plan(Some(vec![id(5)]))]);
    assert_eq!(keys(&mut model, "R"), [UiEffect::Plan(None)]);
}

#[test]
fn handoff_shows_what_is_carried_before_it_is_done() {
    let mut model = wide();
    keys(&mut model, "h");
    press(&mut model, KeyCode::Right);
    let effects = keys(&mut model, "⏎");
    let [UiEffect::Preview(order)] = effects.as_slice() else { panic!("{effects:?}") };
    assert_eq!((order.session, order.to.as_str()), (id(1), "pi"));
    update(&mut model, UiMessage::Previewed(order.clone(), Err(Error::conflict("not now"))));
    assert_eq!(notice(&model), "not now");
}

#[test]
fn filter_narrows_the_list_while_typing_and_esc_restores_it() {
    let mut model = wide();
    keys(&mut model, "/api int");
    assert_eq!(selected(&model), "api/coder");
    keys(&mut model, "⎋");
    assert_eq!((model.list.filter.as_str(), model.list.rows.len()), ("", 9));
    keys(&mut model, "/wait⏎");
    assert_eq!(model.list.rows.len(), 3);
    keys(&mut model, "⎋");
    assert_eq!(model.list.rows.len(), 9);
}

#[test]
fn fleets_are_folded_and_a_session_that_needs_a_person_is_revealed() {
    let mut model = wide();
    keys(&mut model, "z");
    assert_eq!(model.list.rows.len(), 5);
    assert_eq!(model.selected().map(|it| it.session), None);
    keys(&mut model, "⏎");
    assert_eq!((model.list.rows.len(), selected(&model).as_str()), (9, "shop/coder"));
    keys(&mut model, "Zn");
    assert_eq!(selected(&model), "shop/writer");
}

#[test]
fn narrow_screen_opens_the_session_first_and_esc_returns() {
    let mut model = model(80, 24, fleet());
    keys(&mut model, "⏎");
    assert_eq!(model.focus, PaneFocus::Detail);
    assert_eq!(keys(&mut model, "⏎"), [UiEffect::Attach(id(1))]);
    keys(&mut model, "⎋");
    assert!(model.focus == PaneFocus::List && !model.is_over());
    keys(&mut model, "⎋");
    assert!(!model.is_over(), "Esc never ends the screen");
    keys(&mut model, "q");
    assert!(model.is_over());
}

#[test]
fn enter_attaches_on_a_wide_screen_and_the_place_is_kept() {
    let mut model = wide();
    keys(&mut model, "jj");
    assert_eq!(keys(&mut model, "⏎"), [UiEffect::Attach(id(2))]);
    let result = crate::api::AttachResult { text: "detached".to_owned(), is_failure: false };
    let effects = update(&mut model, UiMessage::Attached(Ok(result)));
    assert_eq!((selected(&model).as_str(), notice(&model)), ("shop/reviewer", "detached"));
    assert!(effects.iter().any(|it| matches!(it, UiEffect::Watch { .. })));
}

#[test]
fn lost_daemon_keeps_the_list_and_everything_is_read_again_when_it_is_back() {
    let mut model = wide();
    keys(&mut model, "jj");
    assert_eq!(update(&mut model, UiMessage::DaemonGone), []);
    assert!(matches!(model.link, LinkState::Lost { .. }));
    assert_eq!(selected(&model), "shop/reviewer");
    let effects = update(&mut model, UiMessage::DaemonBack);
    assert_eq!(model.link, LinkState::Connected);
    assert!(effects.contains(&UiEffect::LoadSessions));
    assert_eq!(selected(&model), "shop/reviewer");
}

#[test]
fn events_cause_one_list_request_and_refresh_only_the_shown_session() {
    let mut model = wide();
    keys(&mut model, "⇥4");
    let changed = |number| UiMessage::Changed {
        sessions: BTreeSet::from([id(number)]),
        is_about_work: false,
    };
    update(&mut model, changed(2));
    assert_eq!(update(&mut model, changed(2)), [UiEffect::LoadSessions]);
    let request = model.detail.request;
    let load = UiEffect::LoadMessages { request, session: id(1) };
    assert_eq!(update(&mut model, changed(1)), [UiEffect::LoadSessions, load]);
}

#[test]
fn changed_sessions_are_unread_until_they_are_selected() {
    let mut model = wide();
    let mut sessions = fleet();
    sessions[2].updated_at = "2026-03-05T12:50:00Z".parse().unwrap();
    update(&mut model, UiMessage::Sessions(Ok(list(sessions))));
    let is_unread = |model: &UiModel| model.list.is_unread(model.list.session(id(3)).unwrap());
    assert!(is_unread(&model));
    keys(&mut model, "jjj");
    assert_eq!(selected(&model), "shop/tester");
    assert!(!is_unread(&model));
}

#[test]
fn empty_screen_offers_three_choices() {
    let mut model = empty_model(80, 24);
    let effects = update(&mut model, UiMessage::Sessions(Ok(list(Vec::new()))));
    assert!(effects.contains(&UiEffect::LoadAdoptable { is_asked: false }));
    assert_eq!(keys(&mut model, "1"), [UiEffect::StartDemo]);
    keys(&mut model, "2");
    assert!(matches!(&model.modal, Some(Modal::Form(_))));
    keys(&mut model, "⎋");
    assert_eq!(keys(&mut model, "3"), [UiEffect::LoadAdoptable { is_asked: true }]);
}

#[test]
fn new_session_is_started_with_the_fields_of_the_form_and_selected() {
    let mut model = wide();
    keys(&mut model, "cfix it⇥⇥⇥fox⇥feat/x");
    let effects = keys(&mut model, "⏎");
    let [UiEffect::Start(new)] = effects.as_slice() else { panic!("{effects:?}") };
    assert_eq!(new.prompt.as_deref(), Some("fix it"));
    assert_eq!((new.vendor.as_deref(), new.name.as_deref()), (Some("pi"), Some("fox")));
    assert_eq!(new.branch.as_deref(), Some("feat/x"));
    assert_eq!(new.folder.as_deref(), Some(std::path::Path::new("/home/ann/src/shop")));
    assert_eq!(update(&mut model, UiMessage::Started(Ok(id(9)))), [UiEffect::LoadSessions]);
    let mut sessions = fleet();
    sessions.push(session(9, "fox", "starting", json!({})));
    update(&mut model, UiMessage::Sessions(Ok(list(sessions))));
    assert_eq!(selected(&model), "shop/fox");
}

#[test]
fn palette_finds_actions_by_words_and_starts_them() {
    let mut model = wide();
    keys(&mut model, ":list tasks");
    assert!(keys(&mut model, "⏎").contains(&UiEffect::LoadTasks { with_ended: false }));
    assert_eq!(model.tab, ListTab::Tasks);
    for entry in crate::model::ACTIONS {
        let found = super::found(entry.title.to_lowercase().as_str());
        assert!(found.iter().any(|it| it.action == entry.action), "{}", entry.title);
    }
}

#[test]
fn click_selects_a_second_click_opens_and_the_wheel_scrolls() {
    let mut model = wide();
    let areas = crate::geometry::Areas::of(&model);
    let row = areas.list_rows().y + 3;
    let click = MouseEventKind::Down(MouseButton::Left);
    mouse(&mut model, click, 5, row);
    assert_eq!(selected(&model), "shop/reviewer");
    assert_eq!(mouse(&mut model, click, 5, row), [UiEffect::Attach(id(2))]);
    mouse(&mut model, MouseEventKind::ScrollDown, 5, row);
    assert_eq!(selected(&model), "api/coder");
    mouse(&mut model, click, 5, areas.attention_rows().y);
    assert_eq!(selected(&model), "shop/writer");
    let tabs = crate::view::detail_tabs(&model, areas.detail);
    mouse(&mut model, click, tabs[4].1.start + 1, areas.detail.y);
    assert_eq!(model.detail.view, DetailView::Log);
    let tabs = crate::view::header_tabs(&model);
    mouse(&mut model, click, tabs[2].columns.start + 1, 0);
    assert_eq!(model.tab, ListTab::Worktrees);
}

#[test]
fn failure_of_an_action_is_shown_with_its_hint() {
    let mut model = wide();
    let error = Error::conflict("it is open\nelsewhere").hint("run `segue ls`");
    update(&mut model, UiMessage::Done(Err(error)));
    assert_eq!(notice(&model), "it is open elsewhere; run `segue ls`");
    press(&mut model, KeyCode::Down);
    assert_eq!(notice(&model), "");
}

#[test]
fn interrupt_shows_its_consequence_and_needs_a_working_agent() {
    let mut model = wide();
    keys(&mut model, "jj");
    assert_eq!(selected(&model), "shop/reviewer");
    assert_eq!(keys(&mut model, "i"), []);
    let Some(Modal::Confirm(confirmation)) = &model.modal else { panic!() };
    let expected = "ends the turn of reviewer; the agent keeps running and waits for you";
    assert_eq!(confirmation.lines, [expected]);
    assert_eq!(keys(&mut model, "⏎"), [UiEffect::Interrupt(id(2))]);
}

#[test]
fn rename_form_has_the_name_and_refuses_the_same_one() {
    let mut model = wide();
    keys(&mut model, "jj");
    press(&mut model, KeyCode::F(2));
    assert_eq!(keys(&mut model, "⏎"), []);
    assert_eq!(notice(&model), "it is called reviewer already");
    let (session, name) = (id(2), "reviewer-2".to_owned());
    assert_eq!(keys(&mut model, "-2⏎"), [UiEffect::Rename { session, name }]);
}

#[test]
fn smaller_number_of_agents_names_those_that_stop() {
    let mut model = wide();
    let agent = |number: u32, name: &str, status: &str| {
        session(number, name, status, json!({ "agent": name }))
    };
    let sessions = vec![
        agent(1, "coder-10", "idle"),
        agent(2, "coder-2", "working"),
        agent(3, "coder", "idle"),
        agent(4, "coder-3", "ended"),
        agent(5, "coder-x", "idle"),
    ];
    update(&mut model, UiMessage::Sessions(Ok(list(sessions))));
    model.list.select_row(1);
    keys(&mut model, "+");
    let control = crossterm::event::KeyModifiers::CONTROL;
    let clear = crossterm::event::KeyEvent::new(KeyCode::Char('u'), control);
    update(&mut model, UiMessage::Key(clear));
    assert_eq!(keys(&mut model, "1⏎"), []);
    let Some(Modal::Confirm(confirmation)) = &model.modal else { panic!() };
    assert_eq!(confirmation.lines[0], "stops coder-2, coder-10");
    let effects = keys(&mut model, "⏎");
    let is_scale =
        |it: &UiEffect| matches!(it, UiEffect::Scale { agent, count: 1, .. } if agent == "coder");
    assert!(effects.iter().any(is_scale), "{effects:?}");
}

#[test]
fn form_that_needs_the_vendors_is_opened_as_soon_as_they_are_known() {
    for (key, title) in [("c", "New session"), ("h", "Hand ")] {
        let mut model = wide();
        let vendors = model.vendors.take();
        keys(&mut model, key);
        assert!(model.modal.is_none(), "{key}");
        update(&mut model, UiMessage::Vendors(Ok(vendors.unwrap())));
        let Some(Modal::Form(form)) = &model.modal else { panic!("{key}: {:?}", model.modal) };
        assert!(form.title.starts_with(title), "{}", form.title);
    }
}

#[test]
fn message_leaves_the_comments_and_a_sent_review_forgets_them() {
    let mut model = wide();
    model.detail.diff.comments.insert(0, "why?".to_owned());
    keys(&mut model, "shello⏎");
    update(&mut model, UiMessage::Done(Ok("recorded".to_owned())));
    assert_eq!(model.detail.diff.comments.len(), 1);
    update(&mut model, UiMessage::Reviewed(Err(Error::conflict("no"))));
    assert_eq!(model.detail.diff.comments.len(), 1, "a failed review is kept");
    // Another session has its own comments.
    keys(&mut model, "j");
    assert_eq!(model.detail.diff.comments.len(), 0);
    keys(&mut model, "k");
    assert_eq!(model.detail.diff.comments.len(), 1);
    update(&mut model, UiMessage::Reviewed(Ok("recorded".to_owned())));
    assert_eq!(model.detail.diff.comments.len(), 0);
}
