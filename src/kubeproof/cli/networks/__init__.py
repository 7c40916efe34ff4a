"""Subcommands of `kubeproof network`."""
