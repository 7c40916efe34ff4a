"""What the environment and operators may do to a cluster, at any moment."""
