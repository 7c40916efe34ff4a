"""How likely intents of a cluster are violated, and what running it takes."""
