-- Which conversation went on under which other session.

CREATE TABLE handoffs (
    seq INTEGER PRIMARY KEY,
    from_session TEXT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    to_session TEXT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    detail TEXT NOT NULL
) STRICT;

CREATE INDEX handoffs_from ON handoffs (from_session);
CREATE INDEX handoffs_to ON handoffs (to_session);
