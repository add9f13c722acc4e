"""Skills as text: what their files say, and how a model is told of them. Reads no file."""
