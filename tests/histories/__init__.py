"""`python -m tests.histories`: what holds of every plan, on very many random histories."""
