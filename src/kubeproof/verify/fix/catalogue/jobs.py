"""How many failures a Job forgives: pods that a drain or a lost node takes count as failures."""

from __future__ import annotations

from collections.abc import Iterator

from kubeproof.cluster.loops.actors import ActorKind
from kubeproof.manifests.editing.operations import put
from kubeproof.manifests.editing.written import Written
from kubeproof.verify.fix.around import Around
from kubeproof.verify.fix.edits import TUNE, Edit, edit

FORGIVING = "backoffLimit"
USUAL = 6  # what the API server writes where nothing is said
SPECS = {"Job": ("spec",), "CronJob": ("spec", "jobTemplate", "spec")}


def propose_forgiving(one: Written, around: Around) -> Iterator[Edit]:
    """As many failures as usual, where fewer are forgiven."""
    path = SPECS.get(one.kind)
    if path is None:
        return
    stated = one.at(*path, "backoffLimit")
    if isinstance(stated, int) and stated < USUAL:
        yield edit(
            FORGIVING, one, f"backoffLimit {USUAL} in place of {stated}", put(*path, "backoffLimit", value=USUAL),
            cost=TUNE, gives_up=f"work that always fails is tried {USUAL + 1} times", answers=(ActorKind.JOB,),
        )  # fmt: skip
