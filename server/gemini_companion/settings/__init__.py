"""Settings: layers of JSON files and the editor's section, validated, trusted as far as their place allows, read anew while running."""
