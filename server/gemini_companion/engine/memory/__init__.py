"""Memory files as text: what they import, how they are put together, and how a fact is added. Reads no file."""
