"""What is sent with a prompt: the editor's state, mentioned files, the environment."""
