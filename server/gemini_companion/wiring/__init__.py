"""The only module that knows protocol, adapters and sessions: here they are introduced to each other.

What it needs is imported where it is used: on the way to `initialize` only the protocol's own modules are loaded.
"""
