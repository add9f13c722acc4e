"""The tools of MCP servers, as models call them."""
