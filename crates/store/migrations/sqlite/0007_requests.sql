-- The steps of requests that change something, so that a repeated request is carried out once.

CREATE TABLE requests (
    seq    INTEGER PRIMARY KEY AUTOINCREMENT,
    caller TEXT NOT NULL, -- the session whose agent asked; empty for the user
    id     TEXT NOT NULL,
    step   TEXT NOT NULL,
    at     TEXT NOT NULL,
    detail TEXT NOT NULL, -- JSON
    UNIQUE (caller, id, step)
) STRICT;

CREATE INDEX requests_by_caller ON requests (caller, seq);
