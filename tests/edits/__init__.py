"""Random scripts of edits, taken back."""
