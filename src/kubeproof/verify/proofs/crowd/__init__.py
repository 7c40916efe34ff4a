"""Proofs about some workloads of a cluster, whatever the others do."""
