"""What comes from outside at its worst: the texts that cost most, for everything that reads them."""
