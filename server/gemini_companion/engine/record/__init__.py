"""What stands beside a snapshot: the words of those hidden turns, chosen without a model and quoted as they were."""
