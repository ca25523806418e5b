-- The shell commands of worktrees, and whether their setup has succeeded.

-- JSON. Worktrees that exist already have no commands.
ALTER TABLE worktrees ADD COLUMN commands TEXT NOT NULL DEFAULT '{}';
ALTER TABLE worktrees ADD COLUMN is_set_up INTEGER NOT NULL DEFAULT 0;
