"""Starts MCP servers, or reaches them, by the official SDK, which is loaded with the first of them."""
