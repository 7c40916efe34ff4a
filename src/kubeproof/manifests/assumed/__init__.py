"""Nodes that the input does not have: assumed ones, and those told in a few words."""
