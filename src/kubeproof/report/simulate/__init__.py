"""Simulated runs, and the published experiments."""
