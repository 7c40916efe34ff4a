"""Control loops, events, the clock and monitors as actors of a run."""
