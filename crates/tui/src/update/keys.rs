//! Keys of the panes. A dialog gets all keys while it is open.

use crossterm::event::{KeyCode, KeyEvent, KeyEventKind, KeyModifiers};

use super::{UiEffect, actions, detail, dialogs};
use crate::geometry::Areas;
use crate::model::{DetailView, ListTab, PaneFocus, UiAction, UiModel};

pub(super) fn pressed(model: &mut UiModel, key: KeyEvent) -> Vec<UiEffect> {
    if key.kind == KeyEventKind::Release {
        return Vec::new();
    }
    if key.modifiers.contains(KeyModifiers::CONTROL) && key.code == KeyCode::Char('z') {
        return vec![UiEffect::Suspend];
    }
    if model.modal.is_some() {
        return dialogs::pressed(model, key);
    }
    model.notice = None;
    if key.code == KeyCode::Char('!') {
        model.skips_confirmation = !model.skips_confirmation;
        return Vec::new();
    }
    let effects = match movement(key) {
        Some(by) => moved(model, by),
        None => match action(model, key) {
            Some(UiKeyMeaning::Action(action)) => actions::perform(model, action),
            Some(UiKeyMeaning::Choice(number)) => actions::choose(model, number),
            Some(UiKeyMeaning::FirstStep(number)) => dialogs::first_step(model, number),
            None => Vec::new(),
        },
    };
    model.skips_confirmation = false;
    effects
}

/// A movement of the cursor, or of the content of a pane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Movement {
    Rows(isize),
    Pages(isize),
    Start,
    End,
}

fn movement(key: KeyEvent) -> Option<Movement> {
    if key.modifiers.contains(KeyModifiers::CONTROL) {
        return match key.code {
            KeyCode::Char('d' | 'f') => Some(Movement::Pages(1)),
            KeyCode::Char('u' | 'b') => Some(Movement::Pages(-1)),
            _ => None,
        };
    }
    match key.code {
        KeyCode::Down | KeyCode::Char('j') => Some(Movement::Rows(1)),
        KeyCode::Up | KeyCode::Char('k') => Some(Movement::Rows(-1)),
        KeyCode::PageDown => Some(Movement::Pages(1)),
        KeyCode::PageUp => Some(Movement::Pages(-1)),
        KeyCode::Home | KeyCode::Char('g') => Some(Movement::Start),
        KeyCode::End | KeyCode::Char('G') => Some(Movement::End),
        _ => None,
    }
}

fn moved(model: &mut UiModel, movement: Movement) -> Vec<UiEffect> {
    let areas = Areas::of(model);
    let page = |height: u16| isize::try_from(height.max(2)).unwrap_or(isize::MAX) - 1;
    if has_detail_focus(model) {
        let height = page(areas.detail_content().height);
        return detail::scroll(model, -rows(movement, height));
    }
    let by = rows(movement, page(areas.list_rows().height));
    match model.tab {
        ListTab::Sessions => model.list.move_by(by),
        ListTab::Tasks => model.tasks.move_by(by),
        ListTab::Worktrees => model.worktrees.move_by(by),
    }
    Vec::new()
}

/// Returns the number of rows of a movement.
fn rows(movement: Movement, page: isize) -> isize {
    /// More rows than any list has, and small enough to be added.
    const ALL: isize = 1 << 40;
    match movement {
        Movement::Rows(by) => by,
        Movement::Pages(by) => by * page,
        Movement::Start => -ALL,
        Movement::End => ALL,
    }
}

/// Returns whether keys are for the right side.
pub(super) fn has_detail_focus(model: &UiModel) -> bool {
    model.focus == PaneFocus::Detail
}

/// What a key means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum UiKeyMeaning {
    Action(UiAction),
    /// The choice with this number of the question of the selected session.
    Choice(usize),
    /// The choice with this number of an empty screen.
    FirstStep(usize),
}

fn action(model: &UiModel, key: KeyEvent) -> Option<UiKeyMeaning> {
    let action = if key.modifiers.contains(KeyModifiers::CONTROL) {
        match key.code {
            KeyCode::Char('p') => UiAction::Palette,
            KeyCode::Char('c') => UiAction::Quit,
            KeyCode::Char('l' | 'r') => UiAction::Reload,
            _ => return None,
        }
    } else {
        match key.code {
            KeyCode::Enter => UiAction::Open,
            KeyCode::Tab | KeyCode::BackTab => UiAction::OtherPane,
            KeyCode::Esc => UiAction::Back,
            KeyCode::Char('q') => UiAction::Quit,
            KeyCode::Char(' ') => UiAction::Mark,
            KeyCode::F(2) => UiAction::Rename,
            KeyCode::F(5) => UiAction::Reload,
            KeyCode::Char(digit @ '1'..='9') => return digit_meaning(model, digit),
            KeyCode::Char(character) => return letter(model, character).map(UiKeyMeaning::Action),
            _ => return None,
        }
    };
    Some(UiKeyMeaning::Action(action))
}

/// A digit answers the question of the selected session while the list has the focus. Otherwise it
/// chooses a view of the right side.
fn digit_meaning(model: &UiModel, digit: char) -> Option<UiKeyMeaning> {
    let number = digit.to_digit(10).and_then(|it| usize::try_from(it).ok())?;
    if model.is_empty() {
        return Some(UiKeyMeaning::FirstStep(number));
    }
    let asks = actions::answerable(model).is_some_and(|dialog| number <= dialog.choices.len());
    if asks && (!has_detail_focus(model) || model.skips_confirmation) {
        return Some(UiKeyMeaning::Choice(number));
    }
    let action = match number {
        1 => UiAction::ShowScreen,
        2 => UiAction::ShowTalk,
        3 => UiAction::ShowDiff,
        4 => UiAction::ShowMessages,
        5 => UiAction::ShowLog,
        _ => return None,
    };
    Some(UiKeyMeaning::Action(action))
}

fn letter(model: &UiModel, character: char) -> Option<UiAction> {
    let is_in = |view| has_detail_focus(model) && model.detail.view == view;
    Some(match character {
        '/' if is_in(DetailView::Talk) => UiAction::Search,
        '/' => UiAction::Filter,
        ':' => UiAction::Palette,
        '?' => UiAction::Help,
        'e' => UiAction::Attach,
        's' => UiAction::Send,
        'a' => UiAction::Answer,
        'y' => UiAction::AnswerYes,
        'd' => UiAction::AnswerNo,
        'p' => UiAction::ApproveGate,
        'i' => UiAction::Interrupt,
        'I' => UiAction::InterruptWithMessage,
        'x' if model.tab == ListTab::Tasks => UiAction::CancelTask,
        'x' => UiAction::Stop,
        'X' => UiAction::StopAfterTurn,
        'r' if model.tab == ListTab::Tasks => UiAction::RetryTask,
        'r' => UiAction::Resume,
        'R' => UiAction::ResumeAll,
        'h' => UiAction::HandOver,
        'c' => UiAction::NewSession,
        'T' => UiAction::NewTask,
        '+' => UiAction::Scale,
        'A' => UiAction::Adopt,
        'v' => UiAction::Salvage,
        'u' => UiAction::RestoreWorktree,
        'D' => UiAction::RemoveWorktree,
        'n' => UiAction::NextAttention,
        'N' => UiAction::PreviousAttention,
        'o' => UiAction::Sort,
        'z' => UiAction::Fold,
        'Z' => UiAction::FoldAll,
        'l' => UiAction::Sessions,
        't' => UiAction::Tasks,
        'E' => UiAction::EndedTasks,
        'w' => UiAction::Worktrees,
        'm' => UiAction::Comment,
        'M' => UiAction::SendComments,
        ']' => UiAction::NextFile,
        '[' => UiAction::PreviousFile,
        'f' => UiAction::FoldTools,
        _ => return None,
    })
}
