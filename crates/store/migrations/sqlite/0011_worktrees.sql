-- Worktrees that Segue has made for agents. A record outlives the folder, so that the folder can be
-- made again.

CREATE TABLE worktrees (
    id         TEXT NOT NULL PRIMARY KEY,
    path       ANY NOT NULL UNIQUE,
    -- The session that works there.
    session    TEXT REFERENCES sessions (id) ON DELETE SET NULL,
    agent      TEXT NOT NULL,
    branch     TEXT NOT NULL,
    port       INTEGER NOT NULL UNIQUE,
    source     TEXT NOT NULL, -- JSON
    -- The only host for which git gets credentials.
    remote_host TEXT,
    beginning  TEXT NOT NULL, -- JSON
    removal    TEXT, -- JSON; null while the folder exists
    created_at TEXT NOT NULL
) STRICT;

CREATE UNIQUE INDEX worktrees_by_session ON worktrees (session) WHERE session IS NOT NULL;
