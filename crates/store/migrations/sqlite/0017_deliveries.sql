-- Deliveries of forges, the issues on which agents work, and comments that are to be written.

CREATE TABLE deliveries (
    place       INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    id          TEXT NOT NULL UNIQUE,
    source      TEXT NOT NULL,
    forge_id    TEXT,
    digest      TEXT NOT NULL, -- SHA-256 of the body
    event       TEXT,
    received_at TEXT NOT NULL,
    -- Only the word, for queries. The column `detail` has the whole state.
    state       TEXT NOT NULL,
    detail      TEXT NOT NULL, -- JSON
    bytes       INTEGER NOT NULL,
    headers     TEXT NOT NULL, -- JSON, without secrets
    body        BLOB NOT NULL,
    UNIQUE (source, digest)
) STRICT;

CREATE UNIQUE INDEX deliveries_by_forge_id ON deliveries (source, forge_id)
WHERE forge_id IS NOT NULL;
CREATE INDEX deliveries_by_state ON deliveries (state, source, place);
CREATE INDEX deliveries_by_time ON deliveries (received_at);

CREATE TABLE tracked_issues (
    source     TEXT NOT NULL,
    repository INTEGER NOT NULL, -- the id on the forge
    subject    TEXT NOT NULL, -- JSON
    record     TEXT NOT NULL, -- JSON
    PRIMARY KEY (source, repository, subject)
) STRICT;

CREATE TABLE replies (
    place  INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    id     TEXT NOT NULL UNIQUE,
    state  TEXT NOT NULL,
    record TEXT NOT NULL -- JSON
) STRICT;

CREATE INDEX replies_by_state ON replies (state, place);
