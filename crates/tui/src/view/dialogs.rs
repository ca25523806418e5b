//! Dialogs above the panes.

use ratatui::Frame;
use ratatui::layout::{Position, Rect};
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use ratatui::widgets::{Block, Borders, Clear};
use segue_core::rules::display::one_line;

use super::{Theme, forms, row};
use crate::geometry::centered;
use crate::model::{
    ACTIONS, AnswerDialog, Confirmation, EditorDialog, EditorPurpose, Modal, PaletteState, Picker,
    UiModel,
};
use crate::text::{cells, fitted, padded, width, wrapped};
use crate::update::{found, obstacle};

/// A dialog has at most this many columns.
const MAX_COLUMNS: u16 = 100;

pub(super) fn draw(frame: &mut Frame<'_>, model: &UiModel, modal: &Modal, theme: Theme) {
    match modal {
        Modal::Help { top } => draw_help(frame, model, *top, theme),
        Modal::Palette(state) => draw_palette(frame, model, state, theme),
        Modal::Confirm(confirmation) => draw_confirmation(frame, model, confirmation, theme),
        Modal::Answer(answer) => draw_answer(frame, model, answer, theme),
        Modal::Editor(editor) => draw_editor(frame, model, editor, theme),
        Modal::Form(form) => forms::draw(frame, model, form, theme),
        Modal::Pick(picker) => draw_picker(frame, model, picker, theme),
        // It is in the last row.
        Modal::Line(_) => {}
    }
}

/// Draws the frame of a dialog with this many rows. Returns the place of its content.
pub(super) fn draw_frame(
    frame: &mut Frame<'_>,
    model: &UiModel,
    (title, keys): (&str, &str),
    rows: usize,
    theme: Theme,
) -> Rect {
    let columns = model.size.cols.saturating_sub(4).min(MAX_COLUMNS);
    let most = model.size.rows.saturating_sub(2);
    let area = centered(model, columns, cells(rows + 2).min(most));
    let room = usize::from(area.width.saturating_sub(4));
    let title = Span::styled(format!(" {} ", fitted(title, room)), theme.strong());
    let keys = Span::styled(format!(" {} ", fitted(keys, room)), theme.dim());
    let block = Block::new().borders(Borders::ALL).title_top(title).title_bottom(keys);
    let inside = block.inner(area);
    frame.render_widget(Clear, area);
    frame.render_widget(block, area);
    Rect { x: inside.x + 1, width: inside.width.saturating_sub(2), ..inside }
}

fn inner_columns(model: &UiModel) -> usize {
    usize::from(model.size.cols.saturating_sub(4).min(MAX_COLUMNS).saturating_sub(4))
}

fn draw_lines(frame: &mut Frame<'_>, area: Rect, lines: &[Line<'static>], top: usize) {
    let most = lines.len().saturating_sub(usize::from(area.height));
    for (number, line) in lines.iter().skip(top.min(most)).enumerate() {
        let Some(place) = row(area, number) else { break };
        frame.render_widget(line.clone(), place);
    }
}

fn draw_help(frame: &mut Frame<'_>, model: &UiModel, top: usize, theme: Theme) {
    let mut lines = vec![
        key_line("j k ↑ ↓", "move; g G first and last, PageUp PageDown by pages", theme),
        key_line("!", "before a key: act at once, without the confirmation", theme),
        key_line("1…9", "in the list, if the agent asks: answer with that choice", theme),
    ];
    let listed = ACTIONS.iter().filter(|it| !it.keys.is_empty());
    lines.extend(listed.map(|it| key_line(it.keys, it.title, theme)));
    lines.push(key_line("mouse", "click selects, a second click opens, the wheel scrolls", theme));
    let keys = "j k scroll   Esc close";
    let area = draw_frame(frame, model, ("Keys", keys), lines.len(), theme);
    draw_lines(frame, area, &lines, top);
}

fn key_line(keys: &str, title: &str, theme: Theme) -> Line<'static> {
    Line::from(vec![Span::styled(padded(keys, 11), theme.key()), Span::raw(title.to_owned())])
}

fn draw_palette(frame: &mut Frame<'_>, model: &UiModel, state: &PaletteState, theme: Theme) {
    let entries = found(&state.query.text());
    let title = ("Actions", "type to find   ↑ ↓ choose   Enter start   Esc close");
    let area = draw_frame(frame, model, title, ACTIONS.len().min(20) + 1, theme);
    let (lines, _, before) = state.query.lines();
    let prompt = "> ";
    if let Some(place) = row(area, 0) {
        let text = format!("{prompt}{}", lines.join(" "));
        frame.render_widget(Line::raw(text), place);
        set_cursor(frame, place, width(prompt) + width(&before));
    }
    let list = Rect { y: area.y + 1, height: area.height.saturating_sub(1), ..area };
    let first = (state.cursor + 1).saturating_sub(usize::from(list.height));
    for (number, (at, entry)) in entries.iter().enumerate().skip(first).enumerate() {
        let Some(place) = row(list, number) else { break };
        let reason = obstacle(model, entry.action);
        let style = match (&reason, at == state.cursor) {
            (_, true) => theme.selected(true),
            (Some(_), false) => theme.dim(),
            (None, false) => Style::new(),
        };
        let text = reason
            .map_or_else(|| entry.title.to_owned(), |reason| format!("{} — {reason}", entry.title));
        let columns = usize::from(list.width).saturating_sub(11);
        let spans = vec![
            Span::styled(padded(entry.keys, 11), theme.key()),
            Span::raw(padded(&text, columns)),
        ];
        frame.render_widget(Line::from(spans).style(style), place);
    }
}

fn draw_confirmation(frame: &mut Frame<'_>, model: &UiModel, it: &Confirmation, theme: Theme) {
    let columns = inner_columns(model);
    let lines = it.lines.iter().flat_map(|line| wrapped(line, columns));
    let lines: Vec<Line<'static>> = lines.map(Line::raw).collect();
    let keys = match it.effect {
        Some(_) => format!("Enter {}   Esc cancel", it.verb),
        None => "Enter or Esc close".to_owned(),
    };
    let area = draw_frame(frame, model, (&it.title, &keys), lines.len(), theme);
    draw_lines(frame, area, &lines, it.top);
}

fn draw_answer(frame: &mut Frame<'_>, model: &UiModel, answer: &AnswerDialog, theme: Theme) {
    let columns = inner_columns(model);
    let question = one_line(&answer.dialog.question);
    let mut lines: Vec<Line<'static>> =
        wrapped(&question, columns).into_iter().map(Line::raw).collect();
    lines.push(Line::styled(format!("in {}", answer.folder), theme.dim()));
    lines.push(Line::raw(""));
    for (at, choice) in answer.dialog.choices.iter().enumerate() {
        let style = if at == answer.cursor { theme.selected(true) } else { Style::new() };
        let text = fitted(&one_line(choice), columns.saturating_sub(3));
        let key = Span::styled(format!("{} ", at + 1), theme.key());
        lines.push(Line::from(vec![key, Span::styled(text, style)]));
    }
    let title = format!("{} asks", answer.name);
    let keys = if answer.dialog.choices.is_empty() {
        "y yes   n no   Esc cancel"
    } else {
        "1…9 or ↑ ↓ and Enter answer   Esc cancel"
    };
    let area = draw_frame(frame, model, (&title, keys), lines.len(), theme);
    draw_lines(frame, area, &lines, 0);
}

fn draw_editor(frame: &mut Frame<'_>, model: &UiModel, dialog: &EditorDialog, theme: Theme) {
    let rows = usize::from(model.size.rows / 2).clamp(3, 16);
    let verb = match dialog.purpose {
        EditorPurpose::Message { .. } => "send",
        EditorPurpose::Comment { .. } => "keep",
    };
    let keys = format!("Enter {verb}   Alt-Enter new line   Ctrl-E your editor   Esc cancel");
    let area = draw_frame(frame, model, (&dialog.title, &keys), rows, theme);
    draw_text(frame, area, &dialog.editor, true);
}

/// Draws a text that is edited, so that its cursor is shown.
pub(super) fn draw_text(
    frame: &mut Frame<'_>,
    area: Rect,
    editor: &crate::model::TextEditor,
    has_focus: bool,
) {
    if area.height == 0 {
        return;
    }
    let columns = usize::from(area.width).max(1);
    let (lines, cursor_line, before) = editor.lines();
    let mut rows = Vec::new();
    let mut cursor = (0, 0);
    for (number, line) in lines.iter().enumerate() {
        if number == cursor_line {
            // Characters are broken at the same columns before the cursor and in the whole line.
            let parts = broken(&before, columns);
            let last = parts.last().map_or(0, |it| width(it));
            cursor = (rows.len() + parts.len() - 1, last);
        }
        rows.extend(broken(line, columns));
    }
    let first = (cursor.0 + 1).saturating_sub(usize::from(area.height));
    for (number, line) in rows.into_iter().skip(first).enumerate() {
        let Some(place) = row(area, number) else { break };
        frame.render_widget(Line::raw(line), place);
    }
    if has_focus && let Some(place) = row(area, cursor.0 - first) {
        set_cursor(frame, place, cursor.1);
    }
}

/// Breaks a line after every `columns` cells. The last part is empty if the line is full, so that
/// there is room for the cursor.
fn broken(line: &str, columns: usize) -> Vec<String> {
    use unicode_width::UnicodeWidthChar as _;
    let mut parts = vec![String::new()];
    let mut used = 0;
    for character in line.chars() {
        let next = character.width().unwrap_or(0);
        if used + next >= columns {
            parts.push(String::new());
            used = 0;
        }
        used += next;
        if let Some(part) = parts.last_mut() {
            part.push(if character == '\t' { ' ' } else { character });
        }
    }
    parts
}

fn set_cursor(frame: &mut Frame<'_>, place: Rect, columns: usize) {
    let x = (place.x + cells(columns)).min(place.right().saturating_sub(1));
    frame.set_cursor_position(Position::new(x, place.y));
}

fn draw_picker(frame: &mut Frame<'_>, model: &UiModel, picker: &Picker, theme: Theme) {
    let keys = "↑ ↓ choose   Enter start   Esc cancel";
    let area = draw_frame(frame, model, (&picker.title, keys), picker.items.len(), theme);
    let first = (picker.cursor + 1).saturating_sub(usize::from(area.height));
    for (number, (at, item)) in picker.items.iter().enumerate().skip(first).enumerate() {
        let Some(place) = row(area, number) else { break };
        let style = if at == picker.cursor { theme.selected(true) } else { Style::new() };
        let text = padded(&item.text, usize::from(area.width));
        frame.render_widget(Line::styled(text, style), place);
    }
}
