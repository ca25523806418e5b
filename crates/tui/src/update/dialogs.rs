//! Keys of dialogs.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use segue_core::rules::display::counted;

use super::forms::FormResult;
use super::{UiEffect, actions, forms};
use crate::model::{
    ACTIONS, ActionEntry, AnswerDialog, EditorPurpose, FieldKind, LinePurpose, Modal, PickItem,
    Picker, TextEditor, UiModel,
};

/// Passes a key to the dialog that is open.
pub(super) fn pressed(model: &mut UiModel, key: KeyEvent) -> Vec<UiEffect> {
    let Some(modal) = model.modal.take() else { return Vec::new() };
    if is_close(&modal, key) {
        return closed(model, modal);
    }
    match modal {
        Modal::Help { top } => {
            model.modal = Some(Modal::Help { top: top.saturating_add_signed(step(key)) });
            Vec::new()
        }
        Modal::Confirm(mut confirmation) => {
            if key.code == KeyCode::Enter {
                return confirmation.effect.into_iter().flat_map(|it| started(model, it)).collect();
            }
            let last = confirmation.lines.len().saturating_sub(1);
            confirmation.top = confirmation.top.saturating_add_signed(step(key)).min(last);
            model.modal = Some(Modal::Confirm(confirmation));
            Vec::new()
        }
        Modal::Palette(_) => palette(model, modal, key),
        Modal::Answer(answer) => answering(model, answer, key),
        Modal::Editor(_) => editing(model, modal, key),
        Modal::Line(_) => line(model, modal, key),
        Modal::Form(_) => form(model, modal, key),
        Modal::Pick(mut picker) => {
            let last = picker.items.len().saturating_sub(1);
            if key.code == KeyCode::Enter {
                let chosen = picker.items.get(picker.cursor).map(|it| it.effect.clone());
                return chosen.into_iter().flat_map(|it| started(model, it)).collect();
            }
            picker.cursor = picker.cursor.saturating_add_signed(step(key)).min(last);
            model.modal = Some(Modal::Pick(picker));
            Vec::new()
        }
    }
}

/// Starts the effect of a dialog. Reports that work which takes a while has begun.
fn started(model: &mut UiModel, effect: UiEffect) -> Vec<UiEffect> {
    match &effect {
        UiEffect::NewSession { vendor } => return forms::new_session(model, vendor.as_deref()),
        UiEffect::AskApproval(plan, task) => {
            return actions::ask_approval(model, &(*plan, task.clone()));
        }
        UiEffect::Resume(_) => model.notify("resuming…"),
        UiEffect::HandOver(order) => {
            model.notify(format!("handing {} over to {}…", order.name, order.to));
        }
        UiEffect::Stop(_) => model.notify("stopping…"),
        UiEffect::Interrupt(_) => model.notify("interrupting…"),
        UiEffect::Scale { .. } => model.notify("scaling…"),
        UiEffect::StopAfterTurn(_) => model.notify("will stop after this turn"),
        UiEffect::StartDemo | UiEffect::Start(_) => model.notify("starting…"),
        UiEffect::Preview(_) => model.notify("looking at the conversation…"),
        _ => {}
    }
    vec![effect]
}

fn is_close(modal: &Modal, key: KeyEvent) -> bool {
    let is_control_c =
        key.modifiers.contains(KeyModifiers::CONTROL) && key.code == KeyCode::Char('c');
    let takes_text =
        matches!(modal, Modal::Palette(_) | Modal::Editor(_) | Modal::Line(_) | Modal::Form(_));
    let is_report = matches!(modal, Modal::Confirm(it) if it.effect.is_none());
    key.code == KeyCode::Esc
        || is_control_c
        || (!takes_text && matches!(key.code, KeyCode::Char('q')))
        || (is_report && key.code == KeyCode::Enter)
        || (matches!(modal, Modal::Help { .. }) && matches!(key.code, KeyCode::Char('?')))
}

/// Closes a dialog without doing what it is for.
fn closed(model: &mut UiModel, modal: Modal) -> Vec<UiEffect> {
    match modal {
        Modal::Line(line) => set_line(model, line.purpose, line.before),
        Modal::Editor(editor) if !editor.editor.is_empty() => {
            if let EditorPurpose::Message { .. } = editor.purpose {
                model.notify("the message was not sent");
            }
        }
        _ => {}
    }
    Vec::new()
}

/// Returns by how many rows a key moves.
fn step(key: KeyEvent) -> isize {
    match key.code {
        KeyCode::Down | KeyCode::Tab => 1,
        KeyCode::Up | KeyCode::BackTab => -1,
        KeyCode::PageDown => 10,
        KeyCode::PageUp => -10,
        KeyCode::Char('j') => 1,
        KeyCode::Char('k') => -1,
        _ => 0,
    }
}

/// Changes a text. Returns whether the key was for the text.
fn edit(editor: &mut TextEditor, key: KeyEvent) -> bool {
    if key.modifiers.contains(KeyModifiers::CONTROL) {
        match key.code {
            KeyCode::Char('a') => editor.home(),
            KeyCode::Char('e') => editor.end(),
            KeyCode::Char('w') => editor.delete_word(),
            KeyCode::Char('u') => editor.delete_line(),
            KeyCode::Char('h') => editor.delete_before(),
            _ => return false,
        }
        return true;
    }
    match key.code {
        KeyCode::Char(character) => editor.insert(character),
        KeyCode::Backspace => editor.delete_before(),
        KeyCode::Delete => editor.delete_after(),
        KeyCode::Left => editor.left(),
        KeyCode::Right => editor.right(),
        KeyCode::Home => editor.home(),
        KeyCode::End => editor.end(),
        _ => return false,
    }
    true
}

/// Returns the actions that match the text of the palette.
pub(crate) fn found(query: &str) -> Vec<ActionEntry> {
    let query = query.to_lowercase();
    let matches = |it: &&ActionEntry| {
        let title = it.title.to_lowercase();
        query.split_whitespace().all(|word| title.contains(word))
    };
    ACTIONS.iter().filter(matches).copied().collect()
}

fn palette(model: &mut UiModel, modal: Modal, key: KeyEvent) -> Vec<UiEffect> {
    let Modal::Palette(mut state) = modal else { return Vec::new() };
    let entries = found(&state.query.text());
    match key.code {
        KeyCode::Enter => {
            let Some(entry) = entries.get(state.cursor) else { return Vec::new() };
            return actions::perform(model, entry.action);
        }
        KeyCode::Down | KeyCode::Up | KeyCode::PageDown | KeyCode::PageUp | KeyCode::Tab => {
            let last = entries.len().saturating_sub(1);
            state.cursor = state.cursor.saturating_add_signed(step(key)).min(last);
        }
        _ => {
            if edit(&mut state.query, key) {
                state.cursor = 0;
            }
        }
    }
    model.modal = Some(Modal::Palette(state));
    Vec::new()
}

/// A number or Enter answers. Because the whole question is shown, there is no second dialog.
fn answering(model: &mut UiModel, mut answer: AnswerDialog, key: KeyEvent) -> Vec<UiEffect> {
    let count = answer.dialog.choices.len();
    let takes = segue_core::rules::dialog::takes(&answer.dialog);
    let given = match key.code {
        KeyCode::Enter if count > 0 => Some((answer.cursor + 1).to_string()),
        KeyCode::Char(digit @ '1'..='9') => {
            let number = digit.to_digit(10).and_then(|it| usize::try_from(it).ok());
            number.filter(|it| *it <= count).map(|it| it.to_string())
        }
        KeyCode::Enter | KeyCode::Char('y') if takes.yes => Some("yes".to_owned()),
        KeyCode::Char('n' | 'd') if takes.yes => Some("no".to_owned()),
        _ => None,
    };
    if let Some(given) = given {
        let line = actions::answer_lines(&answer.dialog, &given, &answer.folder).swap_remove(0);
        model.notify(format!("answering {}: {line}", answer.name));
        let (session, question) = (answer.session, answer.dialog.id);
        return vec![UiEffect::Answer { session, question, answer: given }];
    }
    let last = count.saturating_sub(1);
    answer.cursor = answer.cursor.saturating_add_signed(step(key)).min(last);
    model.modal = Some(Modal::Answer(answer));
    Vec::new()
}

fn editing(model: &mut UiModel, modal: Modal, key: KeyEvent) -> Vec<UiEffect> {
    let Modal::Editor(mut dialog) = modal else { return Vec::new() };
    let has = |modifier| key.modifiers.contains(modifier);
    let is_new_line = has(KeyModifiers::ALT) || has(KeyModifiers::SHIFT);
    match key.code {
        KeyCode::Enter if is_new_line => dialog.editor.insert('\n'),
        KeyCode::Enter => return finished(model, &dialog.purpose, &dialog.editor.text()),
        KeyCode::Char('j') if has(KeyModifiers::CONTROL) => dialog.editor.insert('\n'),
        KeyCode::Char('e' | 'o') if has(KeyModifiers::CONTROL) => {
            let text = dialog.editor.text();
            model.modal = Some(Modal::Editor(dialog));
            return vec![UiEffect::Edit(text)];
        }
        KeyCode::Up => drop(dialog.editor.up()),
        KeyCode::Down => drop(dialog.editor.down()),
        _ => drop(edit(&mut dialog.editor, key)),
    }
    model.modal = Some(Modal::Editor(dialog));
    Vec::new()
}

/// Uses the text of an editor.
fn finished(model: &mut UiModel, purpose: &EditorPurpose, text: &str) -> Vec<UiEffect> {
    let text = text.trim_end();
    match purpose {
        EditorPurpose::Message { .. } if text.trim().is_empty() => {
            model.refuse("an empty message was not sent");
            Vec::new()
        }
        EditorPurpose::Message { sessions, interrupts, is_review } => {
            model.notify("sending…");
            let (interrupts, is_review) = (*interrupts, *is_review);
            let (sessions, text) = (sessions.clone(), text.to_owned());
            vec![UiEffect::Send { sessions, text, interrupts, is_review }]
        }
        EditorPurpose::Comment { row } => {
            let comments = &mut model.detail.diff.comments;
            if text.trim().is_empty() {
                comments.remove(row);
            } else {
                comments.insert(*row, text.to_owned());
            }
            let count = counted(model.detail.diff.comments.len(), "comment");
            model.notify(format!("{count}: M sends them as one message"));
            Vec::new()
        }
    }
}

/// Takes over the text of the user's own editor.
pub(super) fn edited(model: &mut UiModel, text: &str) {
    if let Some(Modal::Editor(dialog)) = &mut model.modal {
        dialog.editor = TextEditor::new(text.trim_end());
    }
}

pub(super) fn pasted(model: &mut UiModel, text: &str) -> Vec<UiEffect> {
    match &mut model.modal {
        Some(Modal::Editor(dialog)) => dialog.editor.paste(text),
        Some(Modal::Palette(state)) => state.query.paste(&first_line(text)),
        Some(Modal::Line(line)) => {
            line.editor.paste(&first_line(text));
            let (purpose, text) = (line.purpose, line.editor.text());
            set_line(model, purpose, text);
        }
        Some(Modal::Form(form)) => {
            if let Some(FieldKind::Text { editor, is_long }) = form.focused().map(|it| &mut it.kind)
            {
                let text = if *is_long { text.to_owned() } else { first_line(text) };
                editor.paste(&text);
            }
        }
        _ => model.notify("nothing here takes a pasted text: s writes a message"),
    }
    Vec::new()
}

fn first_line(text: &str) -> String {
    text.lines().next().unwrap_or_default().to_owned()
}

fn line(model: &mut UiModel, modal: Modal, key: KeyEvent) -> Vec<UiEffect> {
    let Modal::Line(mut line) = modal else { return Vec::new() };
    if key.code == KeyCode::Enter {
        if line.purpose == LinePurpose::Search {
            return actions::perform(model, crate::model::UiAction::NextAttention);
        }
        return Vec::new();
    }
    if matches!(key.code, KeyCode::Down | KeyCode::Up) && line.purpose == LinePurpose::Filter {
        model.list.move_by(step(key));
    } else {
        edit(&mut line.editor, key);
        set_line(model, line.purpose, line.editor.text());
    }
    model.modal = Some(Modal::Line(line));
    Vec::new()
}

/// Filters the list while the user types, or changes the searched text.
fn set_line(model: &mut UiModel, purpose: LinePurpose, text: String) {
    match purpose {
        LinePurpose::Search => model.detail.talk.search = text,
        LinePurpose::Filter => {
            model.list.filter = text;
            model.list.arrange(&model.surroundings.cwd.clone());
            if model.list.cursor_row().is_none() {
                model.list.select_row(0);
            }
        }
    }
}

fn form(model: &mut UiModel, modal: Modal, key: KeyEvent) -> Vec<UiEffect> {
    let Modal::Form(mut form) = modal else { return Vec::new() };
    let is_new_line = key.modifiers.intersects(KeyModifiers::ALT | KeyModifiers::SHIFT)
        && key.code == KeyCode::Enter;
    if key.code == KeyCode::Enter && !is_new_line {
        match forms::submitted(&form, model) {
            Ok(FormResult::Effect(effect)) => return started(model, effect),
            Ok(FormResult::Confirm(confirmation)) => {
                model.modal = Some(Modal::Confirm(confirmation));
                return Vec::new();
            }
            Err(missing) => model.refuse(missing),
        }
        model.modal = Some(Modal::Form(form));
        return Vec::new();
    }
    model.notice = None;
    let is_moved = match (form.focused().map(|it| &mut it.kind), key.code) {
        (_, KeyCode::Tab) => Some(1),
        (_, KeyCode::BackTab) => Some(-1),
        (Some(FieldKind::Text { editor, is_long: true }), KeyCode::Enter) => {
            editor.insert('\n');
            None
        }
        (Some(FieldKind::Text { editor, is_long: true }), KeyCode::Down) => {
            (!editor.down()).then_some(1)
        }
        (Some(FieldKind::Text { editor, is_long: true }), KeyCode::Up) => {
            (!editor.up()).then_some(-1)
        }
        (_, KeyCode::Down) => Some(1),
        (_, KeyCode::Up) => Some(-1),
        (Some(FieldKind::Text { editor, .. }), _) => {
            edit(editor, key);
            None
        }
        (Some(FieldKind::Choice { options, chosen }), KeyCode::Right | KeyCode::Char(' ')) => {
            *chosen = (*chosen + 1) % options.len().max(1);
            None
        }
        (Some(FieldKind::Choice { options, chosen }), KeyCode::Left) => {
            let count = options.len().max(1);
            *chosen = (*chosen + count - 1) % count;
            None
        }
        _ => None,
    };
    if let Some(by) = is_moved {
        form.move_focus(by);
    }
    model.modal = Some(Modal::Form(form));
    Vec::new()
}

/// Offers what can be done without any session.
pub(super) fn open_first_steps(model: &mut UiModel) -> Vec<UiEffect> {
    let items = first_steps(model);
    model.modal = Some(Modal::Pick(Picker { title: "Begin".to_owned(), items, cursor: 0 }));
    Vec::new()
}

/// Starts a choice of an empty screen.
pub(super) fn first_step(model: &mut UiModel, number: usize) -> Vec<UiEffect> {
    let chosen = number.checked_sub(1).and_then(|at| first_steps(model).into_iter().nth(at));
    chosen.into_iter().flat_map(|it| started(model, it.effect)).collect()
}

/// Returns the choices of an empty screen.
pub(crate) fn first_steps(model: &UiModel) -> Vec<PickItem> {
    let mut items = Vec::new();
    let vendors = model.vendors.as_deref().unwrap_or_default();
    if vendors.iter().any(|it| it.is_built_in) || vendors.is_empty() {
        items.push(PickItem {
            text: "try three demo agents: no account needed".to_owned(),
            effect: UiEffect::StartDemo,
        });
    }
    let installed: Vec<_> = vendors.iter().filter(|it| !it.is_built_in).collect();
    let names: Vec<&str> = installed.iter().map(|it| it.title.as_str()).collect();
    let vendor = installed.first().or(vendors.first().as_ref()).map(|it| it.name.clone());
    let found = if names.is_empty() { "the demo agent".to_owned() } else { names.join(", ") };
    items.push(PickItem {
        text: format!("start an agent: {found}"),
        effect: UiEffect::NewSession { vendor },
    });
    let text = match model.adoptable {
        Some(0) => "adopt a conversation: none was found on this machine".to_owned(),
        Some(count) => format!("adopt one of {} on this machine", counted(count, "conversation")),
        None => "adopt a conversation that was started without Segue".to_owned(),
    };
    items.push(PickItem { text, effect: UiEffect::LoadAdoptable { is_asked: true } });
    items
}
