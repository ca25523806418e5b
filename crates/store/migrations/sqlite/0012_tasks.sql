-- Tasks, in the order of the queue, and the conversations about issues.

CREATE TABLE tasks (
    place      INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    id         TEXT NOT NULL UNIQUE,
    key        TEXT UNIQUE,
    fleet      TEXT NOT NULL,
    agent      TEXT NOT NULL,
    repository TEXT,
    issue      TEXT,
    parent     TEXT,
    session    TEXT REFERENCES sessions (id) ON DELETE SET NULL,
    -- Only the word, for queries. The column `detail` has the whole state.
    state      TEXT NOT NULL,
    detail     TEXT NOT NULL, -- JSON
    task_order TEXT NOT NULL, -- JSON
    progress   TEXT NOT NULL, -- JSON
    attempts   INTEGER NOT NULL,
    created_at TEXT NOT NULL,
    started_at TEXT,
    ended_at   TEXT,
    result     TEXT -- JSON
) STRICT;

CREATE INDEX tasks_by_state ON tasks (state, place);
CREATE INDEX tasks_by_agent ON tasks (fleet, agent, place);
CREATE INDEX tasks_by_session ON tasks (session) WHERE session IS NOT NULL;
CREATE INDEX tasks_by_parent ON tasks (parent) WHERE parent IS NOT NULL;
CREATE INDEX tasks_by_issue ON tasks (repository, issue) WHERE issue IS NOT NULL;

CREATE TRIGGER tasks_keep_their_identity
BEFORE UPDATE OF place, id, key, created_at ON tasks
BEGIN
    SELECT RAISE(ABORT, 'a task keeps its identity');
END;

CREATE TABLE issue_sessions (
    fleet      TEXT NOT NULL,
    agent      TEXT NOT NULL,
    repository TEXT NOT NULL,
    issue      TEXT NOT NULL,
    session    TEXT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    PRIMARY KEY (fleet, agent, repository, issue)
) STRICT;
