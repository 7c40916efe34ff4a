"""How a command runs and ends: limits, signals, progress, exit codes."""
