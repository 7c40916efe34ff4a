"""What becomes of a cluster if something is done to it: one question, one answer, nothing to configure."""
