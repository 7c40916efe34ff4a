"""The scheduler plugins, one module each."""
