"""Clusters in continuous time: failures and repairs as rates, waits as they are, no ticks."""
