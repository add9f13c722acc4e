"""What the model gets besides the conversation: the system instruction and the environment."""
