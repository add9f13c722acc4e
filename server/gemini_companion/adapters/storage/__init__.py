"""Sessions on disk: `SessionStore` on SQLite, one private file per project."""

from gemini_companion.adapters.storage.project import project_key as project_key
from gemini_companion.adapters.storage.store import SqliteStore as SqliteStore
from gemini_companion.adapters.storage.store import open_store as open_store
