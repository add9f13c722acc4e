"""Skills in sessions: which there are, what a model is told of them, and what one says once it is activated."""
