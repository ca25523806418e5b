//! The live screen of an agent at its own size, cropped.

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::{Color, Modifier, Style};
use ratatui::text::Line;
use segue_core::rules::display::is_misleading;

use super::{Theme, draw_note};
use crate::model::UiModel;

pub(super) fn draw(frame: &mut Frame<'_>, area: Rect, model: &UiModel, theme: Theme) {
    let pane = &model.detail.screen;
    match (pane.screen(), &pane.ended) {
        (None, None) => draw_note(frame, area, "opening the terminal…", theme.dim()),
        (None, Some(reason)) => draw_note(frame, area, reason, theme.dim()),
        (Some(screen), ended) => {
            let rows = if ended.is_some() { area.height.saturating_sub(1) } else { area.height };
            draw_cells(frame, Rect { height: rows, ..area }, screen, theme);
            if let Some(reason) = ended {
                let place = Rect { y: area.y + rows, height: area.height - rows, ..area };
                frame.render_widget(Line::styled(format!(" {reason}"), theme.bad()), place);
            }
        }
    }
}

fn draw_cells(frame: &mut Frame<'_>, area: Rect, screen: &vt100::Screen, theme: Theme) {
    let (rows, columns) = screen.size();
    // The end of the agent's output matters most: rows that do not fit are cut off at the top.
    let used = (0..rows.get()).rev().find(|row| has_text(screen, *row, columns.get()));
    let used = used.map_or(0, |row| row + 1).max(screen.cursor_position().0 + 1);
    let first = used.saturating_sub(area.height);
    let buffer = frame.buffer_mut();
    for y in 0..area.height.min(rows.get() - first) {
        for x in 0..area.width.min(columns.get()) {
            let Some(cell) = screen.cell(first + y, x) else { continue };
            let Some(target) = buffer.cell_mut((area.x + x, area.y + y)) else { continue };
            let is_cut = cell.is_wide() && x + 1 >= area.width;
            let text = cell.contents();
            if !text.is_empty() && !is_cut {
                if text.contains(is_misleading) {
                    target.set_symbol("�");
                } else {
                    target.set_symbol(text);
                }
            }
            target.set_style(style(cell, theme));
        }
    }
    let (row, column) = screen.cursor_position();
    if !screen.hide_cursor()
        && row >= first
        && row - first < area.height
        && column < area.width
        && let Some(cell) = buffer.cell_mut((area.x + column, area.y + row - first))
    {
        cell.set_style(Style::new().add_modifier(Modifier::REVERSED));
    }
}

fn has_text(screen: &vt100::Screen, row: u16, columns: u16) -> bool {
    (0..columns)
        .any(|column| screen.cell(row, column).is_some_and(|it| !it.contents().trim().is_empty()))
}

fn style(cell: &vt100::Cell, theme: Theme) -> Style {
    let mut style = Style::new();
    if theme.has_colours() {
        style = style.fg(colour(cell.fgcolor())).bg(colour(cell.bgcolor()));
    }
    let modifiers = [
        (cell.bold(), Modifier::BOLD),
        (cell.dim(), Modifier::DIM),
        (cell.italic(), Modifier::ITALIC),
        (cell.underline(), Modifier::UNDERLINED),
        (cell.inverse(), Modifier::REVERSED),
    ];
    for (is_set, modifier) in modifiers {
        if is_set {
            style = style.add_modifier(modifier);
        }
    }
    style
}

fn colour(colour: vt100::Color) -> Color {
    match colour {
        vt100::Color::Default => Color::Reset,
        vt100::Color::Idx(index) => Color::Indexed(index),
        vt100::Color::Rgb(red, green, blue) => Color::Rgb(red, green, blue),
    }
}
