//! The list of sessions. Only the rows that fit are drawn.

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use segue_core::api::SessionView;
use segue_core::model::StatusKind;
use segue_core::rules::display::{one_line, place};
use segue_core::rules::screens;

use super::{Theme, column, draw_row, draw_title, row, times};
use crate::model::{ListRow, PaneFocus, UiModel};
use crate::text::{fitted, width};
use crate::update::first_steps;

const VENDOR_COLUMNS: usize = 8;
/// The name has at least and at most this many columns.
const NAME_COLUMNS: (usize, usize) = (10, 24);
/// A list with at least this many columns has a column for branch and task.
const MIN_BRANCH_COLUMNS: u16 = 66;

pub(super) fn draw(frame: &mut Frame<'_>, area: Rect, model: &UiModel, theme: Theme) {
    draw_title(frame, area, Line::from(title(model, theme)), theme);
    let rows = Rect { y: area.y + 1, height: area.height.saturating_sub(1), ..area };
    if !model.list.is_loaded {
        return super::draw_note(frame, rows, "reading the sessions…", theme.dim());
    }
    if model.list.rows.is_empty() {
        let text = format!("no session matches `{}`: Esc shows all", model.list.filter);
        return super::draw_note(frame, rows, &text, theme.dim());
    }
    let cursor = model.list.cursor_row();
    let height = usize::from(rows.height);
    let shown = model.list.rows.iter().enumerate().skip(model.list.top).take(height);
    for (line, (number, it)) in shown.enumerate() {
        let Some(place) = row(rows, line) else { break };
        let is_selected = cursor == Some(number);
        let has_focus = model.focus == PaneFocus::List;
        let style = if is_selected { theme.selected(has_focus) } else { Style::new() };
        match it {
            ListRow::Fleet { .. } => draw_fleet(frame, place, it, model, (theme, style)),
            ListRow::Session(at) => {
                if let Some(session) = model.list.sessions.get(*at) {
                    draw_session(frame, place, session, model, (theme, style));
                }
            }
        }
    }
}

fn title(model: &UiModel, theme: Theme) -> Vec<Span<'static>> {
    let list = &model.list;
    let mut title = vec![Span::styled(format!(" sessions {} ", list.sort.title()), theme.dim())];
    if !list.filter.is_empty() {
        title.push(Span::styled(format!("filter: {} ", list.filter), theme.attention()));
    }
    if !list.marked.is_empty() {
        title.push(Span::styled(format!("{} marked ", list.marked.len()), theme.attention()));
    }
    if list.hidden > 0 {
        title.push(Span::styled(format!("{} older hidden ", list.hidden), theme.dim()));
    }
    title
}

fn draw_fleet(
    frame: &mut Frame<'_>,
    area: Rect,
    it: &ListRow,
    model: &UiModel,
    (theme, style): (Theme, Style),
) {
    let ListRow::Fleet { name, folder, sessions, is_folded } = it else { return };
    let sign = if *is_folded { "▸" } else { "▾" };
    let folder = place(folder, model.surroundings.home.as_deref());
    let left = vec![
        Span::styled(format!("{sign} {name}"), theme.strong()),
        Span::styled(format!("  {}", one_line(&folder)), theme.dim()),
    ];
    let right = vec![Span::styled(format!(" {sessions} "), theme.dim())];
    draw_row(frame, area, left, right, style);
}

fn draw_session(
    frame: &mut Frame<'_>,
    area: Rect,
    session: &SessionView,
    model: &UiModel,
    (theme, style): (Theme, Style),
) {
    let columns = usize::from(area.width);
    let (least, most) = NAME_COLUMNS;
    let name_columns = (columns / 4).clamp(least, most);
    let tone = theme.status(screens::tone(session.status.known()));
    let is_marked = model.list.marked.contains(&session.session);
    let mark = if is_marked {
        "*"
    } else if model.list.is_unread(session) {
        "•"
    } else {
        " "
    };
    let queued = match session.queued_messages {
        0 => String::new(),
        count => format!(" ✉ {count}"),
    };
    let since = times::since(session.updated_at, model);
    let work = if area.width >= MIN_BRANCH_COLUMNS { work(session) } else { String::new() };
    let right = format!("{queued} {since} ");
    let fixed = 3 + name_columns + 1 + VENDOR_COLUMNS + 1;
    let room = columns.saturating_sub(fixed + width(&right));
    let work = fitted(&work, room / 2);
    let status = fitted(&status(session), room.saturating_sub(width(&work) + 1));
    let left = vec![
        Span::styled(mark, theme.attention()),
        Span::styled(format!("{} ", screens::symbol(session.status.known())), tone),
        column(session.name.as_str(), name_columns, Style::new()),
        Span::raw(" "),
        column(session.vendor.as_str(), VENDOR_COLUMNS, theme.dim()),
        Span::raw(" "),
        Span::styled(status, tone),
    ];
    let right = vec![Span::styled(work, theme.accent()), Span::styled(right, theme.dim())];
    draw_row(frame, area, left, right, style);
}

/// Returns the status with its reason.
fn status(session: &SessionView) -> String {
    let word = session.status.as_str();
    let detail = session.status_detail.as_deref().map(one_line);
    match (session.status.known(), detail) {
        (Some(StatusKind::Waiting), Some(detail)) => {
            let asked = session.dialog.as_ref().map(|it| one_line(&it.question));
            let asked = asked.filter(|it| !it.is_empty());
            asked.map_or_else(|| detail.clone(), |asked| format!("{detail}: {asked}"))
        }
        (Some(StatusKind::Interrupted), None) => "interrupted: r resumes it".to_owned(),
        (_, Some(detail)) => format!("{word} ({detail})"),
        (_, None) => word.to_owned(),
    }
}

/// Returns branch and task.
fn work(session: &SessionView) -> String {
    let branch = session.branch.as_deref().map(one_line).unwrap_or_default();
    let task = session.task.as_deref();
    let task = task.map(|it| format!(" task {}", fitted(&one_line(it), 8))).unwrap_or_default();
    format!("{branch}{task}")
}

/// Draws what can be done without any session.
pub(super) fn draw_empty(frame: &mut Frame<'_>, area: Rect, model: &UiModel, theme: Theme) {
    draw_title(frame, area, Line::from(Span::styled(" no sessions yet ", theme.dim())), theme);
    let columns = usize::from(area.width.saturating_sub(4));
    let mut lines = vec![
        Line::raw(""),
        Line::raw("  Segue starts coding agents and keeps"),
        Line::raw("  their conversations. Begin with Enter:"),
        Line::raw(""),
    ];
    for (number, item) in (1..).zip(first_steps(model)) {
        let text = fitted(&item.text, columns.saturating_sub(3));
        let key = Span::styled(format!("  {number} "), theme.key());
        lines.push(Line::from(vec![key, Span::raw(text)]));
    }
    for (number, line) in lines.into_iter().enumerate() {
        let rows = Rect { y: area.y + 1, height: area.height.saturating_sub(1), ..area };
        let Some(place) = row(rows, number) else { break };
        frame.render_widget(line, place);
    }
}
