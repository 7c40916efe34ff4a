"""Standard input as a source of manifests."""

from __future__ import annotations

import sys

from kubeproof.errors import UsageError


def read_stdin() -> bytes:
    """All of stdin, at most one byte more than the largest file that is read, which then refuses it."""
    from kubeproof.manifests.guard import Bounds

    if sys.stdin is None:
        raise UsageError("stdin is closed", "Name a file instead of -.")
    return sys.stdin.buffer.read(Bounds().file_bytes + 1)
