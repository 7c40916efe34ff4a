"""What flags, environment and settings ask for."""
