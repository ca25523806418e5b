//! Forms.

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};

use super::dialogs::{draw_frame, draw_text};
use super::{Theme, row};
use crate::model::{FieldKind, UiForm, UiModel};
use crate::text::padded;

const LABEL_COLUMNS: u16 = 9;
/// The rows of a field for a long text.
const LONG_ROWS: u16 = 4;

pub(super) fn draw(frame: &mut Frame<'_>, model: &UiModel, form: &UiForm, theme: Theme) {
    let heights: u16 = form.fields.iter().map(|it| height(&it.kind) + 1).sum();
    let keys = "Tab next field   Enter go on   Esc cancel";
    let area = draw_frame(frame, model, (&form.title, keys), usize::from(heights) + 1, theme);
    let mut y = area.y;
    for (number, field) in form.fields.iter().enumerate() {
        let has_focus = number == form.focus;
        let rows = height(&field.kind);
        let place = Rect { y, height: rows.min(area.bottom().saturating_sub(y)), ..area };
        let label = if has_focus { theme.key() } else { theme.dim() };
        if let Some(first) = row(place, 0) {
            let text = padded(field.label, usize::from(LABEL_COLUMNS));
            frame.render_widget(Line::styled(text, label), first);
        }
        let value = Rect {
            x: place.x + LABEL_COLUMNS,
            width: place.width.saturating_sub(LABEL_COLUMNS),
            ..place
        };
        match &field.kind {
            FieldKind::Text { editor, .. } => draw_text(frame, value, editor, has_focus),
            FieldKind::Choice { options, chosen } => {
                let mut spans = Vec::new();
                for (at, option) in options.iter().enumerate() {
                    let style = if at == *chosen { theme.selected(has_focus) } else { theme.dim() };
                    spans.push(Span::styled(format!(" {option} "), style));
                }
                frame.render_widget(Line::from(spans), value);
            }
        }
        let hint = Rect { y: y + rows, height: 1, ..value };
        if hint.y < area.bottom() {
            frame.render_widget(Line::styled(field.hint, theme.dim()), hint);
        }
        y = y.saturating_add(rows + 1);
    }
    let note = Rect { y, height: 1, ..area };
    if y < area.bottom() {
        frame.render_widget(Line::raw(form.note.clone()), note);
    }
}

fn height(kind: &FieldKind) -> u16 {
    match kind {
        FieldKind::Text { is_long: true, .. } => LONG_ROWS,
        FieldKind::Text { .. } | FieldKind::Choice { .. } => 1,
    }
}
