"""Tools in a session: the rounds of a turn, consent, changed files, what outputs leave in the history."""
