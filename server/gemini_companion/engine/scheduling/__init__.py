"""Who is next where only so many may be at work at once."""
