"""MCP servers, as far as no I/O is needed: what the settings say, names, schemas, what servers answer."""
