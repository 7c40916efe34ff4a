"""The published autoscaling models."""
