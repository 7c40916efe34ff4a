"""A timed run at the level of requests: CPU, memory and pods over time."""
