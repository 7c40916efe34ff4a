"""The journal of a sweep: which sizes are done, and what came of them."""

from __future__ import annotations

from pathlib import Path

from kubeproof.cluster.scale import DECLARED, ESC
from kubeproof.engine.stopped import is_cut_short
from kubeproof.verify.journal.codec import Codec
from kubeproof.verify.journal.journal import Journal
from kubeproof.verify.journal.verification import RESULT_CLASSES, binding_for
from kubeproof.verify.scaling.plan import SweepOptions, SweepPlan
from kubeproof.verify.scaling.result import SizeAnswer, Skipped

CODEC = Codec(SizeAnswer, Skipped, *RESULT_CLASSES)


def sweep_journal(directory: str, plan: SweepPlan, chosen: SweepOptions, *, resume: bool) -> Journal:
    """A journal that belongs to this input, these options and these sizes.

    A size that was cut short by a limit of time or memory is not written down: a resumed run may have more of them.
    """
    others = {"all": chosen.every, "scale": _as_flag(plan)}
    binding = binding_for(plan.loaded, plan.options, others, (size.key for size in plan.sizes))
    return Journal(Path(directory), binding, CODEC, resume=resume, is_final=_is_final)


def _as_flag(plan: SweepPlan) -> str:
    """The bound of a sweep as `--scale` takes it, since a refused checkpoint shows it to the user."""
    if plan.limit is None:
        return DECLARED
    numbers = f"{plan.limit.nodes},{plan.limit.pods_per_node}"
    return f"{ESC} ({numbers})" if plan.esc is not None else numbers


def _is_final(answer: SizeAnswer) -> bool:
    return not is_cut_short(answer.statistics.stopped_by)
