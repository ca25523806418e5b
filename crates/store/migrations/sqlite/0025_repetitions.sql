-- Work of a session that repeats itself, and the agents that sent messages.

ALTER TABLE sessions ADD COLUMN repetition TEXT;
ALTER TABLE messages ADD COLUMN sender TEXT;
