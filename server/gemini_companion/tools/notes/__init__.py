"""Tools that touch nothing outside of the chat: questions to the person, the task list, the way out of plan mode."""
