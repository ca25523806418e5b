//! A conversation.

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::{Modifier, Style};
use ratatui::text::{Line, Span};

use super::{Theme, draw_note, row};
use crate::model::{TalkTone, UiModel};

pub(super) fn draw(frame: &mut Frame<'_>, area: Rect, model: &UiModel, theme: Theme) {
    let talk = &model.detail.talk;
    if let Some(reason) = talk.failure.as_ref().filter(|_| !talk.is_loaded()) {
        return draw_note(frame, area, reason, theme.bad());
    }
    if !talk.is_loaded() {
        return draw_note(frame, area, "reading the conversation…", theme.dim());
    }
    if talk.lines().is_empty() {
        return draw_note(frame, area, "nothing was said yet", theme.dim());
    }
    let height = usize::from(area.height);
    let count = talk.lines().len();
    let end = count.saturating_sub(talk.rows_up);
    let first = end.saturating_sub(height);
    let search = talk.search.to_lowercase();
    for (number, line) in talk.lines().iter().skip(first).take(end - first).enumerate() {
        let Some(place) = row(area, number) else { break };
        let style = style(line.tone, theme);
        frame.render_widget(Line::from(marked(&line.text, &search, style)), place);
    }
    if first == 0 && talk.is_reading_back {
        let place = Rect { height: 1, ..area };
        frame.render_widget(Line::styled("reading earlier turns…", theme.dim()), place);
    }
}

fn style(tone: TalkTone, theme: Theme) -> Style {
    match tone {
        TalkTone::User => theme.good().add_modifier(Modifier::BOLD),
        TalkTone::Assistant => theme.accent().add_modifier(Modifier::BOLD),
        TalkTone::Tool => theme.dim(),
        TalkTone::FailedTool => theme.bad(),
        TalkTone::Summary => theme.attention(),
        TalkTone::Body => Style::new(),
        TalkTone::ToolBody => theme.dim(),
    }
}

/// Returns a line in which the searched text stands out.
fn marked(text: &str, search: &str, style: Style) -> Vec<Span<'static>> {
    let lower = text.to_lowercase();
    let found = if search.is_empty() { None } else { lower.find(search) };
    let parts = found.and_then(|start| {
        // The text in lower case can have other lengths. Then nothing is marked.
        let (before, rest) = text.split_at_checked(start)?;
        let (found, after) = rest.split_at_checked(search.len())?;
        Some([before, found, after])
    });
    match parts {
        Some([before, found, after]) => vec![
            Span::styled(before.to_owned(), style),
            Span::styled(found.to_owned(), style.add_modifier(Modifier::REVERSED)),
            Span::styled(after.to_owned(), style),
        ],
        None => vec![Span::styled(text.to_owned(), style)],
    }
}
