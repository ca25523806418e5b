//! Reads the screen: the input, or a dialog that waits for an answer. Answers dialogs.

use std::time::Duration;

use segue_core::model::{DialogText, Screen, Showing, WaitingFor};
use segue_core::ports::{Answer, Interaction, Typing};
use segue_core::rules::dialog::{self, Choices};

use super::{Claude, typing, versions};
use crate::shared::choices::{find_choice, keys_to, number_key};

/// Drawn before the input, and before the marked choice.
const MARK: char = '❯';

/// Shown below the input while the agent works.
const BUSY_HINT: &str = "esc to interrupt";

/// Texts of questions that are asked before there is a conversation: about the folder, an API key,
/// and acting without permission prompts.
const TRUST_TEXTS: [&str; 3] =
    ["Yes, I trust this folder", "Detected a custom API key", "running in Bypass Permissions mode"];

/// Beginning of the row above the choices if the dialog asks for a permission.
const PERMISSION_PREFIX: &str = "Do you want";
const API_KEY_PREFIX: &str = "Do you want to use this API key";

/// Beginning of the upper edge of a panel, such as the list of models, in newer versions.
const PANEL_EDGE: &str = "▔▔▔▔▔▔▔▔▔▔";

/// Beginning of a tip about another setting, above the choices of a dialog.
const TIP_PREFIX: &str = "Tip: ";

/// Drawn above and below the command that a dialog is about.
const COMMAND_EDGE: char = '╌';

/// Shown below dialogs, in several wordings.
const CANCEL_HINT: &str = "Esc to cancel";

/// Beginnings of the screens of the very first start: the list of themes, and the security notes.
const FIRST_START_HEADINGS: [&str; 2] = ["Let's get started.", "Security notes:"];

/// Shown below a text that needs no answer but Enter.
const PAUSE_PREFIX: &str = "Press Enter to continue";

impl Interaction for Claude {
    fn read_screen(&self, screen: &Screen) -> Option<Showing> {
        if let Some(input) = input(screen) {
            return Some(match input {
                ClaudeInput { is_empty: false, .. } => Showing::Draft,
                ClaudeInput { is_busy: true, .. } => Showing::Busy,
                ClaudeInput { .. } => Showing::Ready,
            });
        }
        if is_pause(dialog_rows(screen)) {
            return Some(Showing::Dialog(WaitingFor::Question));
        }
        ClaudeDialog::find_on(screen).map(|dialog| Showing::Dialog(dialog.waits_for))
    }

    /// The text does not include a tip.
    fn dialog_text(&self, screen: &Screen) -> Option<DialogText> {
        let rows = dialog_rows(screen);
        let (question, choices) = match ClaudeDialog::find_on(screen) {
            Some(ClaudeDialog { choices, .. }) => (&rows[..choices.rows.start], choices.texts),
            None if is_pause(rows) => (rows, Vec::new()),
            None => return None,
        };
        let columns = screen.rows.iter().map(|row| row.chars().count()).max().unwrap_or(0);
        // A tip is always above the command. The command itself can look like a tip.
        let command = question.iter().position(|row| is_command_edge(row)).unwrap_or(0);
        let (above, below) = question.split_at(command);
        Some(dialog::text(&[without_tip(above, columns), below.to_vec()].concat(), choices))
    }

    fn question_ignores_keys_for(&self, version: Option<&str>) -> Duration {
        versions::question_ignores_keys_for(version)
    }

    fn typing(&self, message: &str) -> Typing {
        typing::typing(message)
    }

    /// In a numbered list, the key is the number of the choice, without Enter. In a list without
    /// numbers, the keys move the mark to the choice.
    fn answer(&self, screen: &Screen, answer: &Answer) -> Option<Vec<u8>> {
        if input(screen).is_some() {
            return None;
        }
        let ClaudeDialog { choices, is_numbered, .. } = ClaudeDialog::find_on(screen)?;
        let wanted = find_choice(&choices.texts, answer, &["yes"], &["no"])?;
        Some(if is_numbered { number_key(wanted) } else { keys_to(wanted, choices.marked) })
    }
}

fn is_command_edge(row: &str) -> bool {
    !row.is_empty() && row.chars().all(|c| c == COMMAND_EDGE)
}

/// Removes a tip, which may be wrapped over several rows. A row continues the tip if its first word
/// did not fit into the row before.
fn without_tip(rows: &[String], columns: usize) -> Vec<String> {
    let (mut kept, mut tip_width) = (Vec::new(), None);
    for row in rows {
        let width = row.chars().count();
        let first_word = row.split_whitespace().next().map_or(0, |word| word.chars().count());
        let continues_tip =
            tip_width.is_some_and(|tip| first_word > 0 && tip + 1 + first_word >= columns);
        if continues_tip || row.trim_start().starts_with(TIP_PREFIX) {
            tip_width = Some(width);
        } else {
            tip_width = None;
            kept.push(row.clone());
        }
    }
    kept
}

struct ClaudeInput {
    is_empty: bool,
    is_busy: bool,
}

/// Finds the input: the rows between the last two rules, if the first row begins with the mark or
/// `!`.
fn input(screen: &Screen) -> Option<ClaudeInput> {
    let bottom = screen.rows.iter().rposition(|row| is_rule(row))?;
    let top = screen.rows[..bottom].iter().rposition(|row| is_rule(row))?;
    let inside = top + 1..bottom;
    screen.rows.get(inside.start)?.starts_with([MARK, '!']).then_some(())?;
    let below = &screen.rows[bottom + 1..];
    Some(ClaudeInput {
        is_empty: is_empty(screen, inside),
        is_busy: below.iter().any(|row| row.contains(BUSY_HINT)),
    })
}

fn is_empty(screen: &Screen, mut inside: std::ops::Range<usize>) -> bool {
    let typed = |row: &str| row.trim_start_matches(MARK).trim().to_owned();
    let (Some(shown), Some(firm)) =
        (screen.rows.get(inside.start), screen.firm_rows.get(inside.start))
    else {
        return false;
    };
    let (shown, firm) = (typed(shown), typed(firm));
    // A placeholder is drawn faint, except for its first letter, on which the cursor is drawn.
    let first = firm.is_empty() || (firm.chars().count() == 1 && shown != firm);
    inside.start += 1;
    let others = screen.firm_rows.get(inside).unwrap_or_default();
    first && others.iter().all(|row| row.trim().is_empty())
}

/// Returns whether a row is a horizontal rule. A rule spans the whole width. The upper rule of the
/// input may end with the name of the session.
fn is_rule(row: &str) -> bool {
    row.starts_with("──────────")
}

/// The choices of a dialog, one of which is marked, and what the dialog is about.
struct ClaudeDialog {
    waits_for: WaitingFor,
    choices: Choices,
    is_numbered: bool,
}

impl ClaudeDialog {
    /// Finds the dialog on the screen. A dialog shows `Esc to cancel` below its choices, except at
    /// the first start.
    fn find_on(screen: &Screen) -> Option<Self> {
        let rows = dialog_rows(screen);
        let numbered = dialog::numbered(rows, &[MARK]);
        let is_numbered = numbered.is_some();
        let choices = numbered.or_else(|| find_unnumbered_choices(rows))?;
        let below = &rows[choices.rows.end..];
        let can_be_cancelled = below.iter().any(|row| row.contains(CANCEL_HINT));
        (can_be_cancelled || is_first_start(&rows[0])).then_some(())?;
        let waits_for = waits_for(&rows[..choices.rows.start], &choices.texts);
        Some(Self { waits_for, choices, is_numbered })
    }
}

/// Returns what a dialog is about. The row right above the choices is checked first, because it is
/// never part of a command.
fn waits_for(question: &[String], choices: &[String]) -> WaitingFor {
    let last = question.iter().rfind(|row| !row.trim().is_empty()).map_or("", |row| row.trim());
    if last.starts_with(PERMISSION_PREFIX) && !last.starts_with(API_KEY_PREFIX) {
        return WaitingFor::Permission;
    }
    let is_trust = |row: &String| TRUST_TEXTS.iter().any(|text| row.contains(text));
    match question.iter().chain(choices).any(is_trust) {
        true => WaitingFor::Trust,
        false => WaitingFor::Question,
    }
}

/// Returns the rows that may contain a dialog: the rows below the last horizontal line. Newer
/// versions draw a line with the name of the session below a dialog; in this case, returns the rows
/// above that line. The screen of the first start has a heading and no line.
fn dialog_rows(screen: &Screen) -> &[String] {
    let is_edge = |row: &String| is_rule(row) || row.starts_with(PANEL_EDGE);
    let last_rule = |rows: &[String]| rows.iter().rposition(is_edge);
    let rows = screen.rows.as_slice();
    let Some(last) = last_rule(rows) else {
        return &rows[rows.iter().position(|row| is_first_start(row)).unwrap_or(0)..];
    };
    let (above, below) = (&rows[..last], &rows[last + 1..]);
    if below.iter().any(|row| !row.trim().is_empty()) {
        return below;
    }
    &above[last_rule(above).map_or(0, |at| at + 1)..]
}

/// Returns whether this row is the heading of a screen of the very first start.
fn is_first_start(row: &str) -> bool {
    FIRST_START_HEADINGS.iter().any(|heading| row.trim_start().starts_with(heading))
}

/// Returns whether a dialog needs no answer but Enter.
fn is_pause(rows: &[String]) -> bool {
    let last = rows.iter().rfind(|row| !row.trim().is_empty());
    last.is_some_and(|row| row.trim_start().starts_with(PAUSE_PREFIX))
}

/// Finds a list of choices without numbers: at least two choices, with `Esc to cancel` right below.
/// At the first start, any row may be below.
fn find_unnumbered_choices(rows: &[String]) -> Option<Choices> {
    let list = dialog::unnumbered(rows, &[MARK])?;
    let below = rows[list.rows.end..].iter().find(|row| !row.trim().is_empty())?;
    let can_be_cancelled = below.contains(CANCEL_HINT) || is_first_start(&rows[0]);
    (list.texts.len() > 1 && can_be_cancelled).then_some(list)
}

#[cfg(test)]
mod tests;
