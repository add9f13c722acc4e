"""Which model a turn has: the one that was named, one chosen for the prompt, or what answers while that cannot."""
