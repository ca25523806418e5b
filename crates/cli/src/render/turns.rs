//! Renders the turns of a conversation: a block of text or a line of JSON for each turn.

use jiff::Timestamp;
use segue_core::model::{Role, Turn, Usage};
use segue_server::conversation::Numbered;
use serde::Serialize;
use serde_json::Value;

use super::plain::{one_line, plain};
use super::style::{Colour, TextTone};
use super::time::DisplayClock;
use super::wrap::wrap;

const INDENT: &str = "    ";

/// How much of the arguments of a tool call is shown.
const SHOWN_OF_CALL: ShownLength = ShownLength { lines: 6, characters: 600 };
/// How much of the result of a tool call is shown.
const SHOWN_OF_RESULT: ShownLength = ShownLength { lines: 10, characters: 1000 };

/// How turns are shown.
#[derive(Clone, Debug)]
pub(crate) struct TurnStyle {
    pub(crate) colour: Colour,
    pub(crate) clock: DisplayClock,
    /// The width of the terminal. `None` if lines are not wrapped.
    pub(crate) columns: Option<usize>,
    /// Shows the arguments and results of tool calls in full.
    pub(crate) full: bool,
}

#[derive(Clone, Copy, Debug)]
struct ShownLength {
    lines: usize,
    characters: usize,
}

/// Returns a turn as a block of lines, followed by an empty line.
pub(crate) fn block(numbered: &Numbered, style: &TurnStyle) -> String {
    let turn = &numbered.turn;
    let width = style.columns.map(|columns| columns.saturating_sub(INDENT.len()));
    let (body, hidden) = body(turn, style.full);
    let mut block = heading(numbered, style) + "\n";
    let lines = body.lines().flat_map(|line| wrap(line, width));
    lines.for_each(|line| push_line(&mut block, &line));
    if let Some(hidden) = hidden {
        push_line(&mut block, &style.colour.paint(TextTone::Faint, &hidden));
    }
    block.push('\n');
    block
}

fn push_line(block: &mut String, line: &str) {
    if !line.is_empty() {
        block.push_str(INDENT);
        block.push_str(line);
    }
    block.push('\n');
}

fn heading(Numbered { index, turn }: &Numbered, style: &TurnStyle) -> String {
    let colour = style.colour;
    let faint = |text: String| colour.paint(TextTone::Faint, &text);
    let tool = turn.tool.as_ref();
    let failed = tool.is_some_and(|tool| tool.failed);
    let (word, tone) = match turn.role {
        Role::User => ("user", TextTone::Good),
        Role::Assistant => ("assistant", TextTone::Help),
        Role::ToolCall => ("tool call", TextTone::Attention),
        Role::ToolResult if failed => ("tool result, failed", TextTone::Bad),
        Role::ToolResult => ("tool result", TextTone::Attention),
        Role::Summary => ("summary of what was said before", TextTone::Strong),
    };
    let pieces = [
        index.map(|index| faint(index.to_string())),
        Some(colour.paint(tone, word)),
        tool.map(|tool| one_line(&tool.name)).filter(|name| !name.is_empty()),
        turn.at.map(|at| faint(style.clock.timestamp(at))),
        turn.model.as_ref().map(|model| faint(one_line(model))),
    ];
    pieces.into_iter().flatten().collect::<Vec<_>>().join("  ")
}

/// Returns the part of a turn's text that is shown, and a note about the hidden rest.
fn body(turn: &Turn, full: bool) -> (String, Option<String>) {
    let (text, shown) = match turn.role {
        Role::ToolCall => (plain(&arguments(&turn.text)), SHOWN_OF_CALL),
        Role::ToolResult => (plain(&turn.text), SHOWN_OF_RESULT),
        Role::User | Role::Assistant | Role::Summary => return (trimmed(&plain(&turn.text)), None),
    };
    let text = trimmed(&text);
    if full { (text, None) } else { shortened(&text, shown) }
}

fn trimmed(text: &str) -> String {
    text.trim_end().trim_start_matches('\n').to_owned()
}

/// Returns the arguments of a tool call, one per line. A text that is not a JSON object is returned
/// unchanged.
fn arguments(text: &str) -> String {
    let Ok(Value::Object(fields)) = serde_json::from_str(text) else { return text.to_owned() };
    let line = |(name, value): (&String, &Value)| match value {
        Value::String(text) => format!("{name}: {text}"),
        other => format!("{name}: {other}"),
    };
    fields.iter().map(line).collect::<Vec<_>>().join("\n")
}

fn shortened(text: &str, shown: ShownLength) -> (String, Option<String>) {
    let lines: Vec<&str> = text.lines().collect();
    // A single extra line is shown: the note about it would take a line, too.
    let kept = if lines.len() <= shown.lines + 1 { lines.len() } else { shown.lines };
    let first = lines[..kept].join("\n");
    let cut = first.char_indices().nth(shown.characters).map(|(at, _)| at);
    let first = &first[..cut.unwrap_or(first.len())];
    let hidden = text.chars().count() - first.chars().count();
    let more_lines = lines.len() - first.lines().count().max(1).min(lines.len());
    let note = match (cut, more_lines) {
        (None, 0) => None,
        (_, 0) => Some(format!("… {hidden} more characters; --full shows them")),
        (_, 1) => Some(format!("… 1 more line, {hidden} characters; --full shows them")),
        (_, more) => Some(format!("… {more} more lines, {hidden} characters; --full shows them")),
    };
    (first.to_owned(), note)
}

/// Returns the heading of one part of a story. A story is a chain of conversations that were handed
/// over from one session to the next.
pub(crate) fn divider(
    vendor: &str,
    name: &str,
    from: Option<(&str, Timestamp)>,
    style: &TurnStyle,
) -> String {
    let how = match from {
        Some((mode, at)) => format!(", handed over ({mode}) {}", style.clock.timestamp(at)),
        None => String::new(),
    };
    let line = one_line(&format!("── {name} ({vendor}){how} ──"));
    format!("{}\n\n", style.colour.paint(TextTone::Strong, &line))
}

/// A turn as `segue show --json` prints it.
#[derive(Debug, Serialize)]
pub(crate) struct TurnLine<'a> {
    index: Option<u64>,
    role: &'static str,
    text: &'a str,
    tool: Option<&'a str>,
    at: Option<Timestamp>,
    model: Option<&'a str>,
    usage: Option<Usage>,
    tool_id: Option<&'a str>,
    failed: Option<bool>,
    /// The name of the conversation that the turn belongs to. Only with `--story`.
    #[serde(skip_serializing_if = "Option::is_none")]
    conversation: Option<&'a str>,
}

impl<'a> TurnLine<'a> {
    pub(crate) fn new(numbered: &'a Numbered, conversation: Option<&'a str>) -> Self {
        let Numbered { index, turn } = numbered;
        let tool = turn.tool.as_ref();
        let known = |text: &'a str| Some(text).filter(|text| !text.is_empty());
        let is_result = turn.role == Role::ToolResult;
        Self {
            index: *index,
            role: turn.role.word(),
            text: &turn.text,
            tool: tool.and_then(|tool| known(&tool.name)),
            at: turn.at,
            model: turn.model.as_deref(),
            usage: turn.usage,
            tool_id: tool.and_then(|tool| known(&tool.id)),
            failed: tool.filter(|_| is_result).map(|tool| tool.failed),
            conversation,
        }
    }
}

#[cfg(test)]
mod tests;
