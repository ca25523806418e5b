//! The event log.

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::model::SessionId;
use crate::ports::EventQuery;

/// In place of a sequence number: only what happens from now on.
pub const FROM_NOW: i64 = -1;

/// The query of `GET /v1/events` and `GET /v1/events/follow`: which events.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EventsQuery {
    /// Ids with commas between them; the events of all sessions if there are none.
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

    /// Parses the ids. A usage error if one of them is not a session id.
    pub fn read(&self) -> Result<EventQuery> {
        let ids = self.sessions.split(',').filter(|id| !id.is_empty());
        let read = |id: &str| {
            id.parse::<SessionId>().map_err(|error| {
                Error::usage(format!("`{id}` is not a session id")).caused_by(error)
            })
        };
        let sessions = ids.map(read).collect::<Result<_>>()?;
        let Self { after, limit, newest, .. } = *self;
        Ok(EventQuery { after, sessions, limit, newest })
    }
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;

    #[test]
    fn events_query_is_read_back_as_it_was_written() {
        let sessions = vec![SessionId::new(Uuid::from_u128(1)), SessionId::new(Uuid::from_u128(2))];
        for sessions in [Vec::new(), sessions] {
            let query = EventQuery { after: FROM_NOW, sessions, limit: 7, newest: true };
            assert_eq!(EventsQuery::new(&query).read().unwrap(), query);
        }
    }

    #[test]
    fn events_query_with_another_text_than_ids_is_a_usage_error() {
        let query = EventsQuery { sessions: "x".to_owned(), after: 0, limit: 1, newest: false };
        assert_eq!(query.read().unwrap_err().kind, crate::Kind::Usage);
    }
}
