"""The journal of a sweep: which sizes are done, and what came of them."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

from kubeproof.cluster.objects import Source
from kubeproof.verify.journal.binding import binding_of
from kubeproof.verify.journal.codec import Codec
from kubeproof.verify.journal.journal import Journal
from kubeproof.verify.result import UNKNOWN, IntentResult, Statistics, Trace, TraceStep
from kubeproof.verify.scaling.plan import SweepOptions, SweepPlan
from kubeproof.verify.scaling.result import SizeAnswer

CODEC = Codec(SizeAnswer, IntentResult, Statistics, Trace, TraceStep, Source)
HARMLESS = ("timeout_s", "memory_bytes")  # a run may continue with others: what they cut short is not written down


def sweep_journal(directory: str, plan: SweepPlan, chosen: SweepOptions, *, resume: bool) -> Journal:
    """A journal that belongs to this input, these options and these sizes."""
    options = {name: value for name, value in asdict(plan.options).items() if name not in HARMLESS}
    own = [(name, Path(name.rpartition(":")[0]).read_text(encoding="utf-8")) for name in plan.options.controllers]
    binding = binding_of(
        [*plan.loaded.texts, *own],
        {**options, "all": chosen.every, "esc": plan.esc, "limit": plan.limit},
        (size.key for size in plan.sizes),
    )
    return Journal(Path(directory), binding, CODEC, resume=resume, is_final=lambda answer: answer.verdict != UNKNOWN)
