"""What the model is told besides the conversation: the system instruction and the environment."""
