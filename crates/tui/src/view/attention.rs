//! The block of the sessions that need a person, with their questions and choices, and of the gates of
//! plans.

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use segue_core::api::{PlanGateView, SessionView};
use segue_core::model::{FailureClass, RepetitionKind};
use segue_core::rules::attention::Reason;
use segue_core::rules::display::one_line;
use segue_core::rules::{dialog, screens};

use super::{Theme, column, draw_row, draw_title, row, times};
use crate::geometry::attention_split;
use crate::model::UiModel;
use crate::text::{fitted, width};

/// The columns before the question: symbol, name, vendor, kind.
const NAME_COLUMNS: usize = 14;
const VENDOR_COLUMNS: usize = 9;
const KIND_COLUMNS: usize = 12;
/// At most this part of a row is for the choices, in percent.
const CHOICES_PERCENT: usize = 45;

pub(super) fn draw(frame: &mut Frame<'_>, area: Rect, model: &UiModel, theme: Theme) {
    let rows = Rect { y: area.y + 1, height: area.height.saturating_sub(1), ..area };
    let (shown, gates) = attention_split(model, usize::from(rows.height));
    let (all, drawn) = (model.needs_person(), shown + gates);
    let more = if all > drawn { format!("({} more: n) ", all - drawn) } else { String::new() };
    let title = Span::styled(format!(" Needs you {more}"), theme.attention());
    draw_title(frame, area, Line::from(title), theme);
    let selected = model.selected().map(|it| it.session);
    // The selected session stays shown if there are more sessions than rows.
    let place = |(_, at): &(Reason, usize)| {
        model.list.sessions.get(*at).map(|it| it.session) == selected && selected.is_some()
    };
    let at = model.list.attention.iter().position(place).unwrap_or(0);
    let first = (at + 1).saturating_sub(shown);
    let sessions = model.list.attention.iter().skip(first).take(shown);
    for (number, (reason, at)) in sessions.enumerate() {
        let (Some(place), Some(session)) = (row(rows, number), model.list.sessions.get(*at)) else {
            break;
        };
        let style = if selected == Some(session.session) { theme.strong() } else { Style::new() };
        draw_session(frame, place, (session, *reason), model, (theme, style));
    }
    for (number, gate) in model.gates.iter().take(gates).enumerate() {
        if let Some(place) = row(rows, shown + number) {
            draw_gate(frame, place, gate, model, theme);
        }
    }
}

/// Draws a gate in the columns of the sessions: the task, the plan, and what its approval starts.
fn draw_gate(
    frame: &mut Frame<'_>,
    area: Rect,
    gate: &PlanGateView,
    model: &UiModel,
    theme: Theme,
) {
    let since = times::since(gate.since, model);
    let choice = "p approve";
    let fixed = NAME_COLUMNS + VENDOR_COLUMNS + KIND_COLUMNS + 2;
    let room = usize::from(area.width).saturating_sub(fixed + width(&since) + width(choice) + 3);
    let text = format!("{}/{} {}", gate.fleet, gate.plan_name, gate.text);
    let left = vec![
        Span::styled("▲ ", theme.attention()),
        column(gate.task.as_str(), NAME_COLUMNS - 1, theme.strong()),
        Span::raw(" "),
        column("plan", VENDOR_COLUMNS - 1, theme.dim()),
        Span::raw(" "),
        column("approval", KIND_COLUMNS - 1, theme.attention()),
        Span::raw(" "),
        Span::raw(fitted(&one_line(&text), room)),
    ];
    let since = Span::styled(format!(" {since} "), theme.dim());
    let right = vec![Span::styled(choice, theme.key()), since];
    draw_row(frame, area, left, right, Style::new());
}

fn draw_session(
    frame: &mut Frame<'_>,
    area: Rect,
    (session, reason): (&SessionView, Reason),
    model: &UiModel,
    (theme, style): (Theme, Style),
) {
    let status = session.status.known();
    let tone = theme.status(screens::tone(status));
    let since = times::since(session.updated_at, model);
    let choices = choices(session, reason);
    let fixed = NAME_COLUMNS + VENDOR_COLUMNS + KIND_COLUMNS + 2;
    let room = usize::from(area.width).saturating_sub(fixed + width(&since) + 2);
    let choices = fitted(&choices, room * CHOICES_PERCENT / 100);
    let question = question(session, reason);
    let question = fitted(&question, room.saturating_sub(width(&choices) + 1));
    let left = vec![
        Span::styled(format!("{} ", screens::symbol(status)), tone),
        column(session.name.as_str(), NAME_COLUMNS - 1, theme.strong()),
        Span::raw(" "),
        column(session.vendor.as_str(), VENDOR_COLUMNS - 1, theme.dim()),
        Span::raw(" "),
        column(reason.word(), KIND_COLUMNS - 1, tone),
        Span::raw(" "),
        Span::raw(question),
    ];
    let right =
        vec![Span::styled(choices, theme.key()), Span::styled(format!(" {since} "), theme.dim())];
    draw_row(frame, area, left, right, style);
}

fn question(session: &SessionView, reason: Reason) -> String {
    let failure = session.last_failure.as_ref().filter(|_| matches!(reason, Reason::Failed(_)));
    if let Some(failure) = failure {
        return one_line(&failure.message);
    }
    let asked = session.dialog.as_ref().map(|it| one_line(&it.question));
    let detail = || session.status_detail.as_deref().map(one_line);
    asked
        .filter(|it| !it.is_empty())
        .or_else(|| detail().filter(|it| it != reason.word()))
        .unwrap_or_else(|| reason.to_string())
}

/// Returns the choices with their keys, or how the question is answered.
fn choices(session: &SessionView, reason: Reason) -> String {
    let Some(dialog) = &session.dialog else {
        let way = match reason {
            Reason::Failed(FailureClass::UsageLimit) => "h hand over",
            Reason::Failed(_) if session.headless => "s send",
            Reason::Repeats(RepetitionKind::ToolCalls) => "i interrupt",
            Reason::Repeats(RepetitionKind::Messages) => "s send",
            Reason::Lost => "5 log",
            _ if screens::is_live(session) => "e attach",
            _ => "r resume",
        };
        return way.to_owned();
    };
    let takes = dialog::takes(dialog);
    if !takes.yes && !takes.choice {
        return "e attach to answer".to_owned();
    }
    let numbered = dialog.choices.iter().zip(1..);
    let choices: Vec<String> =
        numbered.map(|(text, number)| format!("{number} {}", one_line(text))).collect();
    if choices.is_empty() { "y yes  d no".to_owned() } else { choices.join("  ") }
}
