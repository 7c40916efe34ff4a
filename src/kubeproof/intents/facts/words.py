"""What a fact finds in a state, as a reader would count it: each fact that counts says so itself."""

from __future__ import annotations

from typing import Any

from kubeproof.cluster.loops.control import Seen
from kubeproof.intents.views import AnyFact


def describe_found(fact: AnyFact, seen: Seen[Any, Any]) -> str:
    """The numbers that a fact compares; "" for facts that compare none."""
    describe = getattr(fact, "describe_found", None)
    return "" if describe is None else str(describe(seen))
