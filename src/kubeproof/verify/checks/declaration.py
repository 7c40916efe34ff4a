"""What a check is, and what it finds."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from kubeproof.cluster.objects import Source
from kubeproof.named_tuples import NamedTuple
from kubeproof.values import dataclass
from kubeproof.verify.checks.scene import Scene

ERROR, WARNING, INFO = "error", "warning", "info"
SEVERITIES = (ERROR, WARNING, INFO)


class Found(NamedTuple):
    """One thing that a check found; what is empty is as the check declares it."""

    target: str  # object ref
    message: str
    source: Source
    also: tuple[tuple[str, Source], ...] = ()
    severity: str = ""
    remedy: str = ""


@dataclass(frozen=True, slots=True)
class Check:
    """One check. Its ID is permanent and never used again."""

    id: str  # "K001"
    key: str  # "unknown-field"
    severity: str  # of its findings, unless one says otherwise
    title: str  # what it finds, in one line
    explanation: str  # why that matters, and what it rests on
    remedy: str
    find: Callable[[Scene], Iterator[Found]]
