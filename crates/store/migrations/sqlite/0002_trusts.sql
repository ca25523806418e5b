-- Project files that the user trusts, with the claims that they contained at that time.

CREATE TABLE trusts (
    folder ANY NOT NULL PRIMARY KEY,
    digest TEXT NOT NULL,
    at     TEXT NOT NULL
) STRICT;
