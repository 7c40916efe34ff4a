"""Pod templates and what they are made of."""
