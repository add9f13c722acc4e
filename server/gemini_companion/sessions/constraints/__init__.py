"""The rules that a person sets: found in prompts, set through a client, shared by the sessions of a project."""
