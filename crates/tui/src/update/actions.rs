//! Starts the actions of keys, the palette and the mouse.

use segue_core::api::{PlanGateView, SessionView};
use segue_core::model::{Dialog, PlanId, PlanTaskName, SessionId};
use segue_core::rules::display::{counted, one_line, place};
use segue_core::rules::{dialog, review, screens};

use super::keys::has_detail_focus;
use super::{UiEffect, WorktreeChange, detail, forms};
use crate::geometry::{self, Areas};
use crate::model::{
    AnswerDialog, Confirmation, DetailView, EditorDialog, EditorPurpose, LineDialog, LinePurpose,
    ListCursor, ListTab, Modal, PaletteState, PaneFocus, PickItem, Picker, TextEditor, UiAction,
    UiModel,
};

/// Starts an action. An action that is not possible only reports why.
pub(super) fn perform(model: &mut UiModel, action: UiAction) -> Vec<UiEffect> {
    if let Some(reason) = obstacle(model, action) {
        model.refuse(reason);
        return Vec::new();
    }
    match action {
        UiAction::Open => open(model),
        UiAction::Attach => with_selected(model, UiEffect::Attach),
        UiAction::Send => write(model, false),
        UiAction::Interrupt => interrupt(model),
        UiAction::InterruptWithMessage => write(model, true),
        UiAction::Rename => forms::rename(model),
        UiAction::Answer => ask(model),
        UiAction::AnswerYes => answer(model, "yes"),
        UiAction::AnswerNo => answer(model, "no"),
        UiAction::ApproveGate => approve_gate(model),
        UiAction::Stop => stop(model),
        UiAction::StopAfterTurn => stop_after_turn(model),
        UiAction::Resume => {
            let targets = model.list.targets().iter().map(|it| it.session).collect();
            vec![UiEffect::Plan(Some(targets))]
        }
        UiAction::ResumeAll => vec![UiEffect::Plan(None)],
        UiAction::HandOver => forms::hand_over(model),
        UiAction::NewSession => forms::new_session(model, None),
        UiAction::NewTask => forms::new_task(model),
        UiAction::Scale => forms::scale(model),
        UiAction::Adopt => {
            model.notify("looking for conversations…");
            vec![UiEffect::LoadAdoptable { is_asked: true }]
        }
        UiAction::Salvage => worktree(model, WorktreeChange::Salvage),
        UiAction::RestoreWorktree => worktree(model, WorktreeChange::Restore),
        UiAction::RemoveWorktree => worktree(model, WorktreeChange::Remove),
        UiAction::CancelTask | UiAction::RetryTask => task(model, action),
        other => navigate(model, other),
    }
}

/// Moves around, and opens what changes nothing outside of the UI.
fn navigate(model: &mut UiModel, action: UiAction) -> Vec<UiEffect> {
    match action {
        UiAction::NextAttention => return attention(model, true),
        UiAction::PreviousAttention => return attention(model, false),
        UiAction::ShowScreen => return show(model, DetailView::Screen),
        UiAction::ShowTalk => return show(model, DetailView::Talk),
        UiAction::ShowDiff => return show(model, DetailView::Diff),
        UiAction::ShowMessages => return show(model, DetailView::Messages),
        UiAction::ShowLog => return show(model, DetailView::Log),
        UiAction::Sessions => model.tab = ListTab::Sessions,
        UiAction::Tasks => return list(model, ListTab::Tasks),
        UiAction::Worktrees => return list(model, ListTab::Worktrees),
        UiAction::EndedTasks => {
            model.tasks.shows_ended = !model.tasks.shows_ended;
            model.focus = PaneFocus::List;
            model.tab = ListTab::Tasks;
            return vec![super::load_tasks(model)];
        }
        UiAction::OtherPane => other_pane(model),
        UiAction::Comment => comment(model),
        UiAction::SendComments => return send_comments(model),
        UiAction::NextFile => model.detail.diff.move_to_file(true),
        UiAction::PreviousFile => model.detail.diff.move_to_file(false),
        UiAction::FoldTools => model.detail.talk.switch_tools(),
        UiAction::Reload => {
            let mut effects = super::first_effects(model);
            effects.push(UiEffect::Redraw);
            effects.extend(detail::refresh(model));
            return effects;
        }
        UiAction::Palette => model.modal = Some(Modal::Palette(PaletteState::default())),
        UiAction::Help => model.modal = Some(Modal::Help { top: 0 }),
        UiAction::Suspend => return vec![UiEffect::Suspend],
        UiAction::Back if !went_back(model) => model.notify("q quits; agents keep running"),
        UiAction::Back => {}
        UiAction::Quit => model.is_over = !went_back(model),
        other => arrange(model, other),
    }
    Vec::new()
}

/// Changes what the list shows.
fn arrange(model: &mut UiModel, action: UiAction) {
    let cwd = model.surroundings.cwd.clone();
    match action {
        UiAction::Mark => {
            if let Some(session) = model.selected().map(|it| it.session) {
                if !model.list.marked.remove(&session) {
                    model.list.marked.insert(session);
                }
                model.list.move_by(1);
            }
        }
        UiAction::Filter => {
            model.tab = ListTab::Sessions;
            line(model, LinePurpose::Filter);
        }
        UiAction::Search => line(model, LinePurpose::Search),
        UiAction::Sort => {
            model.list.sort = model.list.sort.next();
            model.list.arrange(&cwd);
            model.notify(format!("sorted {}", model.list.sort.title()));
        }
        UiAction::Fold => model.list.switch_fold(&cwd),
        UiAction::FoldAll => model.list.switch_all_folds(&cwd),
        _ => {}
    }
}

/// Returns why an action is not possible now.
pub(crate) fn obstacle(model: &UiModel, action: UiAction) -> Option<String> {
    let session_action = action.on_session()?;
    let Some(session) = model.selected() else {
        return Some("no session is selected".to_owned());
    };
    // Marked sessions are checked by the daemon, one by one. A view shows its reason itself.
    let is_for_marked = !model.list.marked.is_empty();
    if is_for_marked || action == UiAction::ShowDiff {
        return None;
    }
    screens::obstacle(session_action, session)
}

fn with_selected(model: &UiModel, effect: fn(SessionId) -> UiEffect) -> Vec<UiEffect> {
    model.selected().map(|it| effect(it.session)).into_iter().collect()
}

/// Enter: unfolds a fleet, opens the right side, or attaches.
fn open(model: &mut UiModel) -> Vec<UiEffect> {
    match model.tab {
        ListTab::Tasks => {
            let task = model.tasks.selected().map(|it| it.id.clone());
            return task.map(UiEffect::LoadTask).into_iter().collect();
        }
        ListTab::Worktrees if model.selected().is_none() => return Vec::new(),
        ListTab::Worktrees => return show(model, DetailView::Diff),
        ListTab::Sessions => {}
    }
    if model.is_empty() {
        return super::dialogs::open_first_steps(model);
    }
    if matches!(model.list.cursor, Some(ListCursor::Fleet(_))) {
        model.list.switch_fold(&model.surroundings.cwd.clone());
        return Vec::new();
    }
    if geometry::is_narrow(model) && model.focus == PaneFocus::List {
        model.focus = PaneFocus::Detail;
        return Vec::new();
    }
    perform(model, UiAction::Attach)
}

/// Goes one step back. Returns false if there is no step.
fn went_back(model: &mut UiModel) -> bool {
    if model.focus == PaneFocus::Detail {
        model.focus = PaneFocus::List;
    } else if !model.list.filter.is_empty() {
        model.list.filter.clear();
        model.list.arrange(&model.surroundings.cwd.clone());
    } else if !model.list.marked.is_empty() {
        model.list.marked.clear();
    } else if model.tab != ListTab::Sessions {
        model.tab = ListTab::Sessions;
    } else {
        return false;
    }
    true
}

/// Asks for the approval of the only gate, or which one is meant.
fn approve_gate(model: &mut UiModel) -> Vec<UiEffect> {
    let item = |it: &PlanGateView| PickItem {
        text: format!("{}/{}  {}: {}", it.fleet, it.plan_name, it.task, it.text),
        effect: UiEffect::AskApproval(it.plan, it.task.clone()),
    };
    match model.gates.as_slice() {
        [] => model.notify("no plan waits for your approval"),
        [only] => {
            let only = (only.plan, only.task.clone());
            return ask_approval(model, &only);
        }
        several => {
            let items: Vec<PickItem> = several.iter().map(item).collect();
            let title = format!("Approve one of {}", counted(items.len(), "gate"));
            model.modal = Some(Modal::Pick(Picker { title, items, cursor: 0 }));
        }
    }
    Vec::new()
}

/// Shows what the approval of a gate starts. Enter approves it.
pub(super) fn ask_approval(model: &mut UiModel, of: &(PlanId, PlanTaskName)) -> Vec<UiEffect> {
    let gate = model.gates.iter().find(|it| (it.plan, &it.task) == (of.0, &of.1));
    let Some(gate) = gate else {
        model.refuse(format!("{} does not wait for an approval any more", of.1));
        return Vec::new();
    };
    let effect = UiEffect::ApproveGate(gate.plan, gate.task.clone());
    if model.skips_confirmation {
        return vec![effect];
    }
    let folder = place(&gate.folder, model.surroundings.home.as_deref());
    let mut lines = vec![
        format!("{} of the plan {}/{} in {folder}", gate.task, gate.fleet, gate.plan_name),
        format!("the approval {}", gate.text),
    ];
    lines.extend(gate.work.iter().flat_map(|work| work.lines()).map(|line| format!("  {line}")));
    let title = format!("Approve {}", gate.task);
    let (top, verb, effect) = (0, "approve", Some(effect));
    model.modal = Some(Modal::Confirm(Confirmation { title, lines, top, verb, effect }));
    Vec::new()
}

fn attention(model: &mut UiModel, is_next: bool) -> Vec<UiEffect> {
    let is_searching = has_detail_focus(model)
        && model.detail.view == DetailView::Talk
        && !model.detail.talk.search.is_empty();
    if is_searching {
        let height = usize::from(Areas::of(model).detail_content().height);
        // The newest turns are read first, so `next` goes up.
        if !model.detail.talk.find(is_next, height) {
            model.notify("no further match in the turns that were read");
        }
        return detail::read_back(model, height);
    }
    model.tab = ListTab::Sessions;
    if !model.list.select_attention(is_next) {
        model.notify("nobody needs you");
        return Vec::new();
    }
    if let Some(ListCursor::Session(session)) = model.list.cursor.clone() {
        model.list.reveal(session, &model.surroundings.cwd.clone());
    }
    Vec::new()
}

fn show(model: &mut UiModel, view: DetailView) -> Vec<UiEffect> {
    if geometry::is_narrow(model) {
        model.focus = PaneFocus::Detail;
    }
    detail::switch(model, view)
}

fn list(model: &mut UiModel, tab: ListTab) -> Vec<UiEffect> {
    model.focus = PaneFocus::List;
    model.tab = if model.tab == tab { ListTab::Sessions } else { tab };
    match model.tab {
        ListTab::Sessions => Vec::new(),
        ListTab::Tasks => vec![super::load_tasks(model)],
        ListTab::Worktrees => vec![UiEffect::LoadWorktrees],
    }
}

fn other_pane(model: &mut UiModel) {
    model.focus = match model.focus {
        PaneFocus::List => PaneFocus::Detail,
        PaneFocus::Detail => PaneFocus::List,
    };
}

fn line(model: &mut UiModel, purpose: LinePurpose) {
    let before = match purpose {
        LinePurpose::Filter => model.list.filter.clone(),
        LinePurpose::Search => model.detail.talk.search.clone(),
    };
    let editor = TextEditor::new(&before);
    model.modal = Some(Modal::Line(LineDialog { purpose, editor, before }));
}

/// Opens the editor for a message.
fn write(model: &mut UiModel, interrupts: bool) -> Vec<UiEffect> {
    let targets = model.list.targets();
    let names: Vec<&str> = targets.iter().map(|it| it.name.as_str()).collect();
    let verb = if interrupts { "Interrupt and tell" } else { "Message to" };
    let title = format!("{verb} {}", names.join(", "));
    let sessions = targets.iter().map(|it| it.session).collect();
    let purpose = EditorPurpose::Message { sessions, interrupts, is_review: false };
    let editor = TextEditor::default();
    model.modal = Some(Modal::Editor(EditorDialog { title, purpose, editor }));
    Vec::new()
}

/// Returns the question of the selected session, if it can be answered here.
pub(super) fn answerable(model: &UiModel) -> Option<&Dialog> {
    let question = model.selected()?.dialog.as_ref()?;
    let takes = dialog::takes(question);
    (takes.yes || takes.choice).then_some(question)
}

/// Shows the whole question with its choices.
fn ask(model: &mut UiModel) -> Vec<UiEffect> {
    let Some(dialog) = answerable(model).cloned() else { return answer_in_terminal(model) };
    let Some(session) = model.selected() else { return Vec::new() };
    let folder = place(&session.cwd, model.surroundings.home.as_deref());
    let (session, name) = (session.session, session.name.to_string());
    let answer = AnswerDialog { session, name, folder, dialog, cursor: 0 };
    model.modal = Some(Modal::Answer(answer));
    Vec::new()
}

/// A question that cannot be read completely is answered in the agent's terminal.
fn answer_in_terminal(model: &mut UiModel) -> Vec<UiEffect> {
    model.refuse("this question can only be answered in the agent's terminal: e opens it");
    Vec::new()
}

/// Answers with the choice that has this number.
pub(super) fn choose(model: &mut UiModel, number: usize) -> Vec<UiEffect> {
    answer(model, &number.to_string())
}

/// Answers the question of the selected session, after showing what is answered.
fn answer(model: &mut UiModel, given: &str) -> Vec<UiEffect> {
    let Some(question) = answerable(model).cloned() else { return answer_in_terminal(model) };
    if given == "yes" && !dialog::takes(&question).yes {
        model.refuse("this question has no yes: choose one of its numbers");
        return Vec::new();
    }
    let Some(session) = model.selected() else { return Vec::new() };
    let effect = UiEffect::Answer {
        session: session.session,
        question: question.id.clone(),
        answer: given.to_owned(),
    };
    let folder = place(&session.cwd, model.surroundings.home.as_deref());
    let lines = answer_lines(&question, given, &folder);
    let title = format!("Answer {}", session.name);
    confirm(model, title, lines, "answer", effect)
}

/// Describes exactly what an answer says.
pub(super) fn answer_lines(question: &Dialog, given: &str, folder: &str) -> Vec<String> {
    let choice = given.parse::<usize>().ok().and_then(|it| it.checked_sub(1));
    let choice = choice.and_then(|at| question.choices.get(at)).map(|it| one_line(it));
    let given = choice.unwrap_or_else(|| given.to_owned());
    let asked = if question.question.is_empty() {
        "(its question cannot be read)".to_owned()
    } else {
        one_line(&question.question)
    };
    vec![format!("{given}  to: {asked}"), format!("in {folder}")]
}

/// Shows what will happen. Enter then starts the effect. After `!` it starts at once.
fn confirm(
    model: &mut UiModel,
    title: String,
    lines: Vec<String>,
    verb: &'static str,
    effect: UiEffect,
) -> Vec<UiEffect> {
    if model.skips_confirmation {
        model.notify(lines.first().cloned().unwrap_or_default());
        return vec![effect];
    }
    let effect = Some(effect);
    model.modal = Some(Modal::Confirm(Confirmation { title, lines, top: 0, verb, effect }));
    Vec::new()
}

fn stop(model: &mut UiModel) -> Vec<UiEffect> {
    let targets = model.list.targets();
    let lines = targets.iter().map(|it| stop_consequence(model, it)).collect();
    let ids: Vec<SessionId> = targets.iter().map(|it| it.session).collect();
    let title = match targets.as_slice() {
        [only] => format!("Stop {}", only.name),
        some => format!("Stop {}", counted(some.len(), "session")),
    };
    confirm(model, title, lines, "stop", UiEffect::Stop(ids))
}

/// Says in one line what a stop does and what stays.
fn stop_consequence(model: &UiModel, session: &SessionView) -> String {
    let path = session.worktree.as_ref().map(|it| it.display().to_string());
    let row = path.and_then(|path| model.worktrees.rows.iter().find(|it| it.id == path));
    let changes = row.and_then(|row| row.cells.get(2)).filter(|it| !it.is_empty());
    let worktree = match (&session.branch, changes) {
        (Some(branch), Some(changes)) => format!("; worktree {branch} stays ({changes})"),
        (Some(branch), None) => format!("; worktree {branch} stays"),
        (None, _) => String::new(),
    };
    let turn = match session.status.known() {
        Some(segue_core::model::StatusKind::Working) => "; its current turn is cut off",
        _ => "",
    };
    let queued = match session.queued_messages {
        0 => String::new(),
        count => format!("; {} stay queued", counted(count as usize, "message")),
    };
    format!("stops {}; its conversation stays{turn}{queued}{worktree}", session.name)
}

fn stop_after_turn(model: &mut UiModel) -> Vec<UiEffect> {
    let Some(session) = model.selected() else { return Vec::new() };
    let (id, name) = (session.session, session.name.clone());
    let lines = vec![
        format!("stops {name} as soon as its turn ends; its conversation stays"),
        "this screen waits for it: if you quit before, it is not stopped".to_owned(),
    ];
    let title = format!("Stop {name} after this turn");
    confirm(model, title, lines, "stop then", UiEffect::StopAfterTurn(id))
}

fn interrupt(model: &mut UiModel) -> Vec<UiEffect> {
    let Some(session) = model.selected() else { return Vec::new() };
    let (id, name) = (session.session, session.name.to_string());
    let line = match session.headless {
        true => format!("ends the process of the turn of {name}; the next message goes on"),
        false => format!("ends the turn of {name}; the agent keeps running and waits for you"),
    };
    let title = format!("Interrupt {name}");
    confirm(model, title, vec![line], "interrupt", UiEffect::Interrupt(id))
}

fn worktree(model: &mut UiModel, change: WorktreeChange) -> Vec<UiEffect> {
    let row = match model.tab {
        ListTab::Worktrees => model.worktrees.selected(),
        _ => {
            let path = model.selected().and_then(|it| it.worktree.as_ref());
            let path = path.map(|it| it.display().to_string());
            path.and_then(|path| model.worktrees.rows.iter().find(|it| it.id == path))
        }
    };
    let Some(row) = row else {
        model.refuse("no worktree is selected: w lists them");
        return Vec::new();
    };
    let branch = row.cells.first().cloned().unwrap_or_default();
    let (title, line, verb) = match change {
        WorktreeChange::Salvage => (
            format!("Salvage {branch}"),
            "keeps its uncommitted work in a ref; the folder stays as it is".to_owned(),
            "salvage",
        ),
        WorktreeChange::Remove => (format!("Remove {branch}"), row.consequence.clone(), "remove"),
        WorktreeChange::Restore => (
            format!("Restore {branch}"),
            "makes the folder again, with its salvaged work".to_owned(),
            "restore",
        ),
    };
    let effect = UiEffect::ChangeWorktree { action: change, worktree: row.id.clone() };
    confirm(model, title, vec![line], verb, effect)
}

fn task(model: &mut UiModel, action: UiAction) -> Vec<UiEffect> {
    let Some(row) = model.tasks.selected().filter(|_| model.tab == ListTab::Tasks) else {
        model.refuse("no task is selected: t lists them");
        return Vec::new();
    };
    let (id, consequence) = (row.id.clone(), row.consequence.clone());
    if action == UiAction::RetryTask {
        return vec![UiEffect::RetryTask(id)];
    }
    confirm(
        model,
        "Cancel the task".to_owned(),
        vec![consequence],
        "cancel it",
        UiEffect::CancelTask(id),
    )
}

fn comment(model: &mut UiModel) {
    if model.detail.view != DetailView::Diff {
        return model.refuse("comments are for the diff: 3 shows it");
    }
    let diff = &model.detail.diff;
    let Some(row) = diff.commentable() else {
        return model.refuse("move to a line of the diff first");
    };
    let title = format!("Comment on {}", one_line(&row.text));
    let text = diff.comments.get(&diff.cursor).cloned().unwrap_or_default();
    let purpose = EditorPurpose::Comment { row: diff.cursor };
    let editor = TextEditor::new(&text);
    model.modal = Some(Modal::Editor(EditorDialog { title, purpose, editor }));
}

fn send_comments(model: &mut UiModel) -> Vec<UiEffect> {
    let comments = model.detail.diff.line_comments();
    let (Some(text), Some(session)) = (review::message(&comments), model.detail.subject) else {
        model.refuse("there are no comments: m comments on a line of the diff");
        return Vec::new();
    };
    let name = model.list.session(session).map(|it| it.name.to_string()).unwrap_or_default();
    let title = format!("Send {} to {name}", counted(comments.len(), "comment"));
    let sessions = vec![session];
    let purpose = EditorPurpose::Message { sessions, interrupts: false, is_review: true };
    let editor = TextEditor::new(&text);
    model.modal = Some(Modal::Editor(EditorDialog { title, purpose, editor }));
    Vec::new()
}
