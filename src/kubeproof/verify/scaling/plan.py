"""A sweep before it runs: which sizes, up to which bound."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubeproof.cluster.scale import ACTUAL, ESC, Limit, Scale
from kubeproof.errors import InternalError, NothingToCheckError, UsageError
from kubeproof.manifests.loaded import Loaded
from kubeproof.values import dataclass
from kubeproof.verify.executors.inprocess import InProcess
from kubeproof.verify.executors.session import Executor
from kubeproof.verify.options import VerifyOptions

if TYPE_CHECKING:
    from kubeproof.verify.resize import Size
    from kubeproof.verify.scaling.esc import Esc


@dataclass(frozen=True, slots=True, kw_only=True)
class SweepOptions:
    """What a user may choose about a sweep, beside what holds for each of its sizes."""

    limit: Limit | str | None = None  # instead of the Scenario's
    every: bool = False  # go on after a violation
    fast_find: bool = False
    executor: Executor = InProcess()


@dataclass(frozen=True, slots=True)
class SweepPlan:
    """The sizes in order, and all that is needed to verify them; the same for the same input."""

    loaded: Loaded
    scale: Scale
    sizes: tuple[Size, ...]
    options: VerifyOptions
    limit: Limit | None = None
    esc: Esc | None = None  # where the limit comes from
    is_thinned: bool = False


def is_swept(loaded: Loaded, chosen: SweepOptions) -> bool:
    """True if other sizes than that of the manifests are to be verified."""
    scale = loaded.scenario.scale
    if chosen.limit is not None:
        return chosen.limit != ACTUAL
    return scale is not None and scale.limit != ACTUAL


def can_grow(loaded: Loaded) -> bool:
    """True if the Scenario says which nodes or workloads grow."""
    scale = loaded.scenario.scale
    return scale is not None and bool(scale.nodes or scale.workloads)


def plan_sweep(
    loaded: Loaded, options: VerifyOptions, chosen: SweepOptions = SweepOptions(), esc: Esc | None = None
) -> SweepPlan:
    """The sizes that the Scenario's scale stands for; `esc` is needed where that is the limit."""
    scale = loaded.scenario.scale
    if scale is None or not can_grow(loaded):
        if loaded.scenario.is_default:
            remedy = "Write one whose spec.scale says which nodes and workloads grow."
            raise UsageError("a sweep needs a Scenario, and the input has none", remedy)
        raise UsageError("the Scenario has no spec.scale", "Say in it which nodes and workloads grow.")
    named = scale.limit if chosen.limit is None else chosen.limit
    if named == ESC and esc is None:
        raise InternalError("E700 a sweep to the ESC was given none")
    basis = esc if named == ESC else None
    limit = basis.limit if basis is not None else named if isinstance(named, Limit) else None
    from kubeproof.verify.scaling.fast_find import thin
    from kubeproof.verify.scaling.setups import all_sizes

    sizes = all_sizes(scale, limit, loaded.setup)
    if not sizes:
        raise NothingToCheckError("E301 spec.scale leaves no size within its limit. Raise the limit or lower its min.")
    return SweepPlan(loaded, scale, thin(sizes) if chosen.fast_find else sizes, options, limit, basis, chosen.fast_find)
