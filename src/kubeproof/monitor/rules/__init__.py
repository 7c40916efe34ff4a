"""Rules about streams of events: as values, as YAML, in words."""
