//! The first row: the lists, who needs a person, and what was used today.

use std::ops::Range;

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::Span;
use segue_core::model::Usage;

use super::{Theme, draw_row, times};
use crate::model::{LinkState, ListTab, UiModel};
use crate::text::{cells, width};

const NAME: &str = " segue ";

pub(super) fn draw(frame: &mut Frame<'_>, area: Rect, model: &UiModel, theme: Theme) {
    let mut left = vec![Span::styled(NAME, theme.strong())];
    for HeaderTab { tab, text, .. } in header_tabs(model) {
        let is_shown = tab == model.tab;
        let style = if is_shown { theme.selected(true) } else { theme.dim() };
        left.push(Span::raw(" "));
        left.push(Span::styled(text, style));
    }
    let count = model.needs_person();
    if count > 0 {
        let verb = if count == 1 { "needs" } else { "need" };
        left.push(Span::styled(format!("   ▲ {count} {verb} you"), theme.attention()));
    }
    match model.link {
        LinkState::Connecting => left.push(Span::styled("   connecting…", theme.dim())),
        LinkState::Connected => {}
        LinkState::Lost { since } => {
            let since = times::absolute(since, model.now, &model.surroundings.zone);
            let text = format!("   ✕ daemon ended, shown as of {since}; any action starts it");
            left.push(Span::styled(text, theme.bad()));
        }
    }
    let usage = model.usage_today.filter(|it| !it.is_zero());
    let usage = usage.map(|it| format!("today {} ", used(it))).unwrap_or_default();
    draw_row(
        frame,
        area,
        left,
        vec![Span::styled(usage, theme.dim())],
        ratatui::style::Style::new(),
    );
}

/// A list in the first row.
#[derive(Clone, Debug)]
pub(crate) struct HeaderTab {
    pub(crate) tab: ListTab,
    text: String,
    /// Where it is.
    pub(crate) columns: Range<u16>,
}

/// Returns the lists in the first row, from left to right.
pub(crate) fn header_tabs(model: &UiModel) -> Vec<HeaderTab> {
    let count = |tab| match tab {
        ListTab::Sessions => model.list.sessions.len(),
        ListTab::Tasks => model.tasks.rows.len(),
        ListTab::Worktrees => model.worktrees.rows.len(),
    };
    let mut start = width(NAME) + 1;
    let place = |tab: ListTab| {
        let text = format!(" {} {} ", tab.title(), count(tab));
        let end = start + width(&text);
        let columns = cells(start)..cells(end);
        start = end + 1;
        HeaderTab { tab, text, columns }
    };
    ListTab::ALL.into_iter().map(place).collect()
}

/// Returns the tokens of a usage and its cost, such as `1.2 M tokens, $0.30`.
pub(super) fn used(usage: Usage) -> String {
    let tokens = usage.input.saturating_add(usage.output);
    let tokens = match tokens {
        ..1_000 => tokens.to_string(),
        1_000..1_000_000 => format!("{}.{} k", tokens / 1_000, tokens % 1_000 / 100),
        _ => format!("{}.{} M", tokens / 1_000_000, tokens % 1_000_000 / 100_000),
    };
    let cost = usage.cost_usd.map(|it| format!(", ${:.2}", it.dollars())).unwrap_or_default();
    format!("{tokens} tokens{cost}")
}
