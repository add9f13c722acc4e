"""The files of the workspace folders."""

from gemini_companion.adapters.workspace.disk import DiskWorkspace

__all__ = ["DiskWorkspace"]
