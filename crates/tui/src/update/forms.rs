//! Forms: a new session, a new task, a handoff, and the number of agents.

use segue_core::rules::display::place;
use segue_core::rules::handoff::HandoffMode;

use super::{HandoverOrder, UiEffect};
use crate::api::{NewSession, NewTask};
use crate::model::{FormField, FormPurpose, Modal, UiForm, UiModel};

const VENDOR: &str = "vendor";
const FOLDER: &str = "folder";
const NAME: &str = "name";
const BRANCH: &str = "branch";
const PROMPT: &str = "prompt";
const AGENT: &str = "agent";
const TO: &str = "to";
const MODE: &str = "mode";
const COUNT: &str = "count";

pub(super) fn new_session(model: &mut UiModel, vendor: Option<&str>) -> Vec<UiEffect> {
    let mut vendors: Vec<String> = model.vendors.iter().map(|it| it.name.clone()).collect();
    if vendors.is_empty() {
        model
            .refuse("no vendor's program was found: run `segue vendors` to see how to install one");
        return Vec::new();
    }
    if let Some(at) = vendor.and_then(|name| vendors.iter().position(|it| it == name)) {
        vendors.swap(0, at);
    }
    let home = model.surroundings.home.as_deref();
    let folder = place(&model.surroundings.cwd, home);
    let fields = vec![
        FormField::long_text(PROMPT, "what the agent should do; may be empty"),
        FormField::choice(VENDOR, vendors, "left and right choose"),
        FormField::text(FOLDER, &folder, "where the agent works"),
        FormField::text(NAME, "", "empty: Segue chooses one"),
        FormField::text(BRANCH, "", "a branch gives the agent a worktree of its own"),
    ];
    let note = "starts an agent; the session is recorded first".to_owned();
    open(model, "New session", FormPurpose::NewSession, fields, note)
}

pub(super) fn new_task(model: &mut UiModel) -> Vec<UiEffect> {
    let agents = model.list.sessions.iter().filter_map(|it| it.agent.as_ref());
    let agent = agents.map(ToString::to_string).next().unwrap_or_default();
    let fields = vec![
        FormField::long_text(PROMPT, "what is to be done"),
        FormField::text(AGENT, &agent, "an agent of segue.toml"),
        FormField::text(BRANCH, "", "empty: as segue.toml says"),
    ];
    let note = "the task waits in the queue until its agent is free".to_owned();
    open(model, "New task", FormPurpose::NewTask, fields, note)
}

pub(super) fn hand_over(model: &mut UiModel) -> Vec<UiEffect> {
    let Some(session) = model.selected() else { return Vec::new() };
    let (id, name, own) = (session.session, session.name.to_string(), session.vendor.to_string());
    let mut vendors: Vec<String> = model.vendors.iter().map(|it| it.name.clone()).collect();
    // Another vendor is the usual target.
    vendors.sort_by_key(|it| *it == own);
    let modes = HandoffMode::ALL.iter().map(|it| it.word().to_owned()).collect();
    let fields = vec![
        FormField::choice(TO, vendors, "left and right choose the vendor"),
        FormField::choice(MODE, modes, "auto: the vendor's own format if possible, else a digest"),
    ];
    let note = "nothing happens yet: Enter shows what would be carried".to_owned();
    let purpose = FormPurpose::HandOver { session: id, name: name.clone() };
    open(model, &format!("Hand {name} over"), purpose, fields, note)
}

pub(super) fn scale(model: &mut UiModel) -> Vec<UiEffect> {
    let Some(session) = model.selected() else {
        model.refuse("no session is selected");
        return Vec::new();
    };
    let Some(agent) = session.agent.clone() else {
        model.refuse(format!("{} is not an agent of segue.toml", session.name));
        return Vec::new();
    };
    let (id, agent) = (session.session, agent.to_string());
    let is_same = |it: &&segue_core::api::SessionView| {
        it.fleet == session.fleet
            && it.agent.as_ref().is_some_and(|it| it.as_str() == agent)
            && segue_core::rules::screens::is_live(it)
    };
    let count = model.list.sessions.iter().filter(is_same).count();
    let fields = vec![FormField::text(COUNT, &count.to_string(), "how many should run")];
    let note = format!("{count} of {agent} run now; conversations of stopped agents are kept");
    let purpose = FormPurpose::Scale { session: id, agent: agent.clone() };
    open(model, &format!("Scale {agent}"), purpose, fields, note)
}

fn open(
    model: &mut UiModel,
    title: &str,
    purpose: FormPurpose,
    fields: Vec<FormField>,
    note: String,
) -> Vec<UiEffect> {
    let form = UiForm { title: title.to_owned(), purpose, fields, focus: 0, note };
    model.modal = Some(Modal::Form(form));
    Vec::new()
}

/// Reads a complete form. Returns the effect, or what is missing.
pub(super) fn submitted(form: &UiForm, model: &UiModel) -> Result<UiEffect, String> {
    match &form.purpose {
        FormPurpose::NewSession => {
            let folder = form.value(FOLDER).map(|it| expanded(&it, model));
            Ok(UiEffect::Start(NewSession {
                vendor: form.value(VENDOR),
                name: form.value(NAME),
                folder,
                branch: form.value(BRANCH),
                prompt: form.value(PROMPT),
            }))
        }
        FormPurpose::NewTask => {
            let prompt = form.value(PROMPT).ok_or("write what is to be done")?;
            let agent = form.value(AGENT).ok_or("name an agent of segue.toml")?;
            Ok(UiEffect::AddTask(NewTask { agent, prompt, branch: form.value(BRANCH) }))
        }
        FormPurpose::HandOver { session, name } => {
            let to = form.value(TO).ok_or("no vendor's program was found")?;
            let mode = form.value(MODE).and_then(|it| HandoffMode::from_word(&it));
            let mode = mode.unwrap_or(HandoffMode::Auto);
            let (session, name) = (*session, name.clone());
            Ok(UiEffect::Preview(HandoverOrder { session, name, to, mode }))
        }
        FormPurpose::Scale { session, agent } => {
            let count = form.value(COUNT).unwrap_or_default();
            let count = count.parse().map_err(|_| format!("`{count}` is not a number"))?;
            Ok(UiEffect::Scale { session: *session, agent: agent.clone(), count })
        }
    }
}

/// Replaces `~` at the beginning of a folder. A relative folder is below the current one.
fn expanded(folder: &str, model: &UiModel) -> std::path::PathBuf {
    let home = model.surroundings.home.as_ref();
    match (folder.strip_prefix('~'), home) {
        (Some(rest), Some(home)) => home.join(rest.trim_start_matches('/')),
        _ => model.surroundings.cwd.join(folder),
    }
}
