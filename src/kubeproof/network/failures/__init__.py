"""What a network survives: every set of links and nodes that fail, up to a size."""
