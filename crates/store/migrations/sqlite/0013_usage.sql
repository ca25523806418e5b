-- The tokens that sessions have used, and how far the vendors' reports are counted.

-- One row for each part of a conversation that was counted at once. It stays when its session is
-- removed, so it has a copy of the columns by which usage is added up.
CREATE TABLE usage (
    session TEXT NOT NULL,
    at      TEXT NOT NULL, -- the time of the newest report
    fleet   TEXT NOT NULL,
    agent   TEXT,
    vendor  TEXT NOT NULL,
    input   INTEGER NOT NULL,
    cached  INTEGER NOT NULL,
    output  INTEGER NOT NULL,
    cost    INTEGER, -- billionths of a US dollar
    PRIMARY KEY (session, at)
) STRICT, WITHOUT ROWID;

CREATE INDEX usage_by_time ON usage (at);

-- The sum for each session, so that a list of sessions reads one row for each of them.
CREATE TABLE usage_totals (
    session TEXT NOT NULL PRIMARY KEY REFERENCES sessions (id) ON DELETE CASCADE,
    input   INTEGER NOT NULL,
    cached  INTEGER NOT NULL,
    output  INTEGER NOT NULL,
    cost    INTEGER
) STRICT, WITHOUT ROWID;

CREATE TABLE usage_cursors (
    session      TEXT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    conversation TEXT NOT NULL,
    source       TEXT NOT NULL,
    cursor       TEXT NOT NULL, -- JSON
    PRIMARY KEY (session, conversation, source)
) STRICT, WITHOUT ROWID;
