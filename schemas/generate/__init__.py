"""Makes the schemas and the client's TypeScript types from the server's own types: `python -m schemas.generate`."""
