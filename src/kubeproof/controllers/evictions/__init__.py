"""Disruption budgets, and who evicts by their leave or without it."""
