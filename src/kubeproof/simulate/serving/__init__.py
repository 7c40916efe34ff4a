"""Requests: how they arrive, which pod serves them, and how long that takes."""
