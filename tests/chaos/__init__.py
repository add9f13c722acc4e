"""A soak and chaos run: `make chaos`. The real daemon, the real SDK and the emulated API, under everything that goes wrong.

Every random choice comes from the seed and the name of whoever makes it, so a seed gives the same plan again; how the
actors fall in with each other differs from run to run. What the daemon acknowledged is kept beside it, and compared with
what it says after every restart.
"""
