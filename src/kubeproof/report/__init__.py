"""Reports of finished results."""
