-- The data of an event, without its kind. Null in events of which only the text is known.

ALTER TABLE events ADD COLUMN data TEXT; -- JSON
