"""Kubeproof: proofs and counterexamples for Kubernetes clusters."""
__version__ = "0.1.0"
