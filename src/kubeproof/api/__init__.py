"""Kubeproof from Python: in scripts, tests and notebooks, with the words of the command line."""
