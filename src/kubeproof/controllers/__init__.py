"""The control loops, each a pure function from what it is shown to what it would do."""
