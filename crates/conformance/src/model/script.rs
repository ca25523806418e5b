//! Decides what the model answers. The answer depends only on the request, so that a retry gets the
//! same answer.
//!
//! Markers in the user's newest message are played in their order:
//!
//! | marker | answer |
//! |---|---|
//! | `[[say: TEXT]]` | this text |
//! | `[[slow: 3]]` | text in pieces, over this many seconds |
//! | `[[hold: NAME]]` | some text, then nothing until the test releases the name |
//! | `[[hang]]` | some text, then nothing more |
//! | `[[cut]]` | some text, then the connection is closed in the middle |
//! | `[[tool: COMMAND]]` | a call of the request's shell tool; the rest follows its result |
//! | `[[ask: COMMAND]]` | the same, for a command that needs the user's permission |
//! | `[[mcp: NAME {…}]]` | a call of the tool of an MCP server whose name ends with this name |
//! | `[[call: NAME {…}]]` | a call of the request's tool of exactly this name |
//! | `[[status: 429]]` | this HTTP status with the vendor's error |
//! | `[[limit: 2026-11-16T10:00:00Z]]` | a usage limit that ends at this time |
//!
//! `status` and `limit` are ignored if another marker precedes them. After the last marker, or if
//! there is no marker, the answer reports which messages of the user the request carried:
//! `turns=N first=<<…>> last=<<…>>`.

use std::time::Duration;

use jiff::Timestamp;

use super::log::{ExchangePart, SpeakerRole};
use super::tool::running_command;

/// An answer repeats at most this many characters of a message.
const MAX_REPEATED_CHARS: usize = 200;

/// One part of an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ScriptStep {
    Say(String),
    Slow(Duration),
    Hold(String),
    Hang,
    Cut,
    Tool(String),
    /// A tool call that needs a permission from the user.
    Ask(String),
    /// A call of a tool of an MCP server: its name, and its arguments as JSON.
    Mcp(String),
    /// A call of any tool: its name, and its arguments as JSON.
    Call(String),
    /// Waits for a tool that still runs. The number comes from the tool's result.
    AwaitTool(u64),
    Status(u16),
    Limit(Timestamp),
}

/// Decides the answer to a conversation: the steps up to the first tool call, failure or end.
pub(crate) fn plan(turns: &[ExchangePart]) -> Vec<ScriptStep> {
    let newest = turns.iter().rposition(|part| part.role == SpeakerRole::User);
    let (text, since) = newest.map_or(("", turns), |at| (turns[at].text.as_str(), &turns[at..]));
    let results = since.iter().filter(|part| part.role == SpeakerRole::ToolResult);
    let running: Vec<Option<u64>> = results.map(|part| running_command(&part.text)).collect();
    if let Some(Some(number)) = running.last() {
        return vec![ScriptStep::AwaitTool(*number)];
    }
    let mut steps = markers(text).into_iter();
    for _ in running.iter().filter(|number| number.is_none()) {
        // The steps before a tool call that has a result were played already.
        let _played = steps.by_ref().find(is_tool_call);
    }
    let mut plan = up_to_last(steps);
    if plan.last().is_none_or(|step| !is_last(step)) {
        plan.push(ScriptStep::Say(carried(turns)));
    }
    plan
}

fn is_tool_call(step: &ScriptStep) -> bool {
    matches!(
        step,
        ScriptStep::Tool(_) | ScriptStep::Ask(_) | ScriptStep::Mcp(_) | ScriptStep::Call(_)
    )
}

/// Returns whether no other step can follow in the same answer.
fn is_last(step: &ScriptStep) -> bool {
    is_tool_call(step)
        || matches!(
            step,
            ScriptStep::Hang
                | ScriptStep::Cut
                | ScriptStep::Status(_)
                | ScriptStep::Limit(_)
                | ScriptStep::AwaitTool(_)
        )
}

/// Returns the steps of one answer. Skips a failure that is not the first step.
fn up_to_last(steps: impl Iterator<Item = ScriptStep>) -> Vec<ScriptStep> {
    let mut plan = Vec::new();
    for step in steps {
        let is_failure = matches!(step, ScriptStep::Status(_) | ScriptStep::Limit(_));
        if is_failure && !plan.is_empty() {
            continue;
        }
        let is_last = is_last(&step);
        plan.push(step);
        if is_last {
            break;
        }
    }
    plan
}

/// Returns a text with the number of the user's messages in a request, the first and the last.
pub(crate) fn carried(turns: &[ExchangePart]) -> String {
    let texts: Vec<&str> =
        turns.iter().filter(|it| it.role == SpeakerRole::User).map(|it| it.text.as_str()).collect();
    let first = clipped(texts.first().copied().unwrap_or_default());
    let last = clipped(texts.last().copied().unwrap_or_default());
    format!("turns={} first=<<{first}>> last=<<{last}>>", texts.len())
}

fn clipped(text: &str) -> String {
    let line = text.lines().next().unwrap_or_default();
    line.chars().take(MAX_REPEATED_CHARS).collect()
}

/// Returns the markers of a text in their order.
fn markers(text: &str) -> Vec<ScriptStep> {
    let mut found = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.find("[[") {
        let inside = &rest[at + 2..];
        let step = closing(inside).and_then(|end| Some((step(&inside[..end])?, end)));
        rest = step.as_ref().map_or(inside, |(_, end)| &inside[end + 2..]);
        found.extend(step.map(|(step, _)| step));
    }
    found
}

/// Returns the byte offset at which a marker ends. The marker may contain other markers.
fn closing(inside: &str) -> Option<usize> {
    let (mut depth, mut at) = (0_usize, 0);
    while let Some(pair) = inside.as_bytes().get(at..at + 2) {
        match pair {
            b"[[" => (depth, at) = (depth + 1, at + 2),
            b"]]" if depth == 0 => return Some(at),
            b"]]" => (depth, at) = (depth - 1, at + 2),
            _ => at += 1,
        }
    }
    None
}

fn step(marker: &str) -> Option<ScriptStep> {
    let (name, value) = marker.split_once(':').unwrap_or((marker, ""));
    let value = value.trim();
    Some(match name.trim() {
        "say" => ScriptStep::Say(value.to_owned()),
        "slow" => ScriptStep::Slow(Duration::try_from_secs_f64(value.parse().ok()?).ok()?),
        "hold" => ScriptStep::Hold(value.to_owned()),
        "hang" => ScriptStep::Hang,
        "cut" => ScriptStep::Cut,
        "tool" => ScriptStep::Tool(value.to_owned()),
        "ask" => ScriptStep::Ask(value.to_owned()),
        "mcp" => ScriptStep::Mcp(value.to_owned()),
        "call" => ScriptStep::Call(value.to_owned()),
        "status" => ScriptStep::Status(value.parse().ok()?),
        "limit" => ScriptStep::Limit(value.parse().ok()?),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn user(text: &str) -> ExchangePart {
        ExchangePart::new(SpeakerRole::User, text)
    }

    fn result(text: &str) -> ExchangePart {
        ExchangePart::new(SpeakerRole::ToolResult, text)
    }

    #[test]
    fn answer_without_markers_reports_the_users_messages() {
        let turns = [
            user("one [[hang]]"),
            ExchangePart::new(SpeakerRole::Assistant, "a [[cut]]"),
            user("two"),
        ];
        let answer = "turns=2 first=<<one [[hang]]>> last=<<two>>".to_owned();
        assert_eq!(plan(&turns), [ScriptStep::Say(answer)]);
    }

    #[test]
    fn markers_are_played_in_order_and_each_tool_is_called_once() {
        let asked = user("[[say: a]] [[tool: claude -p '[[say: b]]']] [[tool: ls]] [[hold: x]] z");
        let first = [
            ScriptStep::Say("a".to_owned()),
            ScriptStep::Tool("claude -p '[[say: b]]'".to_owned()),
        ];
        assert_eq!(plan(std::slice::from_ref(&asked)), first);
        assert_eq!(plan(&[asked.clone(), result("b")]), [ScriptStep::Tool("ls".to_owned())]);
        let last = plan(&[asked, result("b"), result("c")]);
        assert_eq!(last[0], ScriptStep::Hold("x".to_owned()));
        assert!(matches!(&last[1..], [ScriptStep::Say(_)]), "{last:?}");
    }

    #[test]
    fn call_of_an_mcp_tool_is_played_once() {
        let asked = user(r#"[[mcp: agent_read {"session": "x"}]] [[say: done]]"#);
        let call = ScriptStep::Mcp(r#"agent_read {"session": "x"}"#.to_owned());
        assert_eq!(plan(std::slice::from_ref(&asked)), [call]);
        assert_eq!(plan(&[asked, result("r")])[0], ScriptStep::Say("done".to_owned()));
    }

    #[test]
    fn calls_of_tools_are_played_one_after_the_other() {
        let asked = user(r#"[[call: write {"path": "a"}]] [[call: edit {"old": ["x"]}]] z"#);
        let calls = [r#"write {"path": "a"}"#, r#"edit {"old": ["x"]}"#];
        let calls = calls.map(|call| ScriptStep::Call(call.to_owned()));
        assert_eq!(plan(std::slice::from_ref(&asked)), calls[..1]);
        assert_eq!(plan(&[asked.clone(), result("r")]), calls[1..]);
        assert!(matches!(&plan(&[asked, result("r"), result("r")])[..], [ScriptStep::Say(_)]));
    }

    #[test]
    fn running_tool_is_waited_for_before_the_next_marker() {
        let asked = user("[[tool: sleep 100]] [[tool: ls]]");
        let runs = result("Process running with session ID 77\n");
        assert_eq!(plan(&[asked.clone(), runs.clone()]), [ScriptStep::AwaitTool(77)]);
        assert_eq!(plan(&[asked, runs, result("ok")]), [ScriptStep::Tool("ls".to_owned())]);
    }

    #[test]
    fn failure_is_played_only_as_the_first_step() {
        assert_eq!(plan(&[user("[[status: 429]] [[say: a]]")]), [ScriptStep::Status(429)]);
        let when = "2026-11-16T10:00:00Z";
        let limit = plan(&[user(&format!("[[limit: {when}]]"))]);
        assert_eq!(limit, [ScriptStep::Limit(when.parse().expect("a time"))]);
        assert_eq!(plan(&[user("[[say: a]] [[status: 500]]")])[0], ScriptStep::Say("a".to_owned()));
    }

    #[test]
    fn text_in_brackets_that_is_no_marker_is_ignored() {
        for text in ["[[", "[[say", "[[unknown: 1]]", "if [[ -f x ]]", "[[slow: never]]"] {
            assert!(markers(text).is_empty(), "{text}");
        }
    }
}
