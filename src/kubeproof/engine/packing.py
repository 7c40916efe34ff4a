"""Effects on their way between processes of one search, forks of one program: the few that differ, each once."""

from __future__ import annotations

from collections.abc import Sequence

from kubeproof.engine.system import Effect


def pack(effects: Sequence[Effect]) -> bytes:
    """The effects as bytes."""
    if not effects:
        return b""
    import pickle  # most searches stay in one process

    return pickle.dumps(list(effects), protocol=pickle.HIGHEST_PROTOCOL)


def unpack(packed: bytes) -> list[Effect]:
    """The effects that `pack` was given in this program; nothing else is ever read."""
    if not packed:
        return []
    import pickle

    found: list[Effect] = pickle.loads(packed)
    return found
