-- Plans, their tasks, and which task needs which.
--
-- The column `detail` has the whole record. The other columns are for queries.

CREATE TABLE plans (
    number   INTEGER NOT NULL PRIMARY KEY,
    id       TEXT NOT NULL UNIQUE,
    folder   ANY NOT NULL, -- text, or bytes if the path is not UTF-8
    name     TEXT NOT NULL,
    control  TEXT NOT NULL,
    revision INTEGER NOT NULL,
    detail   TEXT NOT NULL, -- JSON
    UNIQUE (folder, name)
) STRICT;

CREATE TABLE plan_tasks (
    plan   TEXT NOT NULL REFERENCES plans (id) ON DELETE CASCADE,
    name   TEXT NOT NULL,
    rank   INTEGER NOT NULL,
    state  TEXT NOT NULL,
    detail TEXT NOT NULL, -- JSON
    PRIMARY KEY (plan, name)
) STRICT, WITHOUT ROWID;

CREATE INDEX plan_tasks_by_state ON plan_tasks (plan, state, rank, name);

CREATE TABLE plan_needs (
    plan TEXT NOT NULL REFERENCES plans (id) ON DELETE CASCADE,
    need TEXT NOT NULL,
    task TEXT NOT NULL,
    PRIMARY KEY (plan, need, task)
) STRICT, WITHOUT ROWID;

CREATE INDEX plan_needs_by_task ON plan_needs (plan, task);
