-- The shell commands of worktrees, and whether their setup has succeeded.

-- JSON. Worktrees that exist already have no commands.
ALTER TABLE worktrees ADD COLUMN commands TEXT NOT NULL DEFAULT '{}';
ALTER TABLE worktrees ADD COLUMN is_set_up INTEGER NOT NULL DEFAULT 0;

-- Reports of ended tasks to their parents. A row is deleted in the commit that queues its message.
CREATE TABLE child_reports (
    number     INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    message    TEXT NOT NULL UNIQUE,
    child      TEXT NOT NULL,
    parent     TEXT NOT NULL,
    text       TEXT NOT NULL,
    created_at TEXT NOT NULL
) STRICT;

CREATE INDEX child_reports_by_parent ON child_reports (parent);
