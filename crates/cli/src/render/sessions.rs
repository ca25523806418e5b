//! Renders sessions: the table of `segue ls`, single fields, and hints about sessions.

use std::path::Path;

use jiff::Timestamp;
use segue_core::api::{MaybeKnown, SessionView};
use segue_core::model::{RepetitionKind, StatusKind, WaitingFor};
use segue_core::rules::attention::{self, Reason};
pub(crate) use segue_core::rules::display::{counted, place};
pub(crate) use segue_core::rules::screens::asks;
use segue_core::rules::{dialog, screens};

use super::plain::one_line;
use super::style::TextTone;
use super::table::{CutPlace, TableCell, TextTable};
use super::time::age;

/// The current time and the user's home folder, which are needed to render times and paths.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DisplayContext<'a> {
    pub(crate) now: Timestamp,
    pub(crate) home: Option<&'a Path>,
}

/// Returns the table of `segue ls`.
pub(crate) fn table(sessions: &[SessionView], display: DisplayContext<'_>) -> TextTable {
    let mut table = TextTable::new(&["NAME", "VENDOR", "STATUS", "SINCE", "WHERE"])
        .cutting(&[("WHERE", CutPlace::Front), ("STATUS", CutPlace::End)]);
    for session in sessions {
        table.row([
            TableCell::toned(address(session), TextTone::Strong),
            TableCell::new(session.vendor.as_str()),
            TableCell::toned(status(session), tone(session.status.known())),
            TableCell::new(age(session.updated_at, display.now)),
            TableCell::new(place(&session.cwd, display.home)),
        ]);
    }
    table
}

/// Returns `fleet/name`.
pub(crate) fn address(session: &SessionView) -> String {
    session.address.clone()
}

/// Returns a hint for a session whose work repeats itself without a person. `None` for other sessions.
pub(crate) fn repetition_hint(session: &SessionView) -> Option<String> {
    let reason = screens::attention(session).filter(|it| matches!(it, Reason::Repeats(_)))?;
    let repetition = session.repetition.as_ref()?;
    let (command, what) = (attention::command(reason, session), one_line(&repetition.summary()));
    Some(match repetition.kind {
        RepetitionKind::ToolCalls => format!("run `{command}`: it repeats {what}"),
        RepetitionKind::Messages => format!("run `{command}` to let it go on: {what}"),
    })
}

/// Returns a hint for a session that asks a question: the command that answers it, and the
/// question.
pub(crate) fn question_hint(session: &SessionView) -> String {
    let name = address(session);
    let what = session.status_detail.as_deref().unwrap_or("an answer");
    match &session.dialog {
        Some(dialog) if dialog.question.is_empty() => {
            format!("{}: {name} asks for {what}", dialog::hint(dialog))
        }
        Some(dialog) => {
            let asked = dialog::summary(&dialog.question, &dialog.choices);
            format!("{}: {name} asks for {what}: {asked}", dialog::hint(dialog))
        }
        None => format!("run `segue attach {name}`: it asks for {what}"),
    }
}

fn waiting_for(session: &SessionView) -> Option<WaitingFor> {
    session.waiting_for.as_ref().and_then(MaybeKnown::known)
}

/// Returns whether a session is to be started here. A conversation that goes on in another session
/// or in another terminal is not.
fn is_startable_here(session: &SessionView) -> bool {
    session.goes_on_as.is_none() && session.open_in.is_none()
}

/// Returns whether a session needs the user's command to run again.
fn needs_resume(session: &SessionView) -> bool {
    session.status.known() == Some(StatusKind::Interrupted)
        || waiting_for(session) == Some(WaitingFor::Environment)
}

/// Hints and notes name at most this many sessions.
pub(crate) const NAMED_SESSIONS: usize = 5;

/// Returns hints for sessions that are to be started: they were interrupted, they need the user's
/// environment, their agent ended at once, or their conversation is lost.
pub(crate) fn start_hints(sessions: &[SessionView]) -> Vec<String> {
    let which = |is_meant: fn(&SessionView) -> bool| -> Vec<String> {
        sessions.iter().filter(|it| is_startable_here(it) && is_meant(it)).map(address).collect()
    };
    let mut steps = Vec::new();
    match which(needs_resume).as_slice() {
        [] => {}
        [only] => {
            steps.push(format!("run `segue resume {only}` to start it with your environment"));
        }
        some if some.len() <= NAMED_SESSIONS => {
            let names = some.join(" ");
            steps.push(format!("run `segue resume {names}` to start them with your environment"));
        }
        many => {
            let count = counted(many.len(), "session");
            steps.push(format!(
                "run `segue resume --all` to start {count} with your environment, and whatever else \
                 does not run"
            ));
        }
    }
    let waits_for_choice = |it: &SessionView| waiting_for(it) == Some(WaitingFor::Choice);
    for name in which(waits_for_choice).iter().take(NAMED_SESSIONS) {
        steps.push(format!(
            "run `segue log {name}` to see why it ended at once, `segue resume {name}` to try again"
        ));
    }
    let is_lost = |it: &SessionView| it.status.known() == Some(StatusKind::Lost);
    for name in which(is_lost).iter().take(NAMED_SESSIONS) {
        steps.push(format!("run `segue resume {name}` to see what is missing and what to do"));
    }
    steps
}

/// Returns the status with its detail.
pub(crate) fn status(session: &SessionView) -> String {
    match &session.status_detail {
        Some(detail) => format!("{} ({detail})", session.status),
        None => session.status.to_string(),
    }
}

fn tone(status: Option<StatusKind>) -> TextTone {
    match status {
        Some(StatusKind::Working) => TextTone::Good,
        Some(StatusKind::Waiting | StatusKind::Interrupted) => TextTone::Attention,
        Some(StatusKind::Lost) => TextTone::Bad,
        Some(StatusKind::Ended) => TextTone::Faint,
        Some(StatusKind::Starting | StatusKind::Idle) | None => TextTone::Plain,
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use serde_json::json;

    use super::*;
    use crate::render::style::Colour;

    pub(crate) const NOW: i64 = 1_767_323_472;

    /// Makes a session whose status changed `age` seconds before [`NOW`].
    pub(crate) fn session(name: &str, status: &str, detail: Option<&str>, age: i64) -> SessionView {
        let at = Timestamp::from_second(NOW - age).unwrap();
        let waiting_for = detail.filter(|_| status == "waiting");
        serde_json::from_value(json!({
            "session": "0198f9d2-0000-7000-8000-000000000001",
            "id": "0198f9d2-0000-7000-8000-000000000001",
            "name": name, "fleet": "shop", "address": format!("shop/{name}"),
            "agent": null, "vendor": "demo", "vendor_session_id": null, "evidence": null,
            "status": status, "waiting_for": waiting_for, "status_detail": detail,
            "cwd": "/home/ann/shop", "worktree": null,
            "branch": null, "headless": false, "pid": null, "holder_pid": null, "launches": 1,
            "created_at": at, "updated_at": at,
        }))
        .unwrap()
    }

    fn display() -> DisplayContext<'static> {
        DisplayContext {
            now: Timestamp::from_second(NOW).unwrap(),
            home: Some(Path::new("/home/ann")),
        }
    }

    #[test]
    fn a_session_shows_name_vendor_status_since_and_where() {
        let sessions = [
            session("coder", "working", None, 200),
            session("reviewer", "waiting", Some("permission"), 5),
            session("tester", "ended", Some("crashed: signal 9"), 90_000),
        ];
        let expected = "\
NAME           VENDOR  STATUS                     SINCE  WHERE
shop/coder     demo    working                    3m     ~/shop
shop/reviewer  demo    waiting (permission)       5s     ~/shop
shop/tester    demo    ended (crashed: signal 9)  1d     ~/shop
";
        assert_eq!(table(&sessions, display()).render(Colour::Off, None), expected);
    }

    #[test]
    fn sessions_that_wait_to_be_started_get_a_hint_with_the_command() {
        let waits = |name: &str, detail| session(name, "waiting", Some(detail), 1);
        assert_eq!(
            start_hints(&[waits("a", "permission"), session("b", "idle", None, 1)]),
            [""; 0]
        );
        let expected = [
            "run `segue resume shop/a shop/b` to start them with your environment",
            "run `segue log shop/c` to see why it ended at once, `segue resume shop/c` to try again",
            "run `segue resume shop/d` to see what is missing and what to do",
        ];
        let interrupted = |name: &str| session(name, "interrupted", None, 1);
        let lost = session("d", "lost", None, 1);
        let some = [interrupted("a"), waits("c", "choice"), waits("b", "environment"), lost];
        assert_eq!(start_hints(&some), expected);
        let one = "run `segue resume shop/a` to start it with your environment";
        assert_eq!(start_hints(&some[..1]), [one]);
        let many: Vec<SessionView> =
            (0..6).map(|number| interrupted(&format!("a{number}"))).collect();
        assert!(start_hints(&many)[0].starts_with("run `segue resume --all` to start 6 sessions"));
    }

    #[test]
    fn session_that_goes_on_elsewhere_neither_asks_nor_waits_to_be_started() {
        let waits = session("a", "waiting", Some("choice"), 1);
        assert!(!asks(&waits) && start_hints(std::slice::from_ref(&waits)).len() == 1);
        let detail = Some("open elsewhere: process 7 (agent)".to_owned());
        let open = SessionView { open_in: Some(7), status_detail: detail, ..waits.clone() };
        let handed_over = SessionView { goes_on_as: Some("shop/b".to_owned()), ..waits };
        for session in [open, handed_over] {
            assert!(!asks(&session) && start_hints(&[session]).is_empty());
        }
    }

    #[test]
    fn words_of_a_newer_daemon_are_shown_as_they_are() {
        let new = session("a", "dreaming", Some("of sheep"), 1);
        assert_eq!((status(&new).as_str(), asks(&new)), ("dreaming (of sheep)", false));
        assert_eq!(tone(new.status.known()), TextTone::Plain);
        let waits = session("a", "waiting", Some("new reason"), 1);
        assert_eq!((status(&waits).as_str(), asks(&waits)), ("waiting (new reason)", true));
    }

    #[test]
    fn counted_uses_the_singular_for_one_only() {
        assert_eq!(counted(1, "session"), "1 session");
        assert_eq!(counted(0, "session"), "0 sessions");
    }
}
