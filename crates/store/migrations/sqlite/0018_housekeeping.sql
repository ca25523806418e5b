-- When the next sweep is due, and the level of disk use that was reported last. One row.

CREATE TABLE housekeeping (
    number     INTEGER NOT NULL PRIMARY KEY CHECK (number = 1),
    next_sweep TEXT,
    disk_level TEXT NOT NULL
) STRICT;

INSERT INTO housekeeping (number, next_sweep, disk_level) VALUES (1, NULL, 'normal');
