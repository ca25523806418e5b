-- What polled forges have answered about repositories, and deliveries without their content.

CREATE TABLE polled_repositories (
    source     TEXT NOT NULL,
    repository INTEGER NOT NULL, -- the id on the forge
    record     TEXT NOT NULL, -- JSON
    PRIMARY KEY (source, repository)
) STRICT;

-- 0 if headers and body of an old delivery were removed. Its id and its digest stay, so that the same
-- delivery is not accepted again.
ALTER TABLE deliveries ADD COLUMN has_content INTEGER NOT NULL DEFAULT 1;
