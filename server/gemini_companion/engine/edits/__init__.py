"""Changing texts of files: encodings, line endings, finding what is to be replaced, and saying why it is not there."""
