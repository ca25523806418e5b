//! The right side: a title with the views, and the content of the chosen view.

use std::ops::Range;

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use segue_core::api::{MessageView, SessionView};
use segue_core::model::Event;
use segue_core::rules::display::one_line;

use super::header::used;
use super::{Theme, diff, draw_note, row, screen, talk, times};
use crate::geometry::Areas;
use crate::model::{DetailView, Loaded, PaneFocus, UiModel};
use crate::text::{cells, fitted, padded, width};

pub(super) fn draw(frame: &mut Frame<'_>, areas: Areas, model: &UiModel, theme: Theme) {
    draw_heading(frame, areas.detail, model, theme);
    let content = areas.detail_content();
    if content.x > areas.detail.x {
        for number in 0..areas.detail.height {
            let corner = if number == 0 { "┬" } else { "│" };
            let place = Rect { y: areas.detail.y + number, width: 1, height: 1, ..areas.detail };
            frame.render_widget(Line::styled(corner, theme.dim()), place);
        }
    }
    if model.detail.subject.is_none() {
        return draw_note(frame, content, "select a session to see what it does", theme.dim());
    }
    match model.detail.view {
        DetailView::Screen => screen::draw(frame, content, model, theme),
        DetailView::Talk => talk::draw(frame, content, model, theme),
        DetailView::Diff => diff::draw(frame, content, model, theme),
        DetailView::Messages => {
            draw_loaded(frame, content, &model.detail.messages, theme, |frame, all| {
                draw_messages(frame, content, all, model, theme);
            });
        }
        DetailView::Log => draw_loaded(frame, content, &model.detail.log, theme, |frame, all| {
            draw_log(frame, content, all, model, theme);
        }),
    }
}

fn draw_heading(frame: &mut Frame<'_>, area: Rect, model: &UiModel, theme: Theme) {
    let place = Rect { height: area.height.min(1), ..area };
    let rule = "─".repeat(usize::from(area.width));
    frame.render_widget(Line::styled(rule, theme.dim()), place);
    let tabs = detail_tabs(model, area);
    let room = tabs.first().map_or(0, |(_, columns)| columns.start.saturating_sub(area.x + 3));
    if let Some(session) = model.detail.subject.and_then(|it| model.list.session(it)) {
        let text = heading(session, usize::from(room));
        let columns = cells(width(&text) + 2);
        let place = Rect { x: area.x + 1, width: columns.min(area.width), ..place };
        frame.render_widget(Line::styled(format!(" {text} "), theme.strong()), place);
    }
    let has_focus = model.focus == PaneFocus::Detail;
    for (view, columns) in tabs {
        let is_shown = view == model.detail.view;
        let style = if is_shown { theme.selected(has_focus) } else { theme.dim() };
        let place = Rect { x: columns.start, width: columns.end - columns.start, ..place };
        frame.render_widget(Line::styled(tab_text(view), style), place);
    }
}

/// Describes a session in at most this many columns. Without enough room, first the usage and then
/// the fleet are left out.
fn heading(session: &SessionView, columns: usize) -> String {
    let mut words = vec![session.vendor.to_string()];
    words.extend(session.branch.clone());
    words.extend(session.task.as_ref().map(|it| format!("task {it}")));
    let words = one_line(&words.join("  "));
    let usage = session.usage.filter(|it| !it.is_zero()).map(used).unwrap_or_default();
    let (address, name) = (&session.address, &session.name);
    let texts = [format!("{address}  {words}  {usage}"), format!("{address}  {words}")];
    let fits = |it: &String| width(it.trim_end()) <= columns;
    let text = texts.into_iter().find(fits).unwrap_or_else(|| format!("{name}  {words}"));
    fitted(text.trim_end(), columns)
}

fn tab_text(view: DetailView) -> String {
    let number = DetailView::ALL.iter().position(|it| *it == view).unwrap_or(0) + 1;
    format!(" {number} {} ", view.title())
}

/// Returns the columns of the views in the title. They are at the right end of it.
pub(crate) fn detail_tabs(_model: &UiModel, area: Rect) -> Vec<(DetailView, Range<u16>)> {
    let all: usize = DetailView::ALL.iter().map(|it| width(&tab_text(*it))).sum();
    let mut start = area.right().saturating_sub(cells(all) + 1).max(area.x + 1);
    let mut places = Vec::new();
    for view in DetailView::ALL {
        let end = (start + cells(width(&tab_text(view)))).min(area.right());
        places.push((view, start..end));
        start = end;
    }
    places
}

/// Draws data, or why there is none.
fn draw_loaded<T>(
    frame: &mut Frame<'_>,
    area: Rect,
    data: &Loaded<T>,
    theme: Theme,
    draw: impl FnOnce(&mut Frame<'_>, &T),
) {
    match data {
        Loaded::Missing => draw_note(frame, area, "reading…", theme.dim()),
        Loaded::Failed(reason) => draw_note(frame, area, reason, theme.bad()),
        Loaded::Ready(data) => draw(frame, data),
    }
}

/// Draws the last lines that fit, after `rows_up` rows were scrolled away.
fn draw_end(frame: &mut Frame<'_>, area: Rect, lines: Vec<Line<'static>>, rows_up: usize) {
    let height = usize::from(area.height);
    let end = lines.len().saturating_sub(rows_up).max(height.min(lines.len()));
    let first = end.saturating_sub(height);
    for (number, line) in lines.into_iter().skip(first).take(end - first).enumerate() {
        let Some(place) = row(area, number) else { break };
        frame.render_widget(line, place);
    }
}

fn draw_messages(
    frame: &mut Frame<'_>,
    area: Rect,
    messages: &[MessageView],
    model: &UiModel,
    theme: Theme,
) {
    if messages.is_empty() {
        return draw_note(frame, area, "no messages were sent: s writes one", theme.dim());
    }
    let columns = usize::from(area.width);
    // Only the end is drawn, and a message takes one row at least.
    let shown = usize::from(area.height) + model.detail.rows_up;
    let newest = messages.iter().skip(messages.len().saturating_sub(shown));
    let lines = newest.map(|message| {
        let style = match message.state.as_str() {
            "queued" | "typing" => theme.attention(),
            "uncertain" => theme.bad(),
            "cancelled" => theme.dim(),
            _ => theme.good(),
        };
        let at = times::absolute(message.created_at, model.now, &model.surroundings.zone);
        let text = fitted(&one_line(&message.text), columns.saturating_sub(20));
        Line::from(vec![
            Span::styled(padded(&format!(" {at}"), 8), theme.dim()),
            Span::styled(padded(message.state.as_str(), 11), style),
            Span::raw(text),
        ])
    });
    draw_end(frame, area, lines.collect(), model.detail.rows_up);
}

fn draw_log(frame: &mut Frame<'_>, area: Rect, log: &[Event], model: &UiModel, theme: Theme) {
    let columns = usize::from(area.width);
    let shown = usize::from(area.height) + model.detail.rows_up;
    let newest = log.iter().skip(log.len().saturating_sub(shown));
    let mut lines = Vec::new();
    for event in newest {
        let at = times::exact(event.fact.at, &model.surroundings.zone);
        let kind = event.fact.payload.kind();
        let text = one_line(&event.fact.payload.to_string());
        let indent = 37.min(columns / 2);
        let wrapped = crate::text::wrapped(&text, columns.saturating_sub(indent));
        for (number, part) in wrapped.into_iter().enumerate() {
            let start = if number == 0 {
                vec![
                    Span::styled(padded(&format!(" {at}"), 16), theme.dim()),
                    Span::styled(padded(kind.word(), indent.saturating_sub(16)), theme.accent()),
                ]
            } else {
                vec![Span::styled(" ".repeat(indent), Style::new())]
            };
            lines.push(Line::from([start, vec![Span::raw(part)]].concat()));
        }
    }
    draw_end(frame, area, lines, model.detail.rows_up);
}
