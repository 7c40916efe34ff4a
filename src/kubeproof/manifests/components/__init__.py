"""Settings of the components of a cluster: configuration objects and flags."""
