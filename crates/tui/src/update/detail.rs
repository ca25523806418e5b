//! The right side follows the selection.

use segue_core::model::SessionId;
use segue_core::rules::screens;

use super::{DetailMessage, UiEffect};
use crate::geometry::Areas;
use crate::model::{DetailView, EditorPurpose, ListTab, Modal, UiModel};

/// Shows the selected session on the right side, if it is another one than before.
pub(super) fn follow_selection(model: &mut UiModel) -> Vec<UiEffect> {
    let selected = match model.tab {
        ListTab::Sessions => model.selected().map(|it| it.session),
        ListTab::Tasks => {
            session_of(model, model.tasks.selected().and_then(|it| it.session.clone()))
        }
        ListTab::Worktrees => {
            session_of(model, model.worktrees.selected().and_then(|it| it.session.clone()))
        }
    };
    if selected == model.detail.subject {
        return Vec::new();
    }
    model.detail.show(selected);
    let mut effects = vec![UiEffect::StopWatching];
    effects.extend(load(model));
    effects
}

fn session_of(model: &UiModel, address: Option<String>) -> Option<SessionId> {
    let address = address?;
    model.list.sessions.iter().find(|it| it.address == address).map(|it| it.session)
}

/// Switches to another view.
pub(super) fn switch(model: &mut UiModel, view: DetailView) -> Vec<UiEffect> {
    if model.detail.view == view {
        return Vec::new();
    }
    model.detail.view = view;
    model.detail.rows_up = 0;
    let mut effects = vec![UiEffect::StopWatching];
    effects.extend(load(model));
    effects
}

/// Requests what the current view shows.
pub(super) fn load(model: &mut UiModel) -> Vec<UiEffect> {
    let Some(session) = model.detail.subject else { return Vec::new() };
    model.detail.request += 1;
    let request = model.detail.request;
    let Some(view) = model.list.session(session) else { return Vec::new() };
    match model.detail.view {
        DetailView::Screen if view.headless => {
            let text = "a headless session has no terminal: see its conversation with 2";
            model.detail.screen.ended = Some(text.to_owned());
            Vec::new()
        }
        DetailView::Screen if !screens::is_live(view) => {
            let text = format!("{} does not run ({}): r resumes it", view.name, view.status);
            model.detail.screen.ended = Some(text);
            Vec::new()
        }
        DetailView::Screen => vec![UiEffect::Watch { request, session }],
        DetailView::Talk => vec![UiEffect::LoadTalk { request, session, before: None }],
        DetailView::Diff => match screens::obstacle(screens::SessionAction::Review, view) {
            Some(text) => {
                model.detail.diff.show(Err(segue_core::Error::not_found(text)));
                Vec::new()
            }
            None => vec![UiEffect::LoadDiff { request, name: session.to_string() }],
        },
        DetailView::Messages => vec![UiEffect::LoadMessages { request, session }],
        DetailView::Log => vec![UiEffect::LoadLog { request, session }],
    }
}

/// Requests the data of the right side again after an event of its session. A terminal that is
/// watched reports its changes itself.
pub(super) fn refresh(model: &mut UiModel) -> Vec<UiEffect> {
    let request = model.detail.request;
    let Some(session) = model.detail.subject else { return Vec::new() };
    match model.detail.view {
        DetailView::Screen if model.detail.screen.ended.is_none() => Vec::new(),
        DetailView::Talk => vec![UiEffect::LoadTalk { request, session, before: None }],
        DetailView::Messages => vec![UiEffect::LoadMessages { request, session }],
        DetailView::Log => vec![UiEffect::LoadLog { request, session }],
        DetailView::Screen | DetailView::Diff => load(model),
    }
}

pub(super) fn received(model: &mut UiModel, message: DetailMessage) -> Vec<UiEffect> {
    let is_commenting = matches!(
        &model.modal,
        Some(Modal::Editor(it)) if matches!(it.purpose, EditorPurpose::Comment { .. })
    );
    let detail = &mut model.detail;
    match message {
        DetailMessage::Terminal(event) => detail.screen.received(event),
        DetailMessage::TerminalGone(error) => {
            let text = error.map_or_else(
                || "the agent's terminal is gone".to_owned(),
                |error| segue_core::rules::display::one_line(&error.in_one_line()),
            );
            detail.screen.ended.get_or_insert(text);
        }
        DetailMessage::Talk { is_earlier: true, page: Ok(page) } => detail.talk.put_before(page),
        DetailMessage::Talk { is_earlier: false, page: Ok(page) } => detail.talk.replace_end(page),
        DetailMessage::Talk { is_earlier, page: Err(error) } => {
            if is_earlier {
                detail.talk.is_reading_back = false;
                detail.talk.before = None;
            }
            detail.talk.failure = Some(segue_core::rules::display::one_line(&error.in_one_line()));
        }
        DetailMessage::Messages(list) => {
            detail.messages = crate::model::Loaded::of(list.map(|list| list.messages));
        }
        DetailMessage::Log(events) => detail.log = crate::model::Loaded::of(events),
        // The comment that is being written belongs to a row of the diff that is shown.
        DetailMessage::Diff(_) if is_commenting => {}
        DetailMessage::Diff(report) => detail.diff.show(report),
    }
    Vec::new()
}

/// Scrolls the right side up, or down with a negative number.
pub(super) fn scroll(model: &mut UiModel, up: isize) -> Vec<UiEffect> {
    let height = usize::from(Areas::of(model).detail_content().height);
    match model.detail.view {
        DetailView::Screen => Vec::new(),
        DetailView::Talk => {
            model.detail.talk.scroll(up, height);
            read_back(model, height)
        }
        DetailView::Diff => {
            model.detail.diff.move_by(-up);
            Vec::new()
        }
        DetailView::Messages | DetailView::Log => {
            let rows = match model.detail.view {
                DetailView::Messages => model.detail.messages.ready().map_or(0, Vec::len),
                _ => model.detail.log.ready().map_or(0, Vec::len),
            };
            let most = rows.saturating_sub(1);
            model.detail.rows_up = model.detail.rows_up.saturating_add_signed(up).min(most);
            Vec::new()
        }
    }
}

/// Requests earlier turns when the reader comes near the first turn that was read.
pub(super) fn read_back(model: &mut UiModel, height: usize) -> Vec<UiEffect> {
    let request = model.detail.request;
    let Some(session) = model.detail.subject else { return Vec::new() };
    let talk = &mut model.detail.talk;
    if talk.is_reading_back || talk.before.is_none() || !talk.is_near_start(height) {
        return Vec::new();
    }
    talk.is_reading_back = true;
    vec![UiEffect::LoadTalk { request, session, before: talk.before.clone() }]
}
