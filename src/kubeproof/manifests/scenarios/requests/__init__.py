"""Requests to services: when they come, and where they go."""
