"""The smallest cluster in which a case fails: within the ranges of its scale, and no larger than the case itself."""

from __future__ import annotations

from dataclasses import replace

from kubeproof.cases.library import VIOLATING, Case, load_case
from kubeproof.cluster.scale import DECLARED
from kubeproof.errors import NothingToCheckError
from kubeproof.manifests.load import load
from kubeproof.manifests.loaded import Loaded
from kubeproof.stop import Stop
from kubeproof.values import dataclass
from kubeproof.verdicts import Verdict
from kubeproof.verify.executors.inprocess import InProcess
from kubeproof.verify.executors.session import Executor
from kubeproof.verify.options import VerifyOptions
from kubeproof.verify.resize import Size
from kubeproof.verify.result import VerifyResult
from kubeproof.verify.scaling.plan import SweepOptions, plan_sweep
from kubeproof.verify.scaling.result import Skipped
from kubeproof.verify.scaling.sweep import run_sweep


@dataclass(frozen=True, slots=True)
class Minimal:
    """The smallest violating size found, after how many tries; None if none is within the ranges."""

    case: str
    size: Size | None
    tried: int
    undecided: int = 0  # smaller sizes without a verdict
    result: VerifyResult | None = None


def find_minimal(
    case: Case,
    variant: str = VIOLATING,
    options: VerifyOptions = VerifyOptions(),
    executor: Executor = InProcess(),
    stop: Stop | None = None,
) -> Minimal:
    """Verifies a shipped case from the smallest size upwards, until it fails."""
    return minimal_of(case.name, load(load_case(case.name, variant)), options, executor, stop)


def minimal_of(
    name: str,
    loaded: Loaded,
    options: VerifyOptions = VerifyOptions(),
    executor: Executor = InProcess(),
    stop: Stop | None = None,
) -> Minimal:
    """The same for any input whose Scenario has a scale.

    A cluster with fewer nodes and more pods than the case is another failure, not a smaller form of this one.
    """
    chosen = SweepOptions(limit=DECLARED, executor=executor)
    plan = plan_sweep(loaded, options, chosen)
    sizes = tuple(size for size in plan.sizes if _is_within(loaded, size))
    if not sizes:
        raise NothingToCheckError(f"E301 {name}: spec.scale has no size up to that of the manifests. Lower its min.")
    result = run_sweep(replace(plan, sizes=sizes), chosen, stop=stop)
    assert result.sweep is not None
    tried = len(result.sweep.sizes) - result.sweep.count(Skipped.NOT_TRIED)
    undecided = result.sweep.count(Verdict.UNKNOWN, Verdict.ERROR)
    size = next((line.size for line in result.sweep.sizes if line.verdict == Verdict.VIOLATED), None)
    return Minimal(name, size, tried, undecided, result)


def _is_within(loaded: Loaded, size: Size) -> bool:
    """True if the size has neither more nodes nor more pods than the input."""
    replicas = {workload.ref: workload.replicas for workload in loaded.setup.workloads}
    pods = sum(replicas[ref] for ref, _ in size.pods)
    nodes = sum(not node.is_slot for node in loaded.setup.nodes)
    return size.node_total <= nodes and size.pod_total <= pods
