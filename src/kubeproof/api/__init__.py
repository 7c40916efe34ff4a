"""Kubeproof from Python: in scripts, tests and notebooks, with the words of the command line."""

from kubeproof.api.verification import Verification, assert_holds, verify

__all__ = ["Verification", "assert_holds", "verify"]
