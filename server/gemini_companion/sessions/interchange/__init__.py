"""Session files: decoding and encoding them, as pure functions over bytes."""

from gemini_companion.sessions.interchange.companion import SessionExport as SessionExport
from gemini_companion.sessions.interchange.decode import decode_session_file as decode_session_file
from gemini_companion.sessions.interchange.encode import encode_session as encode_session
from gemini_companion.sessions.interchange.imported import ImportedSession as ImportedSession
from gemini_companion.sessions.interchange.pieces import text_of as text_of
