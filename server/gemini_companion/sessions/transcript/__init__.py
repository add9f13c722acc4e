"""What is read of a session without waiting for its jobs: pages of its history, reports, replayed events."""
