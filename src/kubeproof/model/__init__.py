"""The cluster as a transition system, grouped for search and individual as the oracle."""
