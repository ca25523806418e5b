-- Handoffs of conversations from one session to another.

CREATE TABLE handoffs (
    seq INTEGER PRIMARY KEY,
    from_session TEXT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    to_session TEXT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    detail TEXT NOT NULL
) STRICT;

CREATE INDEX handoffs_from ON handoffs (from_session);
CREATE INDEX handoffs_to ON handoffs (to_session);
