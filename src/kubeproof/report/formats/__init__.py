"""A verification for other programs: one module per format."""
