"""Nodes: their classes, groups and images, and which of them are alike."""
