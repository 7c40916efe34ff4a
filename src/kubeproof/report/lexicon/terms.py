"""Words of reports that are neither properties nor events, errors or verdicts."""

from __future__ import annotations

from collections.abc import Iterator

from kubeproof.report.lexicon.entry import Explanation

_EXAMPLE = """\
scale:
  limit: esc
  nodes: [{like: a, count: {min: 0}}]
  workloads: [{target: Deployment/shop/web, replicas: {min: 1}}]"""


def terms() -> Iterator[Explanation]:
    """All such words."""
    yield Explanation(
        "ESC",
        "term",
        "empirically sufficient scale",
        "A limit of sweeps over sizes, verify --scale esc: twice the most nodes, and twice the most pods per node, "
        "among the smallest clusters in which the shipped failure cases fail. Every one of them shows well below it, "
        "which is experience and no proof: what holds up to it is HOLDS-BOUNDED, not HOLDS.",
        (("of your own cases", "kubeproof cases esc DIRECTORY"),),
        example=_EXAMPLE,
        page="docs/how-to/any-scale.md",
        aliases=("empirically sufficient scale",),
    )
