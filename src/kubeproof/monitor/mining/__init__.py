"""Rules learned from recorded runs, and how good they are."""
