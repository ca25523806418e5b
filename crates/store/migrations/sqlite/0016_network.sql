-- Requests over a network: the tokens of programs, and where the daemon listens.

CREATE TABLE tokens (
    id           TEXT NOT NULL PRIMARY KEY,
    name         TEXT NOT NULL UNIQUE,
    scopes       TEXT NOT NULL, -- JSON
    digest       TEXT NOT NULL, -- SHA-256 of the secret text, which is stored nowhere
    created_at   TEXT NOT NULL,
    expires_at   TEXT,
    last_used_at TEXT
) STRICT;

-- At most one row. Without it, the daemon does not listen.
CREATE TABLE listener (
    number   INTEGER NOT NULL PRIMARY KEY CHECK (number = 1),
    settings TEXT NOT NULL -- JSON
) STRICT;
