-- When a person changed the settings of a session.

ALTER TABLE sessions ADD COLUMN settings_changed_at TEXT;
