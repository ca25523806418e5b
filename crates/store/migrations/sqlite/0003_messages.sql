-- Messages to agents, and the project file's description of a vendor.

ALTER TABLE sessions ADD COLUMN description TEXT;

CREATE TABLE messages (
    id TEXT NOT NULL PRIMARY KEY,
    session TEXT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    text TEXT NOT NULL,
    -- The word alone, to search for; the whole of it is in the next column.
    state TEXT NOT NULL,
    detail TEXT NOT NULL,
    created_at TEXT NOT NULL,
    updated_at TEXT NOT NULL
) STRICT;

CREATE INDEX messages_by_session ON messages (session, created_at);
CREATE INDEX messages_open ON messages (session) WHERE state IN ('queued', 'typing');

CREATE TRIGGER messages_stay_settled
BEFORE UPDATE OF state, detail ON messages
WHEN OLD.state NOT IN ('queued', 'typing')
BEGIN
    SELECT RAISE(ABORT, 'a message that is settled stays so');
END;

CREATE TRIGGER messages_keep_their_text
BEFORE UPDATE OF id, session, text ON messages
BEGIN
    SELECT RAISE(ABORT, 'a message keeps its text');
END;
