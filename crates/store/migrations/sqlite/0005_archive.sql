-- Whether a session's conversations are copied into the archive.

ALTER TABLE sessions ADD COLUMN archive INTEGER NOT NULL DEFAULT 1;
