//! The event log.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::model::SessionId;
use crate::ports::EventQuery;

/// A value for `after` that selects only events from now on.
pub const FROM_NOW: i64 = -1;

/// The query parameters of `GET /v1/events` and `GET /v1/events/follow`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct EventsQuery {
    /// Session ids, separated by commas. Empty for the events of all sessions.
    sessions: String,
    after: i64,
    limit: u32,
    newest: bool,
}

impl EventsQuery {
    pub fn new(query: &EventQuery) -> Self {
        let EventQuery { after, sessions, limit, newest } = query;
        let ids: Vec<String> = sessions.iter().map(SessionId::to_string).collect();
        Self { sessions: ids.join(","), after: *after, limit: *limit, newest: *newest }
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
