-- Whether a message is a command of the vendor's program.

ALTER TABLE messages ADD COLUMN is_command INTEGER;
