//! The last row: the keys that help here, a notice, or a line that is typed.

use ratatui::Frame;
use ratatui::layout::{Position, Rect};
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use segue_core::model::StatusKind;
use segue_core::rules::screens;

use super::Theme;
use crate::model::{DetailView, LinePurpose, ListTab, Modal, PaneFocus, UiModel};
use crate::text::{cells, fitted, width};

/// A key, and what it does in a few words.
type KeyHint = (&'static str, &'static str);

pub(super) fn draw(frame: &mut Frame<'_>, area: Rect, model: &UiModel, theme: Theme) {
    if let Some(Modal::Line(line)) = &model.modal {
        let label = match line.purpose {
            LinePurpose::Filter => " filter: ",
            LinePurpose::Search => " search: ",
        };
        let (lines, _, before) = line.editor.lines();
        let text = lines.join(" ");
        let spans = vec![Span::styled(label, theme.key()), Span::raw(text)];
        frame.render_widget(Line::from(spans), area);
        let x = area.x + cells(width(label) + width(&before));
        frame.set_cursor_position(Position::new(x.min(area.right().saturating_sub(1)), area.y));
        return;
    }
    if model.skips_confirmation {
        let text = " ! the next key acts without a confirmation; ! again: not";
        frame.render_widget(Line::styled(text, theme.attention()), area);
        return;
    }
    if let Some(notice) = &model.notice {
        let style = if notice.is_failure { theme.bad() } else { Style::new() };
        let text = fitted(&format!(" {}", notice.text), usize::from(area.width));
        frame.render_widget(Line::styled(text, style), area);
        return;
    }
    let spans = shown_keys(model, usize::from(area.width)).into_iter().flat_map(|(key, title)| {
        [Span::styled(format!(" {key}"), theme.key()), Span::raw(format!(" {title} "))]
    });
    frame.render_widget(Line::from_iter(spans), area);
}

/// Returns the keys that fit. The keys that lead to all others are always among them.
fn shown_keys(model: &UiModel, columns: usize) -> Vec<KeyHint> {
    let length = |(key, title): &(&str, &str)| width(key) + width(title) + 3;
    let (mut shown, last) = keys(model);
    let mut room = columns.saturating_sub(last.iter().map(length).sum());
    shown.retain(|it| {
        let fits = length(it) <= room;
        room = if fits { room - length(it) } else { 0 };
        fits
    });
    shown.extend(last);
    shown
}

/// Returns the keys that help here, the most useful ones first, and the keys that are always shown.
fn keys(model: &UiModel) -> (Vec<KeyHint>, [KeyHint; 3]) {
    let is_narrow = crate::geometry::is_narrow(model);
    let in_detail = model.focus == PaneFocus::Detail;
    let end: [KeyHint; 3] = [(":", "all actions"), ("?", "keys"), ("q", "quit")];
    let back: [KeyHint; 3] = [("Esc", "back"), (":", "all actions"), ("?", "keys")];
    let keys: Vec<KeyHint> = match (model.tab, in_detail) {
        (_, true) => detail_keys(model),
        (ListTab::Tasks, _) => {
            vec![
                ("Enter", "show"),
                ("T", "new"),
                ("x", "cancel"),
                ("r", "retry"),
                ("E", "ended ones"),
                ("t", "sessions"),
            ]
        }
        (ListTab::Worktrees, _) => vec![
            ("Enter", "diff"),
            ("v", "salvage"),
            ("D", "remove"),
            ("u", "restore"),
            ("w", "sessions"),
        ],
        (ListTab::Sessions, _) => session_keys(model, is_narrow),
    };
    (keys, if in_detail { back } else { end })
}

fn session_keys(model: &UiModel, is_narrow: bool) -> Vec<KeyHint> {
    let Some(session) = model.selected() else {
        return vec![("Enter", "begin"), ("c", "new session"), ("A", "adopt")];
    };
    let mut keys = Vec::new();
    if session.dialog.is_some() {
        keys.extend([("a", "answer"), ("y", "yes"), ("1…9", "choice")]);
    }
    if is_narrow {
        keys.push(("Enter", "open"));
    } else if screens::is_live(session) {
        keys.push(("Enter", "attach"));
    }
    keys.push(("s", "send"));
    if !model.list.attention.is_empty() {
        keys.push(("n", "next ▲"));
    }
    if !model.gates.is_empty() {
        keys.push(("p", "approve"));
    }
    if session.status.known() == Some(StatusKind::Working) {
        keys.push(("i", "interrupt"));
    }
    if screens::is_live(session) {
        keys.extend([("x", "stop"), ("h", "hand over")]);
    } else {
        keys.extend([("r", "resume"), ("h", "hand over")]);
    }
    keys.extend([("c", "new"), ("t", "tasks"), ("/", "filter")]);
    keys
}

fn detail_keys(model: &UiModel) -> Vec<KeyHint> {
    let is_asking = model.selected().is_some_and(|session| session.dialog.is_some());
    let mut keys = if is_asking { vec![("a", "answer")] } else { Vec::new() };
    keys.extend(match model.detail.view {
        DetailView::Screen => vec![("Enter", "attach"), ("s", "send")],
        DetailView::Talk => vec![("f", "tool calls"), ("/", "search"), ("n", "next match")],
        DetailView::Diff => vec![("m", "comment"), ("M", "send comments"), ("] [", "file")],
        DetailView::Messages | DetailView::Log => vec![("s", "send")],
    });
    keys.push(("1…5", "views"));
    keys
}
