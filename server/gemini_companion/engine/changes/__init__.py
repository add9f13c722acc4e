"""Changed files, pure: diffs, places in them, and what it takes to put them back."""
