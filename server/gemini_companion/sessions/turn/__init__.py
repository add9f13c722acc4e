"""One turn: from a prompt to a stored answer."""
