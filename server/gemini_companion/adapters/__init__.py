"""The outside world, behind the ports of `sessions.ports`."""
