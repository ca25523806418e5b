//! The event log.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::DEFAULT_PAGE_SIZE;
use crate::error::{Error, Result};
use crate::model::SessionId;
use crate::ports::EventQuery;

/// A value for `after` that selects only events from now on.
pub const FROM_NOW: i64 = -1;

/// The query parameters of `GET /v1/events` and `GET /v1/events/follow`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct EventsQuery {
    /// Session ids, separated by commas. Empty for the events of all sessions.
    #[serde(default)]
    sessions: String,
    /// Only events after this sequence number.
    #[serde(default)]
    after: i64,
    /// At most this many events.
    #[serde(default = "default_limit")]
    limit: u32,
    /// If there are more than `limit` events, return the newest ones instead of the oldest ones.
    #[serde(default)]
    newest: bool,
}

fn default_limit() -> u32 {
    DEFAULT_PAGE_SIZE
}

impl EventsQuery {
    pub fn new(query: &EventQuery) -> Self {
        let EventQuery { after, sessions, limit, newest } = query;
        let ids: Vec<String> = sessions.iter().map(SessionId::to_string).collect();
        Self { sessions: ids.join(","), after: *after, limit: *limit, newest: *newest }
    }

    /// Selects all events after a sequence number, of these sessions or of all sessions.
    pub fn following(sessions: Option<String>, after: i64) -> Self {
        Self { sessions: sessions.unwrap_or_default(), after, limit: u32::MAX, newest: false }
    }

    /// Parses the session ids. Returns a usage error if one of them is invalid.
    pub fn parse(&self) -> Result<EventQuery> {
        let ids = self.sessions.split(',').filter(|id| !id.is_empty());
        let parse = |id: &str| {
            id.parse::<SessionId>().map_err(|error| {
                Error::usage(format!("`{id}` is not a session id")).caused_by(error)
            })
        };
        let sessions = ids.map(parse).collect::<Result<_>>()?;
        let Self { after, limit, newest, .. } = *self;
        Ok(EventQuery { after, sessions, limit, newest })
    }
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;

    #[test]
    fn events_query_is_parsed_to_the_query_that_it_was_made_from() {
        let sessions = vec![SessionId::new(Uuid::from_u128(1)), SessionId::new(Uuid::from_u128(2))];
        for sessions in [Vec::new(), sessions] {
            let query = EventQuery { after: FROM_NOW, sessions, limit: 7, newest: true };
            assert_eq!(EventsQuery::new(&query).parse().unwrap(), query);
        }
    }

    #[test]
    fn events_query_with_an_invalid_session_id_is_a_usage_error() {
        let query = EventsQuery { sessions: "x".to_owned(), after: 0, limit: 1, newest: false };
        assert_eq!(query.parse().unwrap_err().kind, crate::Kind::Usage);
    }
}
