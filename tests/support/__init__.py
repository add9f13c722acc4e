"""What tests need: fakes at our own ports, the emulator, a wire in memory."""
