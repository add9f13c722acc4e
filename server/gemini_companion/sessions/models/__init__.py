"""Models behind a port: what a provider promises, and which provider answers a name."""
