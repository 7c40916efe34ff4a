"""The checks themselves, one module per topic."""
