-- Fewer pages for each new task, because a commit writes every page that it changes.
--
-- - A task without a key is in no index of keys.
-- - Tasks are never deleted. So a new row id is greater than all others without the table in which
--   SQLite counts the row ids of an AUTOINCREMENT column.
-- - No query finds tasks by fleet and agent alone.
--
-- The long columns come last, so that reading the other columns does not read their overflow pages.
-- Lists for people show only the beginning of a prompt. It is a column of its own, because an order
-- would have to be read and parsed for it.

CREATE TABLE tasks_in_few_pages (
    place      INTEGER NOT NULL PRIMARY KEY,
    id         TEXT NOT NULL UNIQUE,
    key        TEXT,
    fleet      TEXT NOT NULL,
    agent      TEXT NOT NULL,
    repository TEXT,
    issue      TEXT,
    parent     TEXT,
    session    TEXT REFERENCES sessions (id) ON DELETE SET NULL,
    -- Only the word, for queries. The column `detail` has the whole state.
    state      TEXT NOT NULL,
    attempts   INTEGER NOT NULL,
    created_at TEXT NOT NULL,
    started_at TEXT,
    ended_at   TEXT,
    beginning  TEXT GENERATED ALWAYS AS (
        substr(task_order ->> '$.prompt', 1, 200)
            || iif(length(task_order ->> '$.prompt') > 200, '…', '')
    ) STORED,
    detail     TEXT NOT NULL, -- JSON
    progress   TEXT NOT NULL, -- JSON
    task_order TEXT NOT NULL, -- JSON
    result     TEXT -- JSON
) STRICT;

INSERT INTO tasks_in_few_pages (
    place, id, key, fleet, agent, repository, issue, parent, session, state, attempts, created_at,
    started_at, ended_at, detail, progress, task_order, result
)
SELECT
    place, id, key, fleet, agent, repository, issue, parent, session, state, attempts, created_at,
    started_at, ended_at, detail, progress, task_order, result
FROM tasks ORDER BY place;

DROP TABLE tasks;

ALTER TABLE tasks_in_few_pages RENAME TO tasks;

CREATE UNIQUE INDEX tasks_by_key ON tasks (key) WHERE key IS NOT NULL;
CREATE INDEX tasks_by_state ON tasks (state, place);
CREATE INDEX tasks_by_session ON tasks (session) WHERE session IS NOT NULL;
CREATE INDEX tasks_by_parent ON tasks (parent) WHERE parent IS NOT NULL;
CREATE INDEX tasks_by_issue ON tasks (repository, issue) WHERE issue IS NOT NULL;

CREATE TRIGGER tasks_keep_their_identity
BEFORE UPDATE OF place, id, key, created_at ON tasks
BEGIN
    SELECT RAISE(ABORT, 'a task keeps its identity');
END;
