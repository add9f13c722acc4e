"""The events as the protocol names them."""

from gemini_companion.sessions.events import EVENTS as EVENTS
