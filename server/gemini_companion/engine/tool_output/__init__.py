"""What the outputs of tools leave in the history: long ones cut, old ones masked, repeated ones named."""
