"""States, search, cycles, limits: knows models, never Deployments."""
