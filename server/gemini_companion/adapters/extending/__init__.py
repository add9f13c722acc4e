"""What persons, projects and extensions add by files: slash commands and skills."""
