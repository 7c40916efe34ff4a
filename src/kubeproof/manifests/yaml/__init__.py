"""From bytes to typed fields with their places: the reader, its bounds, and what is written back."""
