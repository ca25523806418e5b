-- Whether the launches of a session get Segue's MCP server.

ALTER TABLE sessions ADD COLUMN mcp INTEGER NOT NULL DEFAULT 0;
