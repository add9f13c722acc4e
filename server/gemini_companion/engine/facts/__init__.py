"""What must survive a compression: facts found in contents without a model, and a snapshot made of them alone."""
