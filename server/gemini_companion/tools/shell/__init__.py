"""Shell lines: what they would do, and whether the rules allow it."""
