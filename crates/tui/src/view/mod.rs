//! Draws the model. It decides nothing, and reads nothing but the model.

mod attention;
mod detail;
mod dialogs;
mod diff;
mod footer;
mod forms;
mod header;
mod list;
mod screen;
mod tables;
mod talk;
mod theme;
mod times;

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::{Line, Span};

use crate::geometry::Areas;
use crate::model::{ListTab, UiModel};
use crate::text::{cells, fitted, width};

pub(crate) use detail::detail_tabs;
pub(crate) use diff::{diff_file_rows, diff_top};
pub(crate) use header::header_tabs;
pub(crate) use theme::Theme;
pub(crate) use times::shows_minutes;

/// Draws everything.
pub fn draw(frame: &mut Frame<'_>, model: &UiModel) {
    let theme = Theme::new(model.surroundings.has_colours);
    let areas = Areas::of(model);
    header::draw(frame, areas.header, model, theme);
    if areas.attention.height > 0 {
        attention::draw(frame, areas.attention, model, theme);
    }
    if areas.list.height > 0 {
        match model.tab {
            ListTab::Sessions if model.is_empty() => {
                list::draw_empty(frame, areas.list, model, theme);
            }
            ListTab::Sessions => list::draw(frame, areas.list, model, theme),
            ListTab::Tasks => tables::draw_tasks(frame, areas.list, model, theme),
            ListTab::Worktrees => tables::draw_worktrees(frame, areas.list, model, theme),
        }
    }
    if areas.detail.height > 0 {
        detail::draw(frame, areas, model, theme);
    }
    footer::draw(frame, areas.footer, model, theme);
    if let Some(modal) = &model.modal {
        dialogs::draw(frame, model, modal, theme);
    }
}

/// Draws a line with a title, such as `─ Needs you ────`.
fn draw_title(frame: &mut Frame<'_>, area: Rect, title: Line<'_>, theme: Theme) {
    let row = Rect { height: area.height.min(1), ..area };
    let rule = "─".repeat(usize::from(area.width));
    frame.render_widget(Line::styled(rule, theme.dim()), row);
    let room = usize::from(area.width.saturating_sub(3));
    let columns = title.width().min(room);
    let place = Rect { x: row.x + row.width.min(1), width: cells(columns), ..row };
    frame.render_widget(title, place);
}

/// Draws a text at the left, and another one at the right if there is room for it.
fn draw_row(
    frame: &mut Frame<'_>,
    area: Rect,
    left: Vec<Span<'static>>,
    right: Vec<Span<'static>>,
    style: Style,
) {
    let right = Line::from(right);
    let columns = cells(right.width());
    frame.render_widget(Line::from(left).style(style), area);
    if columns < area.width {
        let place = Rect { x: area.x + area.width - columns, width: columns, ..area };
        frame.render_widget(right.style(style), place);
    }
}

/// Returns the row with this number of an area. `None` if the area has fewer rows.
fn row(area: Rect, number: usize) -> Option<Rect> {
    let number = u16::try_from(number).ok().filter(|it| *it < area.height)?;
    Some(Rect { y: area.y + number, height: 1, ..area })
}

/// Returns a span that takes exactly this many columns.
fn column(text: &str, columns: usize, style: Style) -> Span<'static> {
    Span::styled(crate::text::padded(text, columns), style)
}

/// Draws a text in the middle of an area, in several lines if necessary.
fn draw_note(frame: &mut Frame<'_>, area: Rect, text: &str, style: Style) {
    let columns = usize::from(area.width.saturating_sub(2));
    for (number, line) in crate::text::wrapped(text, columns).iter().enumerate() {
        let Some(place) = row(area, number + 1) else { return };
        let line = fitted(line, columns);
        let indent = usize::from(place.width).saturating_sub(width(&line)) / 2;
        let place = Rect { x: place.x + cells(indent), width: cells(width(&line)), ..place };
        frame.render_widget(Line::styled(line, style), place);
    }
}

#[cfg(test)]
mod tests;
