"""A verification that survives being killed: its result and its searches are kept in a directory."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path

from kubeproof.cluster.loops.actions import Verb
from kubeproof.cluster.loops.actors import Actor, ActorKind
from kubeproof.cluster.loops.inaction import Field
from kubeproof.cluster.loops.node_verbs import NodeVerb
from kubeproof.cluster.objects import Source
from kubeproof.engine.search import find_compiled_kernel
from kubeproof.engine.snapshot import INTERVAL_S, Snapshots
from kubeproof.engine.stopped import StoppedBy, StopReason
from kubeproof.manifests.loaded import Group, Loaded, Omission, Sort
from kubeproof.stop import Stop
from kubeproof.values import dataclass
from kubeproof.verdicts import Verdict
from kubeproof.verify.answered import Answered, PassedOver
from kubeproof.verify.dependence import Apart, DependsOn
from kubeproof.verify.explained import Explanation, Inaction, Remedy
from kubeproof.verify.facts import Fact
from kubeproof.verify.findings.known import Found
from kubeproof.verify.holds_for import HoldsFor, Tie
from kubeproof.verify.journal.binding import Binding, binding_of
from kubeproof.verify.journal.codec import Codec
from kubeproof.verify.journal.journal import Journal
from kubeproof.verify.options import SearchProgress, VerifyOptions
from kubeproof.verify.result import (
    Change,
    CheckFinding,
    IntentResult,
    OmittedGroup,
    Statistics,
    Trace,
    TraceStep,
    VerifyResult,
)
from kubeproof.verify.run import verify

KEY = "verification"  # the one task
RESULT_CLASSES = (  # what a result with counterexamples is made of
    *(IntentResult, Verdict, Source, Answered, PassedOver, Statistics, StoppedBy, StopReason),
    *(
        Explanation,
        Inaction,
        Remedy,
        Field,
        DependsOn,
        Apart,
        HoldsFor,
        Tie,
        Trace,
        TraceStep,
        Fact,
        Change,
        Actor,
        ActorKind,
        Verb,
        NodeVerb,
    ),
)
CODEC = Codec(VerifyResult, CheckFinding, OmittedGroup, Group, Sort, *RESULT_CLASSES)
HARMLESS = (
    "timeout_s",
    "has_usual_timeout",
    "spent_s",
    "memory_bytes",
    "spill_directory",
    "processes",
)  # a run may continue with others: what they cut short is not written down


@dataclass(frozen=True, slots=True)
class Kept:
    """A result, and what is left in the directory."""

    result: VerifyResult
    is_final: bool  # false: a resumed run can come further
    problems: tuple[str, ...] = ()  # snapshots that could not be written


def verify_kept(
    loaded: Loaded,
    options: VerifyOptions,
    *,
    directory: Path,
    resume: bool,
    progress: Callable[[SearchProgress], None] | None = None,
    interval_s: float = INTERVAL_S,
    stop: Stop | None = None,
    found: Found | None = None,
) -> Kept:
    """The result of `verify`, worked out in as many runs as it takes.

    A finished result is journalled and given back by the next run. Searches under way are saved every
    `interval_s` seconds, or less often where that would take more than a twentieth of the time.
    """
    binding = binding_for(loaded, options, {}, (KEY,))
    with Journal(directory, binding, CODEC, resume=resume) as journal:
        snapshots = Snapshots(directory, binding.digest, interval_s)
        if KEY not in journal.read_known():
            result = verify(loaded, options, progress, snapshots, stop=stop, found=found)
            if snapshots.is_cut_short or result.statistics.is_interrupted:
                return Kept(result, False, snapshots.problems)
            journal.add(KEY, result)
        journal.sync()  # the result is safe before what it came from goes
        _remove_snapshots(directory)
        return Kept(journal.read_known()[KEY], True, snapshots.problems)


def binding_for(loaded: Loaded, options: VerifyOptions, others: Mapping[str, object], keys: Iterable[str]) -> Binding:
    """What a run belongs to: input and own controllers, every option that can change a result, and the tasks."""
    named = {name: value for name, value in asdict(options).items() if name not in HARMLESS}
    if options.engine == "auto":
        named["engine"] = "python" if find_compiled_kernel() is None else "compiled"
    code = [(name, _text_of(name)) for name in options.controllers]
    left_out = ("<not modelled>", "\n".join(map(_show_omission, loaded.omissions)))
    return binding_of([*loaded.texts, left_out, *code], {**named, **others}, keys)


def _show_omission(omission: Omission) -> str:
    """What was left out and about whom it decides, which may depend on what the kept text does not have."""
    return f"{omission.what} {omission.source} {omission.why} {' '.join(omission.touches)}"


def _text_of(controller: str) -> str:
    """The code of an own controller; "" if it cannot be read, which loading it will tell."""
    try:
        return Path(controller.rpartition(":")[0]).read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""


def _remove_snapshots(directory: Path) -> None:
    for path in sorted(directory.glob("search-*.snapshot")):
        with suppress(OSError):
            path.unlink()
