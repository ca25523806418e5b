//! Forms: a new session, a new task, a handoff, another name, and the number of agents.

use segue_core::api::{AgentKindList, SessionView};
use segue_core::model::SessionId;
use segue_core::rules::display::place;
use segue_core::rules::handoff::HandoffMode;
use segue_core::rules::{scale, screens};

use super::UiEffect;
use crate::api::{HandoverOrder, NewSession, NewTask, VendorChoice};
use crate::model::{
    AwaitedForm, Confirmation, FieldKind, FormField, FormPurpose, Modal, UiForm, UiModel,
};

const VENDOR: &str = "vendor";
const FOLDER: &str = "folder";
const NAME: &str = "name";
const BRANCH: &str = "branch";
const PROMPT: &str = "prompt";
const AGENT: &str = "agent";
const TO: &str = "to";
const MODE: &str = "mode";
const BUDGET: &str = "budget";
const COUNT: &str = "count";

/// Takes over the vendors that can be started, and opens the form that has waited for them.
pub(super) fn vendors_known(model: &mut UiModel, vendors: Vec<VendorChoice>) -> Vec<UiEffect> {
    model.vendors = Some(vendors);
    match model.awaited_form.take().filter(|_| model.modal.is_none()) {
        Some(AwaitedForm::NewSession { vendor }) => new_session(model, vendor.as_deref()),
        Some(AwaitedForm::HandOver) => hand_over(model),
        None => Vec::new(),
    }
}

/// Returns the names of the vendors. `None` if they are not known yet: then the form is opened later.
fn vendor_names(model: &mut UiModel, form: AwaitedForm) -> Option<Vec<String>> {
    let names =
        model.vendors.as_ref().map(|known| known.iter().map(|it| it.name.clone()).collect());
    if names.is_none() {
        model.awaited_form = Some(form);
        model.notify("looking for the vendors' programs…");
    }
    names
}

pub(super) fn new_session(model: &mut UiModel, vendor: Option<&str>) -> Vec<UiEffect> {
    let form = AwaitedForm::NewSession { vendor: vendor.map(str::to_owned) };
    let Some(mut vendors) = vendor_names(model, form) else { return Vec::new() };
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
    open(model, "New task", FormPurpose::NewTask, fields, note);
    vec![UiEffect::LoadAgents]
}

/// Lets the form of a new task choose among the agents of the project file. A name that was written
/// meanwhile stays.
pub(super) fn agents_known(model: &mut UiModel, list: &AgentKindList) {
    let Some(Modal::Form(form)) = &mut model.modal else { return };
    let is_asked = form.purpose == FormPurpose::NewTask && !list.agents.is_empty();
    let Some(field) = form.fields.iter_mut().find(|it| is_asked && it.label == AGENT) else {
        return;
    };
    let FieldKind::Text { editor, .. } = &field.kind else { return };
    let mut names: Vec<String> = list.agents.iter().map(|it| it.name.to_string()).collect();
    let written = editor.text().trim().to_owned();
    match names.iter().position(|it| scale::is_called(&written, it)) {
        Some(at) => names.swap(0, at),
        None if !written.is_empty() => return,
        None => {}
    }
    *field = FormField::choice(AGENT, names, "left and right choose an agent of segue.toml");
}

pub(super) fn hand_over(model: &mut UiModel) -> Vec<UiEffect> {
    let Some(session) = model.selected() else { return Vec::new() };
    let (id, name, own) = (session.session, session.name.to_string(), session.vendor.to_string());
    let Some(mut vendors) = vendor_names(model, AwaitedForm::HandOver) else { return Vec::new() };
    // Another vendor is the usual target.
    vendors.sort_by_key(|it| *it == own);
    let modes = HandoffMode::ALL.iter().map(|it| it.word().to_owned()).collect();
    let fields = vec![
        FormField::choice(TO, vendors, "left and right choose the vendor"),
        FormField::choice(MODE, modes, "auto: the vendor's own format if possible, else a digest"),
        FormField::text(BUDGET, "", "most characters to carry; empty: as much as fits"),
    ];
    let note = "nothing happens yet: Enter shows what would be carried".to_owned();
    let purpose = FormPurpose::HandOver { session: id, name: name.clone() };
    open(model, &format!("Hand {name} over"), purpose, fields, note)
}

pub(super) fn rename(model: &mut UiModel) -> Vec<UiEffect> {
    let Some(session) = model.selected() else { return Vec::new() };
    let (id, name) = (session.session, session.name.to_string());
    let note = match &session.agent {
        Some(agent) => format!("`segue up` still finds it as the agent {agent}"),
        None => "the agent keeps running; the session keeps its id".to_owned(),
    };
    let fields = vec![FormField::text(NAME, &name, "letters, digits, - and _")];
    let purpose = FormPurpose::Rename { session: id, name: name.clone() };
    open(model, &format!("Rename {name}"), purpose, fields, note)
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
    let (id, fleet) = (session.session, session.fleet.clone());
    let kind = kind_of(agent.as_str()).to_owned();
    let number = |it: &SessionView| {
        let number = scale::number(&kind, it.agent.as_ref()?.as_str())?;
        (it.fleet == fleet && screens::is_live(it)).then_some((number, it.name.to_string()))
    };
    let mut running: Vec<(u32, String)> = model.list.sessions.iter().filter_map(number).collect();
    running.sort_unstable();
    let running: Vec<String> = running.into_iter().map(|(_, name)| name).collect();
    let count = running.len();
    let fields = vec![FormField::text(COUNT, &count.to_string(), "how many should run")];
    let note = format!("{count} of {kind} run now; conversations of stopped agents are kept");
    let title = format!("Scale {kind}");
    open(model, &title, FormPurpose::Scale { session: id, kind, running }, fields, note)
}

/// Returns the kind of an agent: its name without its number.
fn kind_of(agent: &str) -> &str {
    match agent.rsplit_once('-') {
        Some((kind, digits)) if scale::number(kind, agent).is_some_and(|_| !digits.is_empty()) => {
            kind
        }
        _ => agent,
    }
}

/// Shows which agents would be stopped. More agents are started at once.
fn scale_to((session, kind): (SessionId, &str), running: &[String], count: u32) -> FormResult {
    let effect = UiEffect::Scale { session, agent: kind.to_owned(), count };
    let kept = usize::try_from(count).unwrap_or(usize::MAX);
    let surplus = running.get(kept..).unwrap_or_default();
    if surplus.is_empty() {
        return FormResult::Effect(effect);
    }
    let lines = vec![
        format!("stops {}", surplus.join(", ")),
        "conversations are kept: a larger number brings them back".to_owned(),
    ];
    let title = format!("Scale {kind} to {count}");
    FormResult::Confirm(Confirmation { title, lines, top: 0, verb: "scale", effect: Some(effect) })
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

/// What a complete form leads to.
pub(super) enum FormResult {
    Effect(UiEffect),
    /// Something ends: the user sees it first.
    Confirm(Confirmation),
}

/// Reads a complete form. Returns what it leads to, or what is missing.
pub(super) fn submitted(form: &UiForm, model: &UiModel) -> Result<FormResult, String> {
    let effect = match &form.purpose {
        FormPurpose::NewSession => {
            let folder = form.value(FOLDER).map(|it| expanded(&it, model));
            UiEffect::Start(NewSession {
                vendor: form.value(VENDOR),
                name: form.value(NAME),
                folder,
                branch: form.value(BRANCH),
                prompt: form.value(PROMPT),
            })
        }
        FormPurpose::NewTask => {
            let prompt = form.value(PROMPT).ok_or("write what is to be done")?;
            let agent = form.value(AGENT).ok_or("name an agent of segue.toml")?;
            UiEffect::AddTask(NewTask { agent, prompt, branch: form.value(BRANCH) })
        }
        FormPurpose::HandOver { session, name } => {
            let to = form.value(TO).ok_or("no vendor's program was found")?;
            let mode = form.value(MODE).and_then(|it| HandoffMode::from_word(&it));
            let mode = mode.unwrap_or(HandoffMode::Auto);
            let budget = form.value(BUDGET).map(|it| number(&it)).transpose()?;
            let (session, name) = (*session, name.clone());
            UiEffect::Preview(HandoverOrder { session, name, to, mode, budget })
        }
        FormPurpose::Rename { session, name } => {
            let new = form.value(NAME).ok_or("write the new name")?;
            if new == *name {
                return Err(format!("it is called {name} already"));
            }
            UiEffect::Rename { session: *session, name: new }
        }
        FormPurpose::Scale { session, kind, running } => {
            let count = number(&form.value(COUNT).unwrap_or_default())?;
            return Ok(scale_to((*session, kind), running, count));
        }
    };
    Ok(FormResult::Effect(effect))
}

fn number<T: std::str::FromStr>(text: &str) -> Result<T, String> {
    text.parse().map_err(|_| format!("`{text}` is not a number"))
}

/// Replaces `~` at the beginning of a folder. A relative folder is below the current one.
fn expanded(folder: &str, model: &UiModel) -> std::path::PathBuf {
    let home = model.surroundings.home.as_ref();
    match (folder.strip_prefix('~'), home) {
        (Some(rest), Some(home)) => home.join(rest.trim_start_matches('/')),
        _ => model.surroundings.cwd.join(folder),
    }
}
