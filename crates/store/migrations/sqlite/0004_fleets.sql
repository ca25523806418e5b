-- The numbers of agents that `segue scale` has set, and the timers of sessions.

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
