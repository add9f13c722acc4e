"""JSON-RPC on pygls: what a client may ask, and how it travels. Alone in importing pygls and lsprotocol."""

from gemini_companion.protocol.types_on_demand import install

install()
