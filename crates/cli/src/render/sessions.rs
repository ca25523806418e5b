//! Sessions in a table: name, vendor, status, since, where.

use std::path::Path;

use jiff::Timestamp;
use segue_core::api::SessionView;
use segue_core::rules::dialog;
pub(crate) use segue_core::rules::display::counted;

use super::style::Tone;
use super::table::{Cell, Cut, Table};
use super::time::since;

/// What a table of sessions is drawn against.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Surroundings<'a> {
    pub(crate) now: Timestamp,
    pub(crate) home: Option<&'a Path>,
}

/// Returns the table of `segue ls`.
pub(crate) fn table(sessions: &[SessionView], surroundings: Surroundings<'_>) -> Table {
    let mut table = Table::new(&["NAME", "VENDOR", "STATUS", "SINCE", "WHERE"])
        .cutting(&[("WHERE", Cut::Front), ("STATUS", Cut::End)]);
    for session in sessions {
        table.row([
            Cell::toned(address(session), Tone::Strong),
            Cell::new(session.vendor.as_str()),
            Cell::toned(status(session), tone(&session.status)),
            Cell::new(since(session.updated_at, surroundings.now)),
            Cell::new(place(&session.cwd, surroundings.home)),
        ]);
    }
    table
}

/// Returns `fleet/name`.
pub(crate) fn address(session: &SessionView) -> String {
    session.address.clone()
}

/// Returns the command that answers what a session asks, and the question.
pub(crate) fn asking(session: &SessionView) -> String {
    let name = address(session);
    let what = session.status_detail.as_deref().unwrap_or("something");
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

/// Tells whether a session shows a question on its terminal.
pub(crate) fn asks(session: &SessionView) -> bool {
    let needs_resume = matches!(session.status_detail.as_deref(), Some("environment" | "choice"));
    session.status == "waiting" && !needs_resume
}

/// At most this many sessions are named in one command.
const NAMED: usize = 5;

/// Returns the commands that start sessions which wait for that, with the reason.
pub(crate) fn to_start(sessions: &[SessionView]) -> Vec<String> {
    let waiting = |detail: &str| -> Vec<String> {
        let waits = |it: &&SessionView| {
            it.status == "waiting" && it.status_detail.as_deref() == Some(detail)
        };
        sessions.iter().filter(waits).map(address).collect()
    };
    let mut steps = Vec::new();
    match waiting("environment").as_slice() {
        [] => {}
        [only] => {
            steps.push(format!("run `segue resume {only}` to start it with your environment"));
        }
        some if some.len() <= NAMED => {
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
    for name in waiting("choice").iter().take(NAMED) {
        steps.push(format!(
            "run `segue log {name}` to see why it ended at once, `segue resume {name}` to try again"
        ));
    }
    steps
}

/// Returns a folder, with `~` for the home folder.
pub(crate) fn place(folder: &Path, home: Option<&Path>) -> String {
    // Every folder is below an empty path.
    let home = home.filter(|home| home.is_absolute());
    let below = home.and_then(|home| folder.strip_prefix(home).ok());
    match below {
        Some(rest) if rest.as_os_str().is_empty() => "~".to_owned(),
        Some(rest) => format!("~/{}", rest.display()),
        None => folder.display().to_string(),
    }
}

/// Returns the status with its detail.
pub(crate) fn status(session: &SessionView) -> String {
    match &session.status_detail {
        Some(detail) => format!("{} ({detail})", session.status),
        None => session.status.clone(),
    }
}

fn tone(status: &str) -> Tone {
    match status {
        "working" => Tone::Good,
        "waiting" => Tone::Attention,
        "lost" => Tone::Bad,
        "ended" => Tone::Faint,
        _ => Tone::Plain,
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
        serde_json::from_value(json!({
            "session": "0198f9d2-0000-7000-8000-000000000001",
            "id": "0198f9d2-0000-7000-8000-000000000001",
            "name": name, "fleet": "shop", "address": format!("shop/{name}"),
            "agent": null, "vendor": "demo", "vendor_session_id": null, "evidence": null,
            "status": status, "status_detail": detail, "cwd": "/home/ann/shop", "worktree": null,
            "branch": null, "headless": false, "pid": null, "holder_pid": null, "launches": 1,
            "created_at": at, "updated_at": at,
        }))
        .unwrap()
    }

    fn surroundings() -> Surroundings<'static> {
        Surroundings {
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
        assert_eq!(table(&sessions, surroundings()).render(Colour::Off, None), expected);
    }

    #[test]
    fn sessions_that_wait_to_be_started_come_with_the_command() {
        let waits = |name: &str, detail| session(name, "waiting", Some(detail), 1);
        assert_eq!(to_start(&[waits("a", "permission"), session("b", "idle", None, 1)]), [""; 0]);
        let expected = [
            "run `segue resume shop/a shop/b` to start them with your environment",
            "run `segue log shop/c` to see why it ended at once, `segue resume shop/c` to try again",
        ];
        let some = [waits("a", "environment"), waits("c", "choice"), waits("b", "environment")];
        assert_eq!(to_start(&some), expected);
        let one = "run `segue resume shop/a` to start it with your environment";
        assert_eq!(to_start(&some[..1]), [one]);
        let many: Vec<SessionView> =
            (0..6).map(|number| waits(&format!("a{number}"), "environment")).collect();
        assert!(to_start(&many)[0].starts_with("run `segue resume --all` to start 6 sessions"));
    }

    #[test]
    fn only_the_home_folder_itself_becomes_a_tilde() {
        let home = Some(Path::new("/home/ann"));
        assert_eq!(place(Path::new("/home/ann"), home), "~");
        assert_eq!(place(Path::new("/home/ann/x/y"), home), "~/x/y");
        assert_eq!(place(Path::new("/home/ann"), Some(Path::new(""))), "/home/ann");
        assert_eq!(place(Path::new("/home/anna/x"), home), "/home/anna/x");
        assert_eq!(place(Path::new("/x"), None), "/x");
    }

    #[test]
    fn one_is_not_plural() {
        assert_eq!(counted(1, "session"), "1 session");
        assert_eq!(counted(0, "session"), "0 sessions");
    }
}
