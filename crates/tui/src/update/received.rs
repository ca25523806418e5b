//! Answers and events of the daemon.

use jiff::SignedDuration;
use segue_core::Result;
use segue_core::api::{AdoptReport, SessionList};
use segue_core::rules::display::{counted, one_line, place};

use super::{UiEffect, UiMessage, detail, dialogs, forms, reports};
use crate::model::{Confirmation, LinkState, Modal, PickItem, Picker, UiModel};

/// The usage of today is read again if it is older.
const USAGE_AGE: SignedDuration = SignedDuration::from_secs(60);

pub(super) fn received(model: &mut UiModel, message: UiMessage) -> Vec<UiEffect> {
    match message {
        UiMessage::Sessions(list) => sessions(model, list),
        UiMessage::Changed { sessions, is_about_work } => {
            let mut effects = vec![UiEffect::LoadSessions];
            if is_about_work {
                effects.extend(load_work(model));
            }
            if model.detail.subject.is_some_and(|it| sessions.contains(&it)) {
                effects.extend(detail::refresh(model));
            }
            effects.extend(usage_if_old(model));
            effects
        }
        UiMessage::DaemonGone => {
            model.link = LinkState::Lost { since: model.now };
            Vec::new()
        }
        UiMessage::DaemonBack => {
            model.link = LinkState::Connected;
            let mut effects = super::first_effects(model);
            effects.extend(detail::refresh(model));
            effects
        }
        UiMessage::Detail(request, message) if request == model.detail.request => {
            detail::received(model, message)
        }
        UiMessage::Attached(result) => attached(model, result),
        UiMessage::Edited(result) => {
            match result {
                Ok(text) => dialogs::edited(model, &text),
                Err(error) => model.fail(&error),
            }
            // The agent's terminal was not watched meanwhile.
            detail::load(model)
        }
        UiMessage::Started(Ok(session)) => {
            model.awaited = Some(session);
            model.notify("started");
            vec![UiEffect::LoadSessions]
        }
        UiMessage::Started(Err(error)) => failed(model, &error),
        UiMessage::Done(Ok(text)) => {
            model.notify(one_line(&text));
            [UiEffect::LoadSessions].into_iter().chain(load_work(model)).collect()
        }
        UiMessage::Reviewed(Ok(text)) => {
            model.detail.diff.comments.clear();
            model.notify(one_line(&text));
            vec![UiEffect::LoadSessions]
        }
        UiMessage::Done(Err(error)) | UiMessage::Reviewed(Err(error)) => failed(model, &error),
        other => loaded(model, other),
    }
}

/// Returns the effects that read the tasks, the worktrees and the gates again.
fn load_work(model: &UiModel) -> [UiEffect; 3] {
    [super::load_tasks(model), UiEffect::LoadWorktrees, UiEffect::LoadGates]
}

/// Takes over data that was requested.
fn loaded(model: &mut UiModel, message: UiMessage) -> Vec<UiEffect> {
    match message {
        UiMessage::Tasks(Ok(list)) => model.tasks.replace(reports::task_rows(&list)),
        UiMessage::Tasks(Err(error)) => model.tasks.failure = Some(error.in_one_line()),
        UiMessage::Worktrees(Ok(list)) => {
            let home = model.surroundings.home.as_deref();
            model.worktrees.replace(reports::worktree_rows(&list, home));
        }
        UiMessage::Worktrees(Err(error)) => model.worktrees.failure = Some(error.in_one_line()),
        // An agent may not read plans.
        UiMessage::Gates(gates) => model.gates = gates.unwrap_or_default(),
        UiMessage::Agents(list) => forms::agents_known(model, &list.unwrap_or_default()),
        UiMessage::Task(Ok(report)) => {
            let (title, lines) = reports::task(&report);
            model.modal = Some(report_dialog(title, lines));
        }
        UiMessage::Task(Err(error)) => model.fail(&error),
        UiMessage::Usage(usage) => model.usage_today = usage.ok(),
        UiMessage::Vendors(vendors) => {
            return forms::vendors_known(model, vendors.unwrap_or_default());
        }
        UiMessage::Adoptable { is_asked, report } => adoptable(model, is_asked, report),
        UiMessage::Planned(sessions, Ok(plan)) => {
            let (lines, count) = reports::plan(&plan);
            let effect = (count > 0).then_some(UiEffect::Resume(sessions));
            let title = format!("Resume {}", counted(count, "session"));
            model.modal =
                Some(Modal::Confirm(Confirmation { title, lines, top: 0, verb: "resume", effect }));
        }
        UiMessage::Planned(_, Err(error)) => model.fail(&error),
        UiMessage::Previewed(order, Ok(report)) => {
            let lines = reports::preview(&report);
            let title = format!("Hand {} over to {}", order.name, order.to);
            let effect = Some(UiEffect::HandOver(order));
            let verb = "hand over";
            model.notice = None;
            model.modal = Some(Modal::Confirm(Confirmation { title, lines, top: 0, verb, effect }));
        }
        UiMessage::Previewed(_, Err(error)) => model.fail(&error),
        // An answer about a session that is not shown any more.
        _ => {}
    }
    Vec::new()
}

/// Reads today's usage again, at most once a minute.
fn usage_if_old(model: &mut UiModel) -> Option<UiEffect> {
    let is_old = model.usage_read_at.is_none_or(|at| model.now.duration_since(at) > USAGE_AGE);
    is_old.then(|| {
        model.usage_read_at = Some(model.now);
        UiEffect::LoadUsage
    })
}

pub(super) fn report_dialog(title: String, lines: Vec<String>) -> Modal {
    Modal::Confirm(Confirmation { title, lines, top: 0, verb: "close", effect: None })
}

fn failed(model: &mut UiModel, error: &segue_core::Error) -> Vec<UiEffect> {
    model.fail(error);
    vec![UiEffect::LoadSessions]
}

fn sessions(model: &mut UiModel, list: Result<SessionList>) -> Vec<UiEffect> {
    let list = match list {
        Ok(list) => list,
        Err(error) => {
            model.fail(&error);
            return Vec::new();
        }
    };
    let was_loaded = model.list.is_loaded;
    let before = model.detail.subject.and_then(|it| model.list.session(it)).cloned();
    model.link = LinkState::Connected;
    model.list.replace(list, &model.surroundings.cwd.clone());
    if let Some(session) = model.awaited
        && model.list.session(session).is_some()
    {
        model.awaited = None;
        model.list.reveal(session, &model.surroundings.cwd.clone());
    }
    if !was_loaded {
        // A new screen selects a session that needs a person first.
        model.list.select_first_attention();
    }
    close_obsolete_question(model);
    let mut effects = Vec::new();
    if !was_loaded && model.list.sessions.is_empty() {
        effects.push(UiEffect::LoadAdoptable { is_asked: false });
    }
    // A session that starts or ends has another terminal than before.
    let now = model.detail.subject.and_then(|it| model.list.session(it));
    let life =
        |it: Option<&segue_core::api::SessionView>| it.map(|it| (it.holder_pid, it.launches));
    if before.is_some() && life(before.as_ref()) != life(now) {
        effects.extend(detail::refresh(model));
        if model.detail.view == crate::model::DetailView::Screen {
            model.detail.screen.ended = None;
            effects = vec![UiEffect::StopWatching];
            effects.extend(detail::load(model));
        }
    }
    effects
}

/// Closes the dialog of a question that was answered elsewhere.
fn close_obsolete_question(model: &mut UiModel) {
    let Some(Modal::Answer(answer)) = &model.modal else { return };
    let asked = model.list.session(answer.session).and_then(|it| it.dialog.as_ref());
    if asked.is_none_or(|it| it.id != answer.dialog.id) {
        let name = answer.name.clone();
        model.modal = None;
        model.notify(format!("{name} does not ask this any more"));
    }
}

fn attached(model: &mut UiModel, result: Result<crate::api::AttachResult>) -> Vec<UiEffect> {
    match result {
        Ok(result) if result.is_failure => model.refuse(one_line(&result.text)),
        Ok(result) => model.notify(one_line(&result.text)),
        Err(error) => model.fail(&error),
    }
    let mut effects = vec![UiEffect::LoadSessions, UiEffect::StopWatching];
    effects.extend(detail::load(model));
    effects
}

fn adoptable(model: &mut UiModel, is_asked: bool, report: Result<AdoptReport>) {
    let report = match report {
        Ok(report) => report,
        Err(error) if is_asked => return model.fail(&error),
        Err(_) => return,
    };
    model.adoptable = Some(report.candidates.len());
    if !is_asked {
        return;
    }
    let home = model.surroundings.home.as_deref();
    let item = |it: &segue_core::api::AdoptCandidate| {
        let begins = one_line(it.begins.as_deref().unwrap_or("(nothing said)"));
        let text = format!("{:<9} {}  {begins}", it.vendor.as_str(), place(&it.cwd, home));
        let (vendor, id) = (it.vendor.to_string(), it.vendor_session_id.to_string());
        PickItem { text, effect: UiEffect::Adopt { vendor, id } }
    };
    let items: Vec<PickItem> = report.candidates.iter().map(item).collect();
    if items.is_empty() {
        model.notify("no conversation was started without Segue here");
        return;
    }
    let title = format!("Adopt one of {}", counted(items.len(), "conversation"));
    model.modal = Some(Modal::Pick(Picker { title, items, cursor: 0 }));
}
