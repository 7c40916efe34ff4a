"""All edits of an input, as far as the user lets them be made."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from kubeproof.errors import UsageError
from kubeproof.manifests.editing.written import Written
from kubeproof.values import dataclass
from kubeproof.verify.fix.around import Around
from kubeproof.verify.fix.catalogue import (
    affinities,
    amounts,
    autoscaling,
    budgets,
    descheduling,
    jobs,
    priorities,
    rollouts,
    scheduling,
    serving,
    sizes,
    spreading,
    tolerating,
)
from kubeproof.verify.fix.edits import Edit

Propose = Callable[[Written, Around], Iterator[Edit]]
PROPOSERS: tuple[Propose, ...] = (
    budgets.propose_budgets,
    rollouts.propose_rollouts,
    sizes.propose_sizes,
    sizes.propose_ignoring,
    spreading.propose_spreading,
    affinities.propose_affinities,
    affinities.propose_unpinning,
    autoscaling.propose_autoscaling,
    serving.propose_serving,
    tolerating.propose_tolerations,
    tolerating.propose_taints,
    priorities.propose_priorities,
    descheduling.propose_descheduling,
    scheduling.propose_packing,
    amounts.propose_amounts,
    jobs.propose_forgiving,
)
KINDS = {  # as --allow and --deny take them
    budgets.BUDGET: "numbers and selectors of PodDisruptionBudgets",
    budgets.NEW_BUDGET: "PodDisruptionBudgets for workloads that have none",
    rollouts.ROLLOUT: "maxSurge and maxUnavailable of rollouts",
    rollouts.RECREATE: "the strategy Recreate",
    rollouts.MIN_READY: "minReadySeconds",
    rollouts.PAUSED: "spec.paused of Deployments",
    rollouts.PARALLEL: "podManagementPolicy of StatefulSets",
    sizes.MORE: "more replicas",
    sizes.FEWER: "fewer replicas, where nothing else helps",
    sizes.OWNER: "spec.replicas left to autoscalers, also by GitOps",
    spreading.SPREAD: "fields of topology spread constraints",
    spreading.NEW_SPREAD: "new topology spread constraints",
    spreading.NO_SPREAD: "topology spread constraints that go",
    affinities.PREFERRED: "affinities that are preferred in place of required, or per revision",
    affinities.APART: "new anti-affinity of a workload's own pods",
    affinities.PINNED: "nodeSelector in place of nodeName",
    autoscaling.BOUNDS: "minReplicas of autoscalers",
    autoscaling.MAXIMUM: "maxReplicas of autoscalers",
    autoscaling.TARGET: "metrics of autoscalers and their targets",
    autoscaling.BEHAVIOR: "behavior of autoscalers",
    serving.PROBE: "readiness probes",
    serving.HOOK: "preStop hooks",
    serving.TRAFFIC: "externalTrafficPolicy of Services",
    tolerating.TOLERATION: "tolerations",
    tolerating.SECONDS: "how long pods tolerate nodes that are gone",
    tolerating.TAINT: "taints of nodes",
    priorities.PRIORITY: "priority classes of workloads",
    priorities.NEW_CLASS: "new priority classes",
    priorities.CLASS: "values and preemption of priority classes",
    descheduling.ARGUMENTS: "arguments of descheduler plugins",
    descheduling.PLUGIN: "descheduler plugins that are off",
    scheduling.PROFILE: "scheduler profiles",
    amounts.MORE: "larger requests",
    amounts.LESS: "smaller requests",
    amounts.MISSING: "requests that an autoscaler needs",
    jobs.FORGIVING: "failures that Jobs forgive",
}


@dataclass(frozen=True, slots=True)
class Limits:
    """What the user lets be changed."""

    allowed: tuple[str, ...] = ()  # kinds; (): all
    denied: tuple[str, ...] = ()

    def permit(self, kind: str) -> bool:
        """True if edits of this kind may be made."""
        return kind not in self.denied and (not self.allowed or kind in self.allowed)


def check_kinds(names: tuple[str, ...]) -> None:
    """Raises for a kind of edits that there is not."""
    for name in names:
        if name not in KINDS:
            raise UsageError(f"{name!r} is no kind of edit", f"There are: {', '.join(KINDS)}.")


def list_edits(objects: tuple[Written, ...], limits: Limits) -> list[Edit]:
    """All edits of all objects, the cheapest first; objects that nobody is to touch are left as they are."""
    around = Around(objects)
    found = [edit for one in objects for propose in PROPOSERS for edit in propose(one, around)]
    free = [edit for edit in found if limits.permit(edit.kind) and not _is_refused(edit)]
    return sorted(free, key=lambda edit: edit.cost)


def _is_refused(edit: Edit) -> bool:
    """True if annotations of an object say that it is not to be changed, or not so."""
    return any(one.is_protected or edit.kind in one.denied for one, _ in edit.changes)
