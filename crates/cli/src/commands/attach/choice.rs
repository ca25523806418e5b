//! Chooses the session for `segue attach` without a name.

use segue_core::api::{ListRequest, SessionView};
use segue_core::rules::attach::{self, AttachChoice, OpenTerminal};
use segue_core::{Error, Result};
use segue_server::client::Client;

use super::super::overview;
use crate::context::Context;
use crate::render::sessions::{address, asks, status};
use crate::render::style::TextTone;
use crate::render::table::{CutPlace, TableCell, TextTable};

/// Returns the id or the name of the session to attach to. Asks the user if several sessions are
/// possible. An error if no session has an open terminal.
pub(super) async fn choose(client: &Client, context: &mut Context) -> Result<String> {
    let sessions = client.list(&ListRequest::default()).await?.sessions;
    let folder = overview::project_folder(context.cwd());
    let open: Vec<OpenTerminal> = sessions
        .iter()
        .filter(|session| session.holder_pid.is_some() && !session.headless)
        .map(|session| OpenTerminal {
            id: session.session,
            needs_person: asks(session),
            is_here: session.cwd.starts_with(&folder),
        })
        .collect();
    match attach::choose(&open) {
        AttachChoice::One(id) => Ok(id.to_string()),
        AttachChoice::Nothing => Err(Error::not_found("no session with a terminal runs")
            .hint("run `segue run` to start an agent here")
            .hint("run `segue resume` to bring back sessions that do not run")),
        AttachChoice::Ask(ids) => {
            let listed = ids.iter().filter_map(|id| sessions.iter().find(|it| it.session == *id));
            ask(&listed.collect::<Vec<_>>(), context)
        }
    }
}

/// Prints a numbered list, and asks until the user enters a number of the list or a name.
fn ask(sessions: &[&SessionView], context: &mut Context) -> Result<String> {
    let mut table =
        TextTable::new(&["", "NAME", "VENDOR", "STATUS"]).cutting(&[("STATUS", CutPlace::End)]);
    for (number, session) in (1..).zip(sessions) {
        table.row([
            TableCell::new(format!("{number}")),
            TableCell::toned(address(session), TextTone::Strong),
            TableCell::new(session.vendor.as_str()),
            TableCell::new(status(session)),
        ]);
    }
    context.output.table(&table)?;
    loop {
        let Some(answer) = context.output.read_answer("which session? number or name: ")? else {
            return Err(Error::usage("no session was chosen"));
        };
        match parse_choice(sessions, &answer) {
            ChosenSession::Session(session) => return Ok(session),
            ChosenSession::Again => {
                context.output.note(&format!("use 1 to {}, or a name", sessions.len()));
            }
        }
    }
}

#[derive(Debug, PartialEq, Eq)]
enum ChosenSession {
    /// An id, or a name that the daemon has to look up.
    Session(String),
    Again,
}

/// Returns the session that the user chose, by the number of its row or by its name.
fn parse_choice(sessions: &[&SessionView], answer: &str) -> ChosenSession {
    let answer = answer.trim();
    // A number always means a row of the list, even if an agent has named a session with a number.
    match answer.parse::<usize>() {
        Ok(number) => {
            let place = number.checked_sub(1).and_then(|place| sessions.get(place));
            place.map_or(ChosenSession::Again, |session| {
                ChosenSession::Session(session.session.to_string())
            })
        }
        Err(_) if answer.is_empty() => ChosenSession::Again,
        Err(_) => ChosenSession::Session(answer.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render::sessions::tests::session;

    #[test]
    fn list_number_or_name_is_accepted_and_other_input_is_asked_again() {
        let (coder, one) = (session("coder", "idle", None, 1), session("1", "idle", None, 1));
        let listed = [&coder, &one];
        let id = ChosenSession::Session(coder.session.to_string());
        let table = [
            ("1\n", id),
            ("2", ChosenSession::Session(one.session.to_string())),
            ("3", ChosenSession::Again),
            ("0", ChosenSession::Again),
            ("-1", ChosenSession::Session("-1".to_owned())),
            (" \n", ChosenSession::Again),
            ("shop/coder", ChosenSession::Session("shop/coder".to_owned())),
        ];
        for (answer, expected) in table {
            assert_eq!(parse_choice(&listed, answer), expected, "{answer:?}");
        }
    }
}
