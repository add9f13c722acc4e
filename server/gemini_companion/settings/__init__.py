"""Settings: layers of JSON files and the editor's section, validated, restricted by trust, reloaded while running."""
