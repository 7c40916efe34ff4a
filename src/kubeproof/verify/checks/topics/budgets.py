"""Budgets that never allow an eviction, overlap, or do not mean what they seem to."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from kubeproof.cluster.objects import Setup, Source
from kubeproof.cluster.state import Phase
from kubeproof.cluster.steering.policies import PodDisruptionBudget
from kubeproof.controllers.evictions.budgets import BudgetScale, amounts_of, facts_of, status_of
from kubeproof.controllers.evictions.disruption import Amount, BudgetStatus
from kubeproof.named_tuples import NamedTuple
from kubeproof.verify.checks.declaration import INFO, WARNING, Check, Found
from kubeproof.verify.checks.scene import Scene
from kubeproof.verify.checks.surroundings import belong_together

Sizes = Mapping[str, int]  # by reference of the workload


class _Covering(NamedTuple):
    """A budget, and the cluster as far as it selects pods of it."""

    budget: PodDisruptionBudget
    setup: Setup

    @property
    def ref(self) -> str:
        return f"PodDisruptionBudget/{self.budget.namespace}/{self.budget.name}"

    @property
    def places(self) -> tuple[tuple[str, Source], ...]:
        return tuple((one.ref, one.source) for one in self.setup.workloads)

    @property
    def limit(self) -> str:
        budget = self.budget
        if budget.max_unavailable is not None:
            return f"maxUnavailable {Amount(*budget.max_unavailable)}"
        return "no amount" if budget.min_available is None else f"minAvailable {Amount(*budget.min_available)}"

    def status(self, sizes: Sizes) -> BudgetStatus:
        """The budget's status when every pod is ready."""
        numbered = [(number, sizes[one.ref]) for number, one in enumerate(self.setup.workloads)]
        scales = {number: BudgetScale(size, 0) for number, size in numbered}
        pods = [(number, facts_of(Phase.READY), size) for number, size in numbered]
        return status_of(self.setup, self.budget, scales, pods)


def _covering(scene: Scene) -> Iterator[_Covering]:
    """The budgets that select pods; those of other clusters' pods left out."""
    for budget, selected in scene.budgets:
        owners = tuple(scene.setup.workloads[number] for number in selected)
        if owners and all(belong_together(scene, budget.source, one.source) for one in owners):
            yield _Covering(budget, replace(scene.setup, workloads=owners))


def _sizes(setup: Setup, *, largest: bool) -> Sizes:
    """How many pods each workload has, at most or at least: autoscalers move them between their bounds."""
    sizes = {one.ref: one.replicas for one in setup.workloads}
    sizes |= {one.ref: len(setup.nodes) for one in setup.workloads if one.rules.runs_per_node}
    return sizes | {one.target: (one.min_replicas, one.max_replicas)[largest] for one in setup.autoscalers}


# -- budgets that allow nothing -----------------------------------------------------------------------


def _blocking(scene: Scene) -> Iterator[Found]:
    most, least = _sizes(scene.setup, largest=True), _sizes(scene.setup, largest=False)
    for one in _covering(scene):
        owners = one.setup.workloads
        if not any(most[owner.ref] for owner in owners) or all(owner.rules.runs_to_completion for owner in owners):
            continue  # that Jobs are not evicted until they are done may be what it is for
        at_most, at_least = one.status(most), one.status(least)
        if at_most.allowed == 0:
            yield Found(one.ref, _why(one, at_most), one.budget.source, one.places)
        elif at_least.allowed == 0 and at_least.healthy:
            pods = "1 pod" if at_least.healthy == 1 else f"{at_least.healthy} pods"
            told = f"allows no eviction while its autoscaler is at the minimum: {one.limit} of {pods}{_needs(one)}"
            yield Found(one.ref, told, one.budget.source, one.places, severity=INFO)


def _why(one: _Covering, status: BudgetStatus) -> str:
    owners = one.setup.workloads
    refs = ", ".join(dict.fromkeys(owner.ref for owner in owners))
    if status.failed:
        kinds = " or ".join(
            sorted({owner.kind for owner in owners if owner.rules.runs_per_node or owner.rules.runs_to_completion})
        )
        return f"never allows an eviction: {one.limit} needs a scale, and a {kinds} has none ({refs})"
    amount = amounts_of(one.budget).min_available
    rounds = f", rounded up from {amount}" if amount is not None and amount.percent else ""
    told = f"{status.desired} of {status.healthy} pods must stay{rounds} ({refs})"
    return f"never allows an eviction: {one.limit}, {told}{_needs(one)}"


def _needs(one: _Covering) -> str:
    """From how many pods on a percentage lets one go, as nobody sees that at once."""
    amount, pods = amounts_of(one.budget).min_available, amounts_of(one.budget).fewest_pods
    return f"; it lets one go from {pods} pods on" if amount is not None and amount.percent and pods else ""


# -- budgets beside each other, and beside rollouts ---------------------------------------------------


def _overlapping(scene: Scene) -> Iterator[Found]:
    """One finding for each set of budgets that select the same pods."""
    by_ref = {one.ref: one.budget for one in _covering(scene)}
    of_owner: dict[str, list[str]] = {}
    for one in _covering(scene):
        for owner in one.setup.workloads:
            of_owner.setdefault(owner.ref, []).append(one.ref)
    shared: dict[tuple[str, ...], list[str]] = {}
    for owner_ref, refs in of_owner.items():
        if len(refs) > 1:
            shared.setdefault(tuple(refs), []).append(owner_ref)
    for (first, *others), owners in shared.items():
        told = f"selects the pods of {', '.join(owners)}, and so does {', '.join(others)}: they are never evicted"
        also = [(ref, by_ref[ref].source) for ref in others]
        also += [(ref, scene.by_ref[ref].source) for ref in owners]
        yield Found(first, told, by_ref[first].source, tuple(also))


def _find_undercut(scene: Scene) -> Iterator[Found]:
    """Rollouts that take more pods away than the budget that covers exactly this Deployment would let go."""
    sizes = _sizes(scene.setup, largest=False)
    for one in _covering(scene):
        owner = one.setup.workloads[0]
        size = sizes[owner.ref]
        if len(one.setup.workloads) > 1 or not owner.rules.owns_replica_sets or not size:
            continue
        allowed, missing = one.status(sizes).allowed, owner.strategy.unavailable_of(size)
        if 0 < allowed < missing:
            told = f"a rollout takes {missing} of {size} pods away at once, {one.ref} allows {allowed}"
            yield Found(owner.ref, told, owner.source, ((one.ref, one.budget.source),))


def _find_rounded(scene: Scene) -> Iterator[Found]:
    """Shares of pods that round up to more than half of them."""
    sizes = _sizes(scene.setup, largest=False)
    for one in _covering(scene):
        amount = amounts_of(one.budget).max_unavailable
        if amount is None or not amount.percent:
            continue
        status = one.status(sizes)
        goes = amount.of(status.expected)
        if not status.failed and amount.value <= 50 and goes * 2 > status.expected > 1:
            told = f"{amount} of {status.expected} pods rounds up to {goes}: {status.expected - goes} may be left"
            yield Found(one.ref, told, one.budget.source, one.places)


CHECKS = (
    Check(
        id="K019",
        key="budget-blocks",
        severity=WARNING,
        title="a PodDisruptionBudget that never allows an eviction",
        explanation=(
            "With all pods ready its disruptionsAllowed is 0: kubectl drain, node upgrades and the cluster autoscaler "
            "wait for ever at the first node with such a pod. Percentages of minAvailable round up; maxUnavailable and "
            "percentages need a controller with a scale. It is info if only the smallest size that an autoscaler "
            "allows leaves no room."
        ),
        remedy="Allow one to be missing (maxUnavailable: 1), or run more pods than must stay, percentages rounded up",
        find=_blocking,
    ),
    Check(
        id="K020",
        key="budgets-overlap",
        severity=WARNING,
        title="two PodDisruptionBudgets that select the same pods",
        explanation=(
            "The eviction API supports one budget for a pod and answers with an error (500) if more match: drains of "
            "its node never end."
        ),
        remedy="Make their selectors exclude each other, or remove one",
        find=_overlapping,
    ),
    Check(
        id="K021",
        key="budget-undercut-by-rollout",
        severity=INFO,
        title="a rollout that may take more pods away at once than the budget allows evictions to",
        explanation=(
            "Rollouts delete pods without asking budgets: maxUnavailable of the Deployment decides alone. If the "
            "budget is the number of pods that the service needs, a rollout goes below it."
        ),
        remedy="Lower maxUnavailable of the Deployment's strategy",
        find=_find_undercut,
    ),
    Check(
        id="K022",
        key="budget-rounds-up",
        severity=INFO,
        title="a maxUnavailable in percent that lets more than half of the pods go",
        explanation="Percentages of a budget round up: 50% of three pods is two, and one is left.",
        remedy="Write maxUnavailable: 1, or minAvailable",
        find=_find_rounded,
    ),
)
