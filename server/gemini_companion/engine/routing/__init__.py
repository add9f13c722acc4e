"""Which model a prompt needs: what a small model is asked, and how its answer is read."""
