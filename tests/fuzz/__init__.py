"""Everything that is decoded, fed with mutated input: `python -m tests.fuzz --frames 1000000 --files 100000 --seed 1`."""
