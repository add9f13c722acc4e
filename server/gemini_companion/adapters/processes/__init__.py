"""Commands: their environment, their processes to the last descendant, their output, what holds them back."""
