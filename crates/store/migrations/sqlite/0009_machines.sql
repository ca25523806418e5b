-- The machine on which a launch was started. Null in launches that are older than this column: they
-- count as launches of the machine that has the store.
--
-- The table is rebuilt, so that the column comes before the long columns.

CREATE TABLE launches_with_machine (
    id             TEXT NOT NULL PRIMARY KEY,
    session        TEXT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    number         INTEGER NOT NULL,
    mode           TEXT NOT NULL,
    created_at     TEXT NOT NULL,
    machine        TEXT,
    holder         TEXT, -- JSON
    agent          TEXT, -- JSON
    ended          TEXT, -- JSON; null while the launch is open
    planned        TEXT,
    vendor_version TEXT,
    git_commit     TEXT,
    program        ANY NOT NULL,
    cwd            ANY NOT NULL,
    environment    TEXT NOT NULL, -- JSON
    argv           TEXT NOT NULL, -- JSON
    message        TEXT,
    UNIQUE (session, id)
) STRICT;

INSERT INTO launches_with_machine (
    rowid, id, session, number, mode, created_at, holder, agent, ended, planned, vendor_version,
    git_commit, program, cwd, environment, argv, message
)
SELECT
    rowid, id, session, number, mode, created_at, holder, agent, ended, planned, vendor_version,
    git_commit, program, cwd, environment, argv, message
FROM launches ORDER BY rowid;

DROP TABLE launches;

ALTER TABLE launches_with_machine RENAME TO launches;

CREATE INDEX launches_by_number ON launches (session, number);

CREATE UNIQUE INDEX launches_one_open ON launches (session) WHERE ended IS NULL;

CREATE TRIGGER launches_keep_their_first_end
BEFORE UPDATE OF ended ON launches WHEN OLD.ended IS NOT NULL
BEGIN
    SELECT RAISE(ABORT, 'a launch keeps its first end');
END;
