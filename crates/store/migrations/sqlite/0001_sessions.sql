-- Fleets, sessions with their launches and ledger, and the log of events.
--
-- Times are RFC 3339 in UTC with nine decimals, so that they sort as text. Columns marked JSON are
-- never searched. A path is text if it is valid UTF-8, and otherwise a blob. Long columns come last,
-- so that reading the other columns does not read their overflow pages.

PRAGMA application_id = 0x53656775; -- "Segu"

CREATE TABLE fleets (
    seq    INTEGER PRIMARY KEY AUTOINCREMENT,
    name   TEXT NOT NULL UNIQUE,
    folder ANY
) STRICT;

CREATE INDEX fleets_by_folder ON fleets (folder, seq);

CREATE TABLE sessions (
    id           TEXT NOT NULL PRIMARY KEY,
    fleet        TEXT NOT NULL,
    name         TEXT NOT NULL,
    agent        TEXT,
    vendor       TEXT NOT NULL,
    cwd          ANY NOT NULL,
    config_dir   ANY NOT NULL,
    model        TEXT,
    permission   TEXT NOT NULL,
    headless     INTEGER NOT NULL CHECK (headless IN (0, 1)),
    restart      TEXT NOT NULL,
    parent       TEXT,
    status       TEXT NOT NULL, -- JSON
    spoke        INTEGER NOT NULL CHECK (spoke IN (0, 1)),
    created_at   TEXT NOT NULL,
    updated_at   TEXT NOT NULL,
    args         TEXT NOT NULL, -- JSON
    env          TEXT NOT NULL, -- JSON
    instructions TEXT,
    UNIQUE (fleet, name),
    UNIQUE (id, vendor)
) STRICT;

CREATE INDEX sessions_by_age ON sessions (created_at, id);

CREATE TRIGGER sessions_keep_their_identity
BEFORE UPDATE OF id, vendor ON sessions
BEGIN
    SELECT RAISE(ABORT, 'a session keeps its id and its vendor');
END;

CREATE TABLE launches (
    id             TEXT NOT NULL PRIMARY KEY,
    session        TEXT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    number         INTEGER NOT NULL,
    mode           TEXT NOT NULL,
    created_at     TEXT NOT NULL,
    holder         TEXT, -- JSON
    agent          TEXT, -- JSON
    ended          TEXT, -- JSON; null while the launch is open
    planned        TEXT,
    vendor_version TEXT,
    git_commit     TEXT,
    program        ANY NOT NULL,
    cwd            ANY NOT NULL,
    environment    TEXT NOT NULL, -- JSON
    argv           TEXT NOT NULL, -- JSON
    message        TEXT,
    UNIQUE (session, id)
) STRICT;

CREATE INDEX launches_by_number ON launches (session, number);

CREATE UNIQUE INDEX launches_one_open ON launches (session) WHERE ended IS NULL;

CREATE TRIGGER launches_keep_their_first_end
BEFORE UPDATE OF ended ON launches WHEN OLD.ended IS NOT NULL
BEGIN
    SELECT RAISE(ABORT, 'a launch keeps its first end');
END;

-- The session that a vendor's id belongs to. The table `bindings` has the evidence.
CREATE TABLE claims (
    vendor         TEXT NOT NULL,
    vendor_session TEXT NOT NULL,
    session        TEXT NOT NULL,
    PRIMARY KEY (vendor, vendor_session),
    UNIQUE (session, vendor_session),
    FOREIGN KEY (session, vendor) REFERENCES sessions (id, vendor) ON DELETE CASCADE
) STRICT;

CREATE TRIGGER claims_stay_as_they_are
BEFORE UPDATE ON claims
BEGIN
    SELECT RAISE(ABORT, 'a vendor''s id stays with its session');
END;

CREATE TRIGGER claims_go_only_with_their_session
BEFORE DELETE ON claims WHEN EXISTS (SELECT 1 FROM sessions WHERE id = OLD.session)
BEGIN
    SELECT RAISE(ABORT, 'a vendor''s id stays with its session');
END;

CREATE TABLE bindings (
    seq            INTEGER PRIMARY KEY AUTOINCREMENT,
    session        TEXT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    launch         TEXT,
    vendor_session TEXT NOT NULL,
    evidence       TEXT NOT NULL,
    at             TEXT NOT NULL,
    FOREIGN KEY (session, launch) REFERENCES launches (session, id) ON DELETE CASCADE,
    FOREIGN KEY (session, vendor_session)
        REFERENCES claims (session, vendor_session) ON DELETE CASCADE
) STRICT;

CREATE INDEX bindings_by_session ON bindings (session, seq);

CREATE TRIGGER bindings_stay_as_they_are
BEFORE UPDATE ON bindings
BEGIN
    SELECT RAISE(ABORT, 'the ledger is append-only');
END;

CREATE TRIGGER bindings_go_only_with_their_session
BEFORE DELETE ON bindings WHEN EXISTS (SELECT 1 FROM sessions WHERE id = OLD.session)
BEGIN
    SELECT RAISE(ABORT, 'the ledger is append-only');
END;

-- Events have no foreign keys, because they are kept after their session is removed.
CREATE TABLE events (
    seq     INTEGER PRIMARY KEY AUTOINCREMENT,
    at      TEXT NOT NULL,
    session TEXT,
    launch  TEXT,
    kind    TEXT NOT NULL,
    text    TEXT NOT NULL
) STRICT;

CREATE INDEX events_by_session ON events (session, seq);

CREATE TRIGGER events_stay_as_they_are
BEFORE UPDATE ON events
BEGIN
    SELECT RAISE(ABORT, 'the log is append-only');
END;

CREATE TRIGGER events_stay
BEFORE DELETE ON events
BEGIN
    SELECT RAISE(ABORT, 'the log is append-only');
END;
