"""What steps, events, numbers and findings are called."""
