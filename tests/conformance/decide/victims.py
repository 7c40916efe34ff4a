"""Our ReplicaSet controller chooses the victims of the recorded scale-downs.

Twice: the oracle `victim_order` orders the pods with their ages, and, where the model's pods can stand
for the recorded ones, `ReplicaSetController.act` offers its ways to delete as in every run. The ordered victims
must be one of those ways, and the ways must be all that rules 1 to 5 leave open, and no more.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cmp_to_key
from itertools import product
from typing import Any

from kubeproof.cluster.loops.actions import Delete, DeleteUnbound
from kubeproof.cluster.loops.control import Seen
from kubeproof.cluster.state import NodeCell, Phase, PodKind, WorkloadCell
from kubeproof.controllers.workloads.replicaset import ReplicaSetController
from kubeproof.controllers.workloads.victims import PENDING, RUNNING, UNKNOWN
from tests.conformance.corpus import Case, Decision, version_of
from tests.oracles import victim_order as ranking
from tests.unit.model.builders import layout, node, setup, workload

SECOND_NS = 10**9
PHASES = {"Pending": PENDING, "Unknown": UNKNOWN, "Running": RUNNING}  # of active pods

NODES = ("a", "b", "c")
OWN, SIBLING = 0, 1
REVISIONS = (workload(), replace(workload(name="web-2"), owner=workload().ref))
EVERY_NODE_ALONE, ALL_TOGETHER = ((0,), (1,), (2,)), ((0, 1, 2),)  # nodes that can be told apart, or not
CONTROLLERS = tuple(
    ReplicaSetController(layout(setup([node(name) for name in NODES], *REVISIONS), *places), OWN)
    for places in (EVERY_NODE_ALONE, ALL_TOGETHER)
)
MODELLED = {  # phase and readiness of a bound pod, and the phases of the model that mean it
    ("Pending", False): (Phase.STARTING,),
    ("Running", False): (Phase.RUNNING, Phase.UNREADY),
    ("Running", True): (Phase.READY,),
}
Lost = Counter[tuple[str, tuple[int, ...]]]  # pods that go, by node and phases; node "" for those without one
Way = tuple[int, tuple[Any, ...]]  # pods without a node; (place, view of the node, losses) of each node that loses pods


def victims(case: Case, upstream: str) -> Decision:
    """UIDs of the pods that go, in the order of their deletion; what is wrong with the ways of runs if they differ."""
    chosen = [pod.uid for pod in ranking.victims(candidates(case), case["count"], version_of(upstream))]
    if is_modelled(case):
        lost = _lost([pod for pod in case["pods"] if pod["uid"] in set(chosen)])
        for controller in CONTROLLERS:
            offered = ways_of_runs(controller, case)
            if _way(controller, case, lost) not in offered:
                return {"never in a run": chosen}
            if offered != {_way(controller, case, other) for other in _left_open(case)}:
                return {"runs have other ways than": chosen}
    return chosen


def candidates(case: Case) -> list[ranking.Candidate]:
    """The pods of the ReplicaSet, as our ranking compares them."""
    everybody = [*case["others"], *case["pods"]]
    on_node = Counter(pod["node"] for pod in everybody if _is_active(pod))
    return [_candidate(pod, on_node[pod["node"]], case["at"]) for pod in case["pods"]]


def _candidate(pod: Mapping[str, Any], rank: int, at_ns: int) -> ranking.Candidate:
    return ranking.Candidate(
        assigned=bool(pod["node"]),
        phase=PHASES[pod["phase"]],
        ready=pod["ready"],
        deletion_cost=int(pod.get("cost", "0")),
        rank=rank,
        ready_age_ns=_age_ns(pod["since"], at_ns),
        restarts=max(pod.get("restarts", ()), default=0),
        age_ns=_age_ns(pod["created"], at_ns),
        uid=pod["uid"],
        sidecar_restarts=max(pod.get("sidecars", ()), default=0),
    )


def _age_ns(seconds_before: int | None, at_ns: int) -> int | None:
    return None if seconds_before is None else seconds_before * SECOND_NS + at_ns


def _is_active(pod: Mapping[str, Any]) -> bool:
    return pod["phase"] in PHASES and not pod.get("ending")


def is_modelled(case: Case) -> bool:
    """Whether the model has such pods: bound ones of equal cost, none of phase Unknown, none ready before it runs.

    Of pods without a node the model keeps the number, since all of them go first.
    """
    bound = [pod for pod in case["pods"] if pod["node"]]
    costs = {int(pod.get("cost", "0")) for pod in bound}
    return len(costs) <= 1 and all((pod["phase"], pod["ready"]) in MODELLED for pod in bound)


def ways_of_runs(controller: ReplicaSetController, case: Case) -> set[Way]:
    """What the controller of runs offers in a cluster with these pods."""
    places: list[Counter[Any]] = [Counter() for _ in controller.reads.places]
    for name in NODES:
        place, view = _shown(controller, case, name)
        if view is not None:
            places[place][view] += 1
    size = len(case["pods"]) - case["count"]
    spec = WorkloadCell(desired=size, replicas=size, unbound=sum(not pod["node"] for pod in case["pods"]))
    seen = Seen((controller.show_workload(OWN, spec),), tuple(tuple(views.items()) for views in places))
    return {_told(decision.actions) for decision in controller.act(seen)}


def _shown(controller: ReplicaSetController, case: Case, name: str) -> tuple[int, Any]:
    place = controller.layout.find_named(name)
    assert place is not None
    own = [PodKind(OWN, phase) for phase in _phases([pod for pod in case["pods"] if pod["node"] == name])]
    others = [pod for pod in case["others"] if pod["node"] == name and pod["phase"] in PHASES]
    kinds = Counter(own + [PodKind(SIBLING, Phase.TERMINATING if p["ending"] else Phase.READY) for p in others])
    return place, controller.show_node(place, NodeCell(pods=tuple(sorted(kinds.items()))))


def _phases(pods: Sequence[Mapping[str, Any]]) -> Iterator[int]:
    """Phases of the model; where two mean the same, they take turns."""
    for index, pod in enumerate(pods):
        same = MODELLED[pod["phase"], pod["ready"]]
        yield same[index % len(same)]


def _told(actions: Sequence[Any]) -> Way:
    """What the controller says it deletes."""
    unbound = sum(action.pods for action in actions if isinstance(action, DeleteUnbound))
    deleted = [action for action in actions if isinstance(action, Delete)]
    return unbound, tuple(sorted((*action.node, tuple(sorted(action.losses))) for action in deleted))


def _lost(pods: Sequence[Mapping[str, Any]]) -> Lost:
    return Counter((pod["node"], MODELLED[pod["phase"], pod["ready"]] if pod["node"] else ()) for pod in pods)


def _way(controller: ReplicaSetController, case: Case, lost: Lost) -> Way:
    """The same, of pods that are known by their nodes."""
    losses = {name: tuple(sorted((key[1], n) for key, n in lost.items() if key[0] == name and n)) for name in NODES}
    losers = [name for name in NODES if losses[name]]
    return lost["", ()], tuple(sorted((*_shown(controller, case, name), losses[name]) for name in losers))


def _left_open(case: Case) -> Iterator[Lost]:
    """Every outcome that ages, restarts and UIDs may lead to: all before the last victim, and some of its equals."""
    known = [(_without_ages(pod), given) for pod, given in zip(candidates(case), case["pods"], strict=True)]
    ordered = sorted(known, key=cmp_to_key(lambda one, other: ranking.compare(one[0], other[0])))
    last = ordered[case["count"] - 1][0]
    certain = _lost([given for pod, given in known if ranking.compare(pod, last) < 0])
    equal = _lost([given for pod, given in known if ranking.compare(pod, last) == 0])
    for amounts in product(*(range(n + 1) for n in equal.values())):
        if sum(amounts) == case["count"] - certain.total():
            yield certain + Counter(dict(zip(equal, amounts, strict=True)))


def _without_ages(pod: ranking.Candidate) -> ranking.Candidate:
    if not pod.assigned:
        return ranking.Candidate(assigned=False, phase=PENDING, ready=False)
    return ranking.Candidate(True, pod.phase, pod.ready, pod.deletion_cost, pod.rank)
