-- The name by which `segue up` finds the session of an agent that a person has renamed. Null if that is
-- the name of the session.

ALTER TABLE sessions ADD COLUMN up_name TEXT;
