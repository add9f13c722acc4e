"""What survives many compressions of real conversations, with the gate and without: `python -m tests.fidelity`."""
