"""Networks as files: read, written, generated."""
