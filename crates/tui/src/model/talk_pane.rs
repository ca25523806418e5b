//! A conversation, read from its end. Earlier turns are read when the user scrolls to them.

use segue_core::model::{Role, Turn};
use segue_core::rules::display::{one_line, plain};

use crate::api::TalkPage;
use crate::text::{fitted, wrapped};

const INDENT: &str = "  ";

/// A conversation with its lines for the current width.
#[derive(Clone, Debug, Default)]
pub(crate) struct TalkPane {
    /// Oldest first. `None` until the first page has arrived.
    turns: Option<Vec<Turn>>,
    /// The cursor of earlier turns. `None` if there are none.
    pub(crate) before: Option<String>,
    /// Earlier turns were requested and have not arrived yet.
    pub(crate) is_reading_back: bool,
    pub(crate) failure: Option<String>,
    shows_tools: bool,
    lines: Vec<TalkRow>,
    columns: usize,
    /// How many rows the conversation is scrolled up from its end.
    pub(crate) rows_up: usize,
    pub(crate) search: String,
}

/// A row of a conversation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TalkRow {
    pub(crate) text: String,
    pub(crate) tone: TalkTone,
}

/// What a row of a conversation is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TalkTone {
    User,
    Assistant,
    Tool,
    FailedTool,
    Summary,
    Body,
    ToolBody,
}

impl TalkPane {
    pub(crate) fn lines(&self) -> &[TalkRow] {
        &self.lines
    }

    pub(crate) fn is_loaded(&self) -> bool {
        self.turns.is_some()
    }

    /// Replaces the end of the conversation. Keeps earlier turns if the new page begins inside of
    /// what is known, so that the place of the reader stays.
    pub(crate) fn replace_end(&mut self, page: TalkPage) {
        let TalkPage { turns, before } = page;
        let known = self.turns.take().unwrap_or_default();
        let overlap = turns.first().and_then(|first| known.iter().position(|it| it == first));
        match overlap {
            Some(at) if at > 0 => {
                let earlier = known.into_iter().take(at);
                self.turns = Some(earlier.chain(turns).collect());
            }
            _ => {
                self.before = before;
                self.turns = Some(turns);
            }
        }
        self.failure = None;
        let shown = self.lines.len();
        self.lay_out();
        // A reader who has scrolled up stays at the same lines.
        if self.rows_up > 0 {
            self.rows_up += self.lines.len().saturating_sub(shown);
        }
    }

    pub(crate) fn put_before(&mut self, page: TalkPage) {
        self.is_reading_back = false;
        self.before = page.before;
        let later = self.turns.take().unwrap_or_default();
        self.turns = Some(page.turns.into_iter().chain(later).collect());
        self.lay_out();
    }

    pub(crate) fn switch_tools(&mut self) {
        self.shows_tools = !self.shows_tools;
        self.lay_out();
    }

    /// Adapts the lines to a width.
    pub(crate) fn fit(&mut self, columns: usize) {
        if columns != self.columns {
            self.columns = columns;
            self.lay_out();
        }
    }

    pub(crate) fn scroll(&mut self, up: isize, height: usize) {
        let most = self.lines.len().saturating_sub(height);
        self.rows_up = self.rows_up.saturating_add_signed(up).min(most);
    }

    /// Returns whether the reader is near the beginning of what was read.
    pub(crate) fn is_near_start(&self, height: usize) -> bool {
        self.rows_up + 2 * height >= self.lines.len()
    }

    /// Moves to the next row with the searched text: upwards, or downwards. Returns whether there is
    /// one.
    pub(crate) fn find(&mut self, is_up: bool, height: usize) -> bool {
        let wanted = self.search.to_lowercase();
        if wanted.is_empty() {
            return false;
        }
        // The row at the bottom of the pane.
        let bottom = self.lines.len().saturating_sub(self.rows_up + 1);
        let matches = |at: &usize| {
            self.lines.get(*at).is_some_and(|it| it.text.to_lowercase().contains(&wanted))
        };
        let found = if is_up {
            (0..bottom).rev().find(matches)
        } else {
            (bottom + 1..self.lines.len()).find(matches)
        };
        let Some(at) = found else { return false };
        let most = self.lines.len().saturating_sub(height);
        self.rows_up = (self.lines.len() - 1 - at).min(most);
        true
    }

    fn lay_out(&mut self) {
        let mut lines = Vec::new();
        let mut calls = Vec::new();
        for turn in self.turns.iter().flatten() {
            let is_tool = matches!(turn.role, Role::ToolCall | Role::ToolResult);
            if is_tool && !self.shows_tools {
                calls.push(turn);
                continue;
            }
            fold_calls(&mut calls, self.columns, &mut lines);
            lay_out_turn(turn, self.columns, &mut lines);
        }
        fold_calls(&mut calls, self.columns, &mut lines);
        self.lines = lines;
    }
}

/// Adds one row for consecutive tool calls and their results.
fn fold_calls(calls: &mut Vec<&Turn>, columns: usize, lines: &mut Vec<TalkRow>) {
    let named = calls.iter().filter(|it| it.role == Role::ToolCall);
    let named: Vec<String> = named.map(|it| call_in_brief(it)).collect();
    let has_failed = calls.iter().any(|it| it.tool.as_ref().is_some_and(|tool| tool.failed));
    if !named.is_empty() || has_failed {
        let failed = if has_failed { " (failed)" } else { "" };
        let text = fitted(&format!("▸ {}{failed}", named.join(" · ")), columns);
        let tone = if has_failed { TalkTone::FailedTool } else { TalkTone::Tool };
        lines.push(TalkRow { text, tone });
        lines.push(empty());
    }
    calls.clear();
}

fn call_in_brief(turn: &Turn) -> String {
    let name = turn.tool.as_ref().map(|tool| one_line(&tool.name)).unwrap_or_default();
    fitted(&format!("{name} {}", one_line(&turn.text)), 60).trim_end().to_owned()
}

fn lay_out_turn(turn: &Turn, columns: usize, lines: &mut Vec<TalkRow>) {
    let tool = turn.tool.as_ref();
    let name = tool.map(|tool| one_line(&tool.name)).unwrap_or_default();
    let has_failed = tool.is_some_and(|tool| tool.failed);
    let (word, tone, body) = match turn.role {
        Role::User => ("you".to_owned(), TalkTone::User, TalkTone::Body),
        Role::Assistant => ("agent".to_owned(), TalkTone::Assistant, TalkTone::Body),
        Role::ToolCall => (format!("▾ {name}"), TalkTone::Tool, TalkTone::ToolBody),
        Role::ToolResult if has_failed => {
            (format!("▾ {name} failed"), TalkTone::FailedTool, TalkTone::ToolBody)
        }
        Role::ToolResult => (format!("▾ {name} result"), TalkTone::Tool, TalkTone::ToolBody),
        Role::Summary => (
            "── compacted: a summary of earlier turns ──".to_owned(),
            TalkTone::Summary,
            TalkTone::Body,
        ),
    };
    lines.push(TalkRow { text: fitted(&word, columns), tone });
    let text = plain(&turn.text);
    let room = columns.saturating_sub(INDENT.len());
    for line in text.trim().lines() {
        let line = line.replace('\t', "    ");
        let rows = wrapped(&line, room).into_iter();
        lines.extend(rows.map(|it| TalkRow { text: format!("{INDENT}{it}"), tone: body }));
    }
    lines.push(empty());
}

fn empty() -> TalkRow {
    TalkRow { text: String::new(), tone: TalkTone::Body }
}

#[cfg(test)]
mod tests {
    use segue_core::model::Tool;

    use super::*;

    fn call(text: &str, failed: bool) -> Turn {
        let tool = Tool { id: "1".to_owned(), name: "Bash".to_owned(), failed };
        Turn::new(Role::ToolCall, text).with_tool(tool)
    }

    fn pane(turns: Vec<Turn>) -> TalkPane {
        let mut pane = TalkPane::default();
        pane.fit(20);
        pane.replace_end(TalkPage { turns, before: Some("1".to_owned()) });
        pane
    }

    fn texts(pane: &TalkPane) -> Vec<&str> {
        pane.lines().iter().map(|it| it.text.as_str()).collect()
    }

    #[test]
    fn tool_calls_are_one_row_until_they_are_unfolded() {
        let turns = vec![
            Turn::new(Role::User, "run \u{1b}[31mit"),
            call("ls", false),
            call("rm", true),
            Turn::new(Role::Assistant, "done"),
        ];
        let mut pane = pane(turns);
        let folded = ["you", "  run it", "", "▸ Bash ls · Bash rm…", "", "agent", "  done", ""];
        assert_eq!(texts(&pane), folded);
        pane.switch_tools();
        assert_eq!(texts(&pane).iter().filter(|it| it.starts_with('▾')).count(), 2);
    }

    #[test]
    fn new_turns_do_not_move_a_reader_who_has_scrolled_up() {
        let old: Vec<Turn> = (0..9).map(|it| Turn::new(Role::User, it.to_string())).collect();
        let mut pane = pane(old.clone());
        pane.scroll(6, 3);
        let top = |pane: &TalkPane| pane.lines().len() - pane.rows_up;
        let before = top(&pane);
        let turns = old.into_iter().skip(3).chain([Turn::new(Role::User, "new")]).collect();
        pane.replace_end(TalkPage { turns, before: Some("2".to_owned()) });
        assert_eq!(top(&pane), before);
        assert_eq!(pane.before.as_deref(), Some("1"));
        assert!(texts(&pane).contains(&"  0") && texts(&pane).contains(&"  new"));
    }

    #[test]
    fn search_moves_up_and_down_between_matches() {
        let turns = (0..30).map(|it| Turn::new(Role::User, format!("Line {it}"))).collect();
        let mut pane = pane(turns);
        pane.search = "line 2".to_owned();
        assert!(pane.find(true, 5));
        let last = pane.rows_up;
        assert!(pane.find(true, 5));
        assert!(pane.rows_up > last);
        assert!(pane.find(false, 5));
        assert_eq!(pane.rows_up, last);
        pane.search = "nowhere".to_owned();
        assert!(!pane.find(true, 5));
    }
}
