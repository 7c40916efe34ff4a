"""Remembers finished tasks and long searches in a directory, so that a killed run continues where it was."""
