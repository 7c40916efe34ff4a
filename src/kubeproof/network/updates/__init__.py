"""Updates of rules answered one by one: only what an update concerns is checked again."""
