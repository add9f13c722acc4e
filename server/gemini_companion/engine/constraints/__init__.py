"""Standing rules in a person's own words: found, compared with those in force, and seen to stand in every request."""
