"""Files of the workspace folders, for tools: no link leads out, whoever swaps it when."""

from gemini_companion.adapters.files.disk import DiskFiles

__all__ = ["DiskFiles"]
