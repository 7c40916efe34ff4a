"""Shipped failure cases: manifests, a Scenario and the expected verdict, runnable by name."""
