-- Tokens of browsers, and links that show one session to other people.

ALTER TABLE tokens ADD COLUMN kind TEXT NOT NULL DEFAULT 'program';

-- The only session that the token reaches. Without it, the token reaches all sessions.
ALTER TABLE tokens ADD COLUMN session TEXT;

-- The link with which a browser has logged in. Its token is removed with the link.
ALTER TABLE tokens ADD COLUMN made_from TEXT;
