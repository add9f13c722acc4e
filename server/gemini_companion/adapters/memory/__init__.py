"""Memory files on this machine's disk: found, read with what they import, and added to."""
