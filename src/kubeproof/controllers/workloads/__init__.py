"""Loops that keep up the pods of workloads, one kind each."""
