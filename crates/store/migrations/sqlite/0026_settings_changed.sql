-- When the settings of a session changed that take effect with its next launch.

ALTER TABLE sessions ADD COLUMN settings_changed_at TEXT;
