-- How many agents of a kind somebody wanted, and what is said to a session again and again.

CREATE TABLE counts (
    fleet TEXT NOT NULL,
    agent TEXT NOT NULL,
    count INTEGER NOT NULL,
    PRIMARY KEY (fleet, agent)
) STRICT;

CREATE TABLE timers (
    session TEXT NOT NULL PRIMARY KEY REFERENCES sessions (id) ON DELETE CASCADE,
    timers TEXT NOT NULL
) STRICT;
