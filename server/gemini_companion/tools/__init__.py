"""What the model can call: tools, the rules of consent, the shell. They reach the world through `tools.ports` alone."""
