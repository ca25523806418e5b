//! The ids of sessions in the protocol: `segue://session/<id>`.

use segue_core::model::SessionId;
use segue_core::{Error, Result};

const PREFIX: &str = "segue://session/";

/// Returns the id that a program outside of Segue uses for a session. It never changes.
pub fn session_uri(session: SessionId) -> String {
    format!("{PREFIX}{session}")
}

/// Parses the id of a session, with or without the beginning of a URI.
pub(crate) fn parse(text: &str) -> Result<SessionId> {
    let id = text.strip_prefix(PREFIX).unwrap_or(text);
    id.parse().map_err(|_| {
        let shown: String = text.chars().take(80).collect();
        Error::not_found(format!("`{}` is not the id of a session", shown.escape_debug()))
            .hint(format!("the id of a session is `{PREFIX}` and its id in `segue ls --json`"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn id_is_accepted_as_a_uri_and_alone() {
        let id = "0190b5a0-0000-7000-8000-000000000001";
        let session = parse(id).unwrap();
        assert_eq!(session_uri(session), format!("segue://session/{id}"));
        assert_eq!(parse(&session_uri(session)).unwrap(), session);
        for wrong in ["", "fox", "segue://session/", "segue://session/fox", "http://session/x"] {
            assert_eq!(parse(wrong).unwrap_err().kind, segue_core::Kind::NotFound, "{wrong}");
        }
    }
}
