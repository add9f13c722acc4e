"""What may be spent: looked at before every request that costs something."""
