"""What a session did and cost, out of its log."""
