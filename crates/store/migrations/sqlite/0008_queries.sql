-- Columns and indexes with which lists and commands do not read sessions that ended long ago.

-- Whether nothing happens in the session until a request names it. Written together with the status.
ALTER TABLE sessions ADD COLUMN settled INTEGER NOT NULL DEFAULT 0 CHECK (settled IN (0, 1));

UPDATE sessions SET settled = 1
WHERE (status ->> '$.status' = 'idle' AND headless = 1)
   OR (status ->> '$.status' = 'ended'
       AND (status ->> '$.detail' IN ('quit', 'stopped', 'turn_failed')
            OR status -> '$.detail.failed' IS NOT NULL));

CREATE INDEX sessions_unsettled ON sessions (id) WHERE settled = 0;
CREATE INDEX sessions_by_name ON sessions (name);
CREATE INDEX sessions_by_change ON sessions (updated_at);
CREATE INDEX sessions_by_parent ON sessions (parent) WHERE parent IS NOT NULL;
CREATE INDEX sessions_by_agent ON sessions (fleet, agent) WHERE agent IS NOT NULL;
CREATE INDEX sessions_by_folder ON sessions (cwd, vendor);
CREATE INDEX claims_by_vendor_session ON claims (vendor_session);

-- The places of all sessions: where their vendors keep conversations.
CREATE TABLE places (
    vendor     TEXT NOT NULL,
    config_dir ANY NOT NULL,
    cwd        ANY NOT NULL,
    used_at    TEXT NOT NULL,
    PRIMARY KEY (vendor, config_dir, cwd)
) STRICT, WITHOUT ROWID;

CREATE INDEX places_by_use ON places (used_at);

INSERT INTO places (vendor, config_dir, cwd, used_at)
SELECT vendor, config_dir, cwd, max(created_at) FROM sessions GROUP BY vendor, config_dir, cwd;

CREATE TRIGGER places_have_new_sessions
AFTER INSERT ON sessions
BEGIN
    INSERT INTO places (vendor, config_dir, cwd, used_at)
    VALUES (NEW.vendor, NEW.config_dir, NEW.cwd, NEW.created_at)
    ON CONFLICT DO UPDATE SET used_at = max(used_at, excluded.used_at);
END;

CREATE TRIGGER places_go_with_their_last_session
AFTER DELETE ON sessions
BEGIN
    DELETE FROM places
    WHERE vendor = OLD.vendor AND config_dir = OLD.config_dir AND cwd = OLD.cwd
      AND NOT EXISTS (
          SELECT 1 FROM sessions
          WHERE cwd = OLD.cwd AND vendor = OLD.vendor AND config_dir = OLD.config_dir
      );
END;
