-- Tasks that agents add, and what agents report.

ALTER TABLE tasks ADD COLUMN spawner TEXT;

CREATE INDEX tasks_by_spawner ON tasks (spawner, place) WHERE spawner IS NOT NULL;

-- A report is from and to a task, or a session without a task.
ALTER TABLE child_reports ADD COLUMN child_kind TEXT NOT NULL DEFAULT 'task';
ALTER TABLE child_reports ADD COLUMN parent_kind TEXT NOT NULL DEFAULT 'task';

CREATE TABLE agent_reports (
    number  INTEGER NOT NULL PRIMARY KEY,
    session TEXT NOT NULL,
    task    TEXT,
    detail  TEXT NOT NULL -- JSON
) STRICT;

CREATE INDEX agent_reports_by_session ON agent_reports (session, number);
CREATE INDEX agent_reports_by_task ON agent_reports (task, number) WHERE task IS NOT NULL;
