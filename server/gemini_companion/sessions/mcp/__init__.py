"""MCP servers: started when a turn can use them, kept alive, listed; what they offer to the next turn."""
