"""Tooling that fits the package's tables. Not part of the package; its data are not part of the repository."""
