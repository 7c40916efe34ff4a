"""Effects on their way between processes of one search, forks of one program: the few that differ, each once."""

from __future__ import annotations

import pickle
from collections.abc import Sequence

from kubeproof.engine.system import Effect


def pack(effects: Sequence[Effect]) -> bytes:
    """The effects as bytes."""
    return pickle.dumps(list(effects), protocol=pickle.HIGHEST_PROTOCOL) if effects else b""


def unpack(packed: bytes) -> list[Effect]:
    """The effects that `pack` was given in this program; nothing else is ever read."""
    return pickle.loads(packed) if packed else []
