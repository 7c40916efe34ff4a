"""Checks that need no search: what the manifests alone show to be wrong, by the rules of the model's own loops."""
