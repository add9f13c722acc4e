"""Tools that ask the network, through the model's own service: the daemon opens no address itself."""
