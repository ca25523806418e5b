//! The mouse: a click selects, a second click opens, the wheel scrolls.

use crossterm::event::{MouseButton, MouseEvent, MouseEventKind};
use ratatui::layout::{Position, Rect};

use super::{UiEffect, actions, detail};
use crate::geometry::{Areas, attention_split};
use crate::model::{DetailView, ListCursor, ListRow, ListTab, Modal, PaneFocus, UiAction, UiModel};

/// How many rows the wheel scrolls.
const WHEEL_ROWS: isize = 3;

pub(super) fn moved(model: &mut UiModel, event: MouseEvent) -> Vec<UiEffect> {
    let at = Position::new(event.column, event.row);
    match event.kind {
        MouseEventKind::ScrollUp => scrolled(model, at, -WHEEL_ROWS),
        MouseEventKind::ScrollDown => scrolled(model, at, WHEEL_ROWS),
        MouseEventKind::Down(MouseButton::Left) if model.modal.is_none() => clicked(model, at),
        _ => Vec::new(),
    }
}

fn scrolled(model: &mut UiModel, at: Position, by: isize) -> Vec<UiEffect> {
    match &mut model.modal {
        Some(Modal::Help { top }) => *top = top.saturating_add_signed(by),
        Some(Modal::Confirm(it)) => {
            it.top = it.top.saturating_add_signed(by).min(it.lines.len().saturating_sub(1));
        }
        Some(_) => {}
        None => {
            let areas = Areas::of(model);
            if areas.detail.contains(at) {
                return detail::scroll(model, -by);
            }
            match model.tab {
                ListTab::Sessions => model.list.move_by(by),
                ListTab::Tasks => model.tasks.move_by(by),
                ListTab::Worktrees => model.worktrees.move_by(by),
            }
        }
    }
    Vec::new()
}

fn clicked(model: &mut UiModel, at: Position) -> Vec<UiEffect> {
    model.notice = None;
    let areas = Areas::of(model);
    if areas.header.contains(at) {
        return tab_at(model, at).map(|tab| actions::perform(model, tab)).unwrap_or_default();
    }
    if areas.attention_rows().contains(at) {
        let row = usize::from(at.y - areas.attention_rows().y);
        let rows = usize::from(areas.attention_rows().height);
        if let Some(gate) = row.checked_sub(attention_split(model, rows).0) {
            let gate = model.gates.get(gate).map(|it| (it.plan, it.task.clone()));
            return gate.map(|it| actions::ask_approval(model, &it)).unwrap_or_default();
        }
        let session = model.list.attention.get(row).map(|(_, place)| *place);
        let session = session.and_then(|place| model.list.sessions.get(place));
        if let Some(session) = session.map(|it| it.session) {
            model.tab = ListTab::Sessions;
            model.list.reveal(session, &model.surroundings.cwd.clone());
        }
        return Vec::new();
    }
    if areas.list_rows().contains(at) {
        return list_clicked(model, areas.list_rows(), at);
    }
    if areas.detail.contains(at) {
        model.focus = PaneFocus::Detail;
        if at.y == areas.detail.y {
            let view = view_at(model, areas.detail, at);
            return view.map(|view| detail::switch(model, view)).unwrap_or_default();
        }
        if model.detail.view == DetailView::Diff {
            let content = areas.detail_content();
            let top = crate::view::diff_top(model, content);
            let files = crate::view::diff_file_rows(model, content);
            if at.y >= content.y + files {
                let row = usize::from(at.y - content.y - files) + top;
                let last = model.detail.diff.rows().len().saturating_sub(1);
                model.detail.diff.cursor = row.min(last);
            }
        }
    }
    Vec::new()
}

fn list_clicked(model: &mut UiModel, rows: Rect, at: Position) -> Vec<UiEffect> {
    model.focus = PaneFocus::List;
    let offset = usize::from(at.y - rows.y);
    match model.tab {
        ListTab::Sessions => {
            let row = model.list.top + offset;
            if let Some(ListRow::Fleet { name, .. }) = model.list.rows.get(row) {
                let fleet = name.clone();
                let member = model.list.sessions.iter().find(|it| it.fleet == fleet);
                model.list.cursor = match member {
                    Some(member) if !model.list.folded.contains(&fleet) => {
                        Some(ListCursor::Session(member.session))
                    }
                    _ => Some(ListCursor::Fleet(fleet)),
                };
                return actions::perform(model, UiAction::Fold);
            }
            if row >= model.list.rows.len() {
                return Vec::new();
            }
            if model.list.cursor_row() == Some(row) {
                return actions::perform(model, UiAction::Open);
            }
            model.list.select_row(row);
        }
        ListTab::Tasks | ListTab::Worktrees => return table_clicked(model, offset),
    }
    Vec::new()
}

fn table_clicked(model: &mut UiModel, offset: usize) -> Vec<UiEffect> {
    let table = if model.tab == ListTab::Tasks { &mut model.tasks } else { &mut model.worktrees };
    let row = table.top + offset;
    if row >= table.rows.len() {
        return Vec::new();
    }
    if table.cursor == row {
        return actions::perform(model, UiAction::Open);
    }
    table.cursor = row;
    Vec::new()
}

fn tab_at(model: &UiModel, at: Position) -> Option<UiAction> {
    let tabs = crate::view::header_tabs(model);
    let clicked = tabs.into_iter().find(|it| it.columns.contains(&at.x))?;
    Some(match clicked.tab {
        ListTab::Sessions => UiAction::Sessions,
        ListTab::Tasks => UiAction::Tasks,
        ListTab::Worktrees => UiAction::Worktrees,
    })
}

fn view_at(model: &UiModel, detail: Rect, at: Position) -> Option<DetailView> {
    let places = crate::view::detail_tabs(model, detail);
    places.into_iter().find(|(_, columns)| columns.contains(&at.x)).map(|(view, _)| view)
}
