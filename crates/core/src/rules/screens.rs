//! Decisions that every screen shares: what a status looks like, who needs a person first, and which
//! actions are possible. The terminal UI and other screens only draw them.

use crate::api::{MaybeKnown, SessionView};
use crate::model::{Repetition, StatusKind, WaitingFor};
use crate::rules::attention::Reason;

/// How much a text stands out. Each screen has a colour for it, and never uses the colour alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StatusTone {
    /// A person is needed.
    Attention,
    Busy,
    Plain,
    Dim,
    /// The process is gone, and the session can come back.
    Interrupted,
    Bad,
}

/// Returns the symbol of a status. An unknown status of a newer daemon has one, too.
pub fn symbol(status: Option<StatusKind>) -> &'static str {
    match status {
        Some(StatusKind::Waiting) => "▲",
        Some(StatusKind::Working) => "●",
        Some(StatusKind::Idle) => "○",
        Some(StatusKind::Starting) => "◌",
        Some(StatusKind::Interrupted) => "◇",
        Some(StatusKind::Ended) => "·",
        Some(StatusKind::Lost) => "✕",
        None => "?",
    }
}

/// Returns how much a status stands out.
pub fn tone(status: Option<StatusKind>) -> StatusTone {
    match status {
        Some(StatusKind::Waiting) => StatusTone::Attention,
        Some(StatusKind::Working) => StatusTone::Busy,
        Some(StatusKind::Idle) | None => StatusTone::Plain,
        Some(StatusKind::Starting | StatusKind::Ended) => StatusTone::Dim,
        Some(StatusKind::Interrupted) => StatusTone::Interrupted,
        Some(StatusKind::Lost) => StatusTone::Bad,
    }
}

/// Returns why a session needs a person now. A conversation that goes on in another session or in
/// another terminal needs none, and neither does a session that only waits to be brought back.
pub fn attention(session: &SessionView) -> Option<Reason> {
    if session.goes_on_as.is_some() || session.open_in.is_some() {
        return None;
    }
    match session.status.known()? {
        StatusKind::Lost => Some(Reason::Lost),
        // A reason that only a newer daemon knows is shown as a question.
        StatusKind::Waiting => match waiting_for(session).unwrap_or(WaitingFor::Question) {
            WaitingFor::Environment => None,
            reason => Some(Reason::Waiting(reason)),
        },
        StatusKind::Idle | StatusKind::Ended | StatusKind::Interrupted => {
            let class = session.last_failure.as_ref().map(|failure| failure.class);
            let failed = class.filter(|class| class.needs_person()).map(Reason::Failed);
            failed.or_else(|| repeats(session))
        }
        StatusKind::Starting | StatusKind::Working => repeats(session),
    }
}

fn repeats(session: &SessionView) -> Option<Reason> {
    session.repetition.as_ref().and_then(Repetition::needs_person).map(Reason::Repeats)
}

/// Sorts the sessions that need a person: first the agents that wait for an answer, then the
/// sessions that cannot go on. Of each kind, the session that waits longest is first.
pub fn sort_by_attention(sessions: &mut [(Reason, &SessionView)]) {
    let urgency = |reason: Reason| match reason {
        Reason::Waiting(what) if what.needs_answer() => 0,
        Reason::Waiting(_) => 1,
        Reason::Failed(_) | Reason::Repeats(_) | Reason::Lost => 2,
    };
    sessions.sort_by_key(|(reason, view)| (urgency(*reason), view.updated_at, view.session));
}

/// Something that a person can do with one session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SessionAction {
    Attach,
    Send,
    Answer,
    Interrupt,
    Rename,
    Stop,
    Resume,
    HandOver,
    Review,
}

/// Returns why an action is not possible now, as a sentence about the session. `None` if it is
/// possible. The daemon decides in the end: the session may have changed meanwhile.
pub fn obstacle(action: SessionAction, session: &SessionView) -> Option<String> {
    let name = &session.name;
    if let Some(next) = &session.goes_on_as
        && !matches!(action, SessionAction::Review | SessionAction::Rename)
    {
        return Some(format!("{name} was handed over: it goes on as {next}"));
    }
    let is_live = is_live(session);
    let needs_life =
        || (!is_live).then(|| format!("{name} does not run ({}): resume it first", session.status));
    match action {
        SessionAction::Attach if session.headless => {
            Some(format!("{name} is headless: it has no terminal"))
        }
        SessionAction::Attach => needs_life(),
        SessionAction::Interrupt => needs_life().or_else(|| {
            let is_working = session.status.known() == Some(StatusKind::Working);
            (!is_working).then(|| format!("{name} does not work now: it is {}", session.status))
        }),
        SessionAction::Rename => None,
        // A headless session is stopped between its turns, too.
        SessionAction::Stop if session.headless => None,
        SessionAction::Stop => {
            (!is_live).then(|| format!("{name} does not run ({})", session.status))
        }
        SessionAction::Resume => is_live.then(|| format!("{name} runs already")),
        SessionAction::Answer => (session.dialog.is_none() && !asks(session))
            .then(|| format!("{name} asks nothing that could be answered")),
        SessionAction::Send => None,
        SessionAction::HandOver => session
            .vendor_session_id
            .is_none()
            .then(|| format!("{name} has no conversation yet that could be handed over")),
        SessionAction::Review => session
            .worktree
            .is_none()
            .then(|| format!("{name} has no worktree of its own: there is no diff to show")),
    }
}

/// Returns whether the process of a session is expected to be alive.
pub fn is_live(session: &SessionView) -> bool {
    match session.status.known() {
        Some(StatusKind::Starting | StatusKind::Working | StatusKind::Idle) => true,
        Some(StatusKind::Waiting) => asks(session),
        Some(StatusKind::Interrupted | StatusKind::Ended | StatusKind::Lost) => false,
        None => session.pid.is_some(),
    }
}

/// Returns whether a session asks a question on its terminal. A session that waits to be started
/// does not.
pub fn asks(session: &SessionView) -> bool {
    session.status.known() == Some(StatusKind::Waiting)
        && waiting_for(session).is_none_or(WaitingFor::needs_answer)
}

fn waiting_for(session: &SessionView) -> Option<WaitingFor> {
    session.waiting_for.as_ref().and_then(MaybeKnown::known)
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;
    use serde_json::json;

    use super::*;
    use crate::model::{Failure, FailureClass, RepetitionKind};

    fn session(status: &str, waiting_for: Option<&str>) -> SessionView {
        serde_json::from_value(json!({
            "session": "0198f9d2-0000-7000-8000-000000000001",
            "id": "0198f9d2-0000-7000-8000-000000000001",
            "name": "coder", "fleet": "shop", "address": "shop/coder",
            "agent": null, "vendor": "x", "vendor_session_id": "1", "evidence": null,
            "status": status, "waiting_for": waiting_for, "status_detail": null,
            "cwd": "/shop", "worktree": null, "branch": null, "headless": false, "pid": null,
            "holder_pid": null, "launches": 1,
            "created_at": "2026-01-01T00:00:00Z", "updated_at": "2026-01-01T00:00:00Z",
        }))
        .unwrap()
    }

    #[test]
    fn every_status_has_a_symbol_of_its_own() {
        let mut symbols: Vec<&str> = StatusKind::ALL.iter().map(|it| symbol(Some(*it))).collect();
        symbols.push(symbol(None));
        let count = symbols.len();
        symbols.sort_unstable();
        symbols.dedup();
        assert_eq!(symbols.len(), count);
    }

    #[test]
    fn person_is_needed_for_questions_choices_failures_and_lost_conversations() {
        let waits = |what| Some(Reason::Waiting(what));
        let failed = |status: &str, class: &str| {
            let class = FailureClass::from_word(class).unwrap();
            let failure = Failure { class, message: String::new(), resets_at: None };
            SessionView { last_failure: Some(failure), ..session(status, None) }
        };
        let repeats = |status: &str, is_known| {
            let (kind, what) = (RepetitionKind::ToolCalls, "`shell ls`".to_owned());
            let (since, other) = (Timestamp::UNIX_EPOCH, None);
            let repetition = Repetition { kind, what, times: 10, since, other, is_known };
            SessionView { repetition: Some(repetition), ..session(status, None) }
        };
        let table = [
            (session("waiting", Some("permission")), waits(WaitingFor::Permission)),
            (session("waiting", Some("choice")), waits(WaitingFor::Choice)),
            (session("waiting", Some("new reason")), waits(WaitingFor::Question)),
            (session("waiting", Some("environment")), None),
            (session("lost", None), Some(Reason::Lost)),
            (failed("idle", "usage_limit"), Some(Reason::Failed(FailureClass::UsageLimit))),
            (failed("ended", "account"), Some(Reason::Failed(FailureClass::Account))),
            (failed("idle", "service"), None),
            (failed("working", "usage_limit"), None),
            (session("interrupted", None), None),
            (session("working", None), None),
            (repeats("working", false), Some(Reason::Repeats(RepetitionKind::ToolCalls))),
            (repeats("idle", false), Some(Reason::Repeats(RepetitionKind::ToolCalls))),
            (repeats("working", true), None),
            (session("dreaming", None), None),
            (
                SessionView {
                    goes_on_as: Some("shop/b".to_owned()),
                    ..session("waiting", Some("choice"))
                },
                None,
            ),
        ];
        for (session, expected) in table {
            assert_eq!(attention(&session), expected, "{} {:?}", session.status, expected);
        }
    }

    #[test]
    fn agents_that_wait_for_an_answer_come_first_and_the_longest_waiting_leads() {
        let at = |text: &str, view: SessionView| SessionView {
            updated_at: text.parse().unwrap(),
            ..view
        };
        let lost = at("2026-01-01T00:00:00Z", session("lost", None));
        let choice = at("2026-01-01T00:00:00Z", session("waiting", Some("choice")));
        let late = at("2026-01-02T00:00:00Z", session("waiting", Some("permission")));
        let early = at("2026-01-01T12:00:00Z", session("waiting", Some("question")));
        let all = [&lost, &choice, &late, &early];
        let mut sorted: Vec<_> = all.map(|it| (attention(it).unwrap(), it)).to_vec();
        sort_by_attention(&mut sorted);
        let order: Vec<&SessionView> = sorted.into_iter().map(|(_, view)| view).collect();
        assert_eq!(order, [&early, &late, &choice, &lost]);
    }

    #[test]
    fn possible_actions_depend_on_the_status() {
        use SessionAction::{
            Answer, Attach, HandOver, Interrupt, Rename, Resume, Review, Send, Stop,
        };
        let all = [Attach, Send, Answer, Interrupt, Rename, Stop, Resume, HandOver, Review];
        let possible = |view: &SessionView| -> Vec<SessionAction> {
            all.into_iter().filter(|it| obstacle(*it, view).is_none()).collect()
        };
        let headless = SessionView { headless: true, ..session("idle", None) };
        let handed = SessionView { goes_on_as: Some("b".to_owned()), ..session("ended", None) };
        let fresh = SessionView { vendor_session_id: None, ..session("starting", None) };
        let tree = SessionView { worktree: Some("/w".into()), ..session("ended", None) };
        let asks = session("waiting", Some("permission"));
        let table: [(SessionView, &[SessionAction]); 8] = [
            (session("working", None), &[Attach, Send, Interrupt, Rename, Stop, HandOver]),
            (asks, &[Attach, Send, Answer, Rename, Stop, HandOver]),
            (session("interrupted", None), &[Send, Rename, Resume, HandOver]),
            (session("waiting", Some("environment")), &[Send, Rename, Resume, HandOver]),
            (headless, &[Send, Rename, Stop, HandOver]),
            (handed, &[Rename]),
            (fresh, &[Attach, Send, Rename, Stop]),
            (tree, &[Send, Rename, Resume, HandOver, Review]),
        ];
        for (view, expected) in table {
            assert_eq!(possible(&view), expected, "{} {:?}", view.status, view.waiting_for);
        }
    }
}
