"""For which sizes an intent holds: the argument in sentences, and all of it for JSON."""

from __future__ import annotations

from collections.abc import Iterator

from kubeproof.report.escape import escape
from kubeproof.report.style import Style
from kubeproof.verify.holds_for import HoldsFor


def sizes_lines(found: HoldsFor, style: Style) -> Iterator[str]:
    """The sizes, and why: folded."""
    told = " ".join(f"{sentence[0].upper()}{sentence[1:]}." for sentence in found.reason)
    yield from style.fold(f"{style.faint('holds for')} ", escape(f"{found.describe()} ({found.argument}). {told}"))


def sizes_document(found: HoldsFor | None) -> dict[str, object] | None:
    """The same for JSON: a size is meant if it keeps to all of it."""
    if found is None:
        return None
    return {
        "nodes": {kind: {"min": least} for kind, least in found.nodes},
        "target": found.target,
        "replicas": {"min": found.least, "max": found.most},
        "room": [{"replicas": tie.pods, "nodes": dict(tie.nodes), "plus": tie.plus} for tie in found.ties],
        "text": found.describe(),
        "argument": found.argument,
        "reason": list(found.reason),
    }
