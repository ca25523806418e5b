//! `segue status`, and `segue` without a command and without a terminal: lists the sessions of this
//! folder, and suggests next steps.

use std::path::{Path, PathBuf};

use jiff::Timestamp;
use segue_core::Result;
use segue_core::api::{PlanGateView, SessionView, UnknownConversation};
use segue_core::model::PROJECT_FILE;
use serde::Serialize;

use super::resume;
use crate::context::{CommandEnding, Context};
use crate::progress;
use crate::render::plain::one_line;
use crate::render::sessions::{asks, counted, place, question_hint, repetition_hint, table};
use crate::render::table::{CutPlace, TableCell, TextTable};
use crate::render::time::age;

/// At most this many unknown conversations are shown.
const SHOWN_CONVERSATIONS: usize = 5;

/// The sessions and conversations of a folder, as `--json` prints them.
#[derive(Debug, Serialize)]
struct FolderOverview {
    folder: PathBuf,
    project_file: Option<PathBuf>,
    sessions: Vec<SessionView>,
    sessions_elsewhere: usize,
    /// How many sessions `segue resume` would bring back here. `None` if the daemon rejects this
    /// request, as it does if an agent makes it.
    to_bring_back: Option<usize>,
    /// Gates of this folder's plans that wait for an approval.
    gates: Vec<PlanGateView>,
    /// Conversations in this folder that belong to no session.
    unknown: Vec<UnknownConversation>,
}

pub(crate) async fn run(context: &mut Context) -> Result<CommandEnding> {
    let client = progress::connect(context).await?;
    let mut overview = overview_of(context.cwd(), client.sessions().await?.sessions);
    // The daemon rejects this request if an agent makes it: an agent sees only its own sessions.
    overview.unknown = client.unknown_conversations(&context.caller()).await.unwrap_or_default();
    // So is this one, as plans are for the user alone.
    let gates = client.attention().await.map(|it| it.gates).unwrap_or_default();
    overview.gates =
        gates.into_iter().filter(|it| it.folder.starts_with(&overview.folder)).collect();
    let resume = resume::request_here(context.caller());
    overview.to_bring_back = client.resume_count(&resume).await.ok().map(|it| it.to_bring_back);
    if context.wants_json() {
        context.output.json(&overview)?;
        return Ok(CommandEnding::Done);
    }
    let heading = one_line(&heading(&overview, context.display().home));
    let table = table(&overview.sessions, context.display());
    context.output.text(&format!("{heading}\n"))?;
    context.output.table(&table)?;
    if !overview.unknown.is_empty() {
        let unknown = unknown_table(&overview.unknown, context.display().now);
        context.output.text("\n")?;
        context.output.table(&unknown)?;
    }
    for step in next_steps(&overview) {
        context.output.hint(&step);
    }
    Ok(CommandEnding::Done)
}

fn overview_of(cwd: &Path, all: Vec<SessionView>) -> FolderOverview {
    let project_file = project_file(cwd);
    let folder = project_folder(cwd);
    let count = all.len();
    let sessions = in_folder(&folder, all);
    let sessions_elsewhere = count - sessions.len();
    let (to_bring_back, gates, unknown) = (None, Vec::new(), Vec::new());
    FolderOverview {
        sessions_elsewhere,
        folder,
        project_file,
        sessions,
        to_bring_back,
        gates,
        unknown,
    }
}

fn project_file(cwd: &Path) -> Option<PathBuf> {
    cwd.ancestors().map(|folder| folder.join(PROJECT_FILE)).find(|file| file.is_file())
}

/// Returns the nearest folder at or above `cwd` that has a project file, or `cwd` if there is none.
pub(crate) fn project_folder(cwd: &Path) -> PathBuf {
    let file = project_file(cwd);
    file.as_deref().and_then(Path::parent).unwrap_or(cwd).to_owned()
}

/// Returns the sessions that work in the folder or below it.
fn in_folder(folder: &Path, all: Vec<SessionView>) -> Vec<SessionView> {
    all.into_iter().filter(|session| session.cwd.starts_with(folder)).collect()
}

fn heading(overview: &FolderOverview, home: Option<&Path>) -> String {
    let folder = place(&overview.folder, home);
    if overview.sessions.is_empty() {
        format!("no sessions in {folder}")
    } else {
        format!("{} in {folder}", counted(overview.sessions.len(), "session"))
    }
}

/// Returns a table of the newest conversations that were started without Segue.
fn unknown_table(unknown: &[UnknownConversation], now: Timestamp) -> TextTable {
    let mut table = TextTable::new(&["NOT KNOWN TO SEGUE YET", "SINCE", "BEGINS WITH"])
        .cutting(&[("BEGINS WITH", CutPlace::End)]);
    for conversation in unknown.iter().take(SHOWN_CONVERSATIONS) {
        table.row([
            TableCell::new(format!("{}:{}", conversation.vendor, conversation.vendor_session_id)),
            TableCell::new(age(conversation.began_at, now)),
            TableCell::new(one_line(conversation.begins.as_deref().unwrap_or("(nothing said)"))),
        ]);
    }
    table
}

fn next_steps(overview: &FolderOverview) -> Vec<String> {
    let mut steps = Vec::new();
    for session in overview.sessions.iter().filter(|session| asks(session)) {
        steps.push(question_hint(session));
    }
    for gate in &overview.gates {
        let PlanGateView { plan_name, task, text, command, .. } = gate;
        steps.push(format!("run `{command}`: {task} of the plan {plan_name} waits; it {text}"));
    }
    steps.extend(overview.sessions.iter().filter_map(repetition_hint));
    if let Some(count @ 1..) = overview.to_bring_back {
        let sessions = counted(count, "session");
        steps.push(format!("run `segue resume` to bring back {sessions}"));
    }
    match overview.unknown.as_slice() {
        [] => {}
        [only] => {
            let (vendor, id) = (&only.vendor, &only.vendor_session_id);
            steps.push(format!(
                "run `segue adopt {vendor}:{id}` to make that conversation a session"
            ));
        }
        _ => {
            steps.push(
                "run `segue adopt VENDOR:ID` to make one of them a session, `segue adopt` to see all"
                    .to_owned(),
            );
        }
    }
    if overview.sessions.is_empty() {
        steps.extend(first_steps(overview.project_file.is_some()));
    }
    if overview.sessions_elsewhere > 0 {
        let sessions = counted(overview.sessions_elsewhere, "session");
        steps.push(format!("run `segue ls` to see {sessions} in other folders"));
    }
    steps
}

fn first_steps(has_project: bool) -> Vec<String> {
    if has_project {
        return vec!["run `segue up` to start the agents of segue.toml".to_owned()];
    }
    vec![
        "run `segue run \"what is to be done\"` to start an agent".to_owned(),
        "run `segue init` to write a project file with several agents".to_owned(),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render::sessions::tests::session;

    fn overview(sessions: Vec<SessionView>) -> FolderOverview {
        let folder = PathBuf::from("/home/ann/shop");
        let (sessions_elsewhere, to_bring_back) = (0, None);
        let (gates, unknown) = (Vec::new(), Vec::new());
        FolderOverview {
            folder,
            project_file: None,
            sessions,
            sessions_elsewhere,
            to_bring_back,
            gates,
            unknown,
        }
    }

    #[test]
    fn gate_of_a_plan_gets_a_hint_with_what_its_approval_starts() {
        let mut some = overview(vec![session("a", "idle", None, 1)]);
        let gate = serde_json::json!({
            "plan": "0198f9d2-0000-7000-8000-000000000001", "plan_name": "release",
            "fleet": "shop", "folder": "/home/ann/shop", "task": "ship", "agent": "coder",
            "work": "Open a pull request.", "releases": ["announce"],
            "text": "starts the work of coder; announce after it",
            "since": "2026-01-02T03:11:12Z", "command": "segue plan approve shop/release ship",
        });
        some.gates = vec![serde_json::from_value(gate).unwrap()];
        let expected = "run `segue plan approve shop/release ship`: ship of the plan release \
                        waits; it starts the work of coder; announce after it";
        assert_eq!(next_steps(&some), [expected]);
    }

    #[test]
    fn next_steps_name_questions_sessions_to_resume_and_other_folders() {
        let mut some = overview(vec![
            session("coder", "waiting", Some("permission"), 1),
            session("busy", "working", None, 1),
        ]);
        some.sessions_elsewhere = 1;
        some.to_bring_back = Some(3);
        assert_eq!(
            next_steps(&some),
            [
                "run `segue attach shop/coder`: it asks for permission",
                "run `segue resume` to bring back 3 sessions",
                "run `segue ls` to see 1 session in other folders",
            ]
        );
        assert_eq!(next_steps(&overview(vec![session("a", "idle", None, 1)])), [""; 0]);
    }

    #[test]
    fn unknown_conversations_get_a_hint_with_the_adopt_command() {
        let conversation = |id: &str| -> UnknownConversation {
            serde_json::from_value(serde_json::json!({
                "vendor": "demo", "vendor_session_id": id, "began_at": "2026-01-02T03:11:12Z",
                "begins": null,
            }))
            .unwrap()
        };
        let mut some = overview(vec![session("a", "idle", None, 1)]);
        some.unknown = vec![conversation("abc")];
        let one = "run `segue adopt demo:abc` to make that conversation a session";
        assert_eq!(next_steps(&some), [one]);
        some.unknown.push(conversation("def"));
        let several =
            "run `segue adopt VENDOR:ID` to make one of them a session, `segue adopt` to see all";
        assert_eq!(next_steps(&some), [several]);
    }

    #[test]
    fn folder_without_sessions_gets_hints_for_the_first_start() {
        assert_eq!(
            next_steps(&overview(vec![])),
            [
                "run `segue run \"what is to be done\"` to start an agent",
                "run `segue init` to write a project file with several agents",
            ]
        );
        let with_project = FolderOverview { project_file: Some("x".into()), ..overview(vec![]) };
        assert_eq!(next_steps(&with_project), ["run `segue up` to start the agents of segue.toml"]);
    }

    #[test]
    fn heading_has_the_number_of_sessions() {
        let home = Some(Path::new("/home/ann"));
        assert_eq!(heading(&overview(vec![]), home), "no sessions in ~/shop");
        let one = overview(vec![session("a", "idle", None, 1)]);
        assert_eq!(heading(&one, home), "1 session in ~/shop");
    }

    #[test]
    fn sessions_in_the_folder_or_below_it_are_selected() {
        let all = vec![session("a", "idle", None, 1)];
        assert_eq!(in_folder(Path::new("/home/ann"), all.clone()).len(), 1);
        assert_eq!(in_folder(Path::new("/home/ann/shop"), all.clone()).len(), 1);
        assert_eq!(in_folder(Path::new("/home/ann/sho"), all).len(), 0);
    }
}
