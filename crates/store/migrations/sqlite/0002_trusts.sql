-- Project files that a person allowed to run what they say.

CREATE TABLE trusts (
    folder ANY NOT NULL PRIMARY KEY,
    digest TEXT NOT NULL,
    at     TEXT NOT NULL
) STRICT;
