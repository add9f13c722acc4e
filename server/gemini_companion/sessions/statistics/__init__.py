"""Statistics of sessions: each request to a model is recorded in the log, and sums are made of that."""
