"""A model in a GGUF file, run on this machine by llama.cpp, in a process of its own."""
