"""The only room that reads YAML."""
