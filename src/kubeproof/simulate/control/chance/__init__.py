"""What is drawn: moments, faults, and one choice among equals."""
