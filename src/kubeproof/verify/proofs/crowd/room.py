"""How many nodes may be full at once: what all pods together request, at most, against what nodes offer.

On every node that can take a pod there are daemon pods, a known number of each. All other pods may be anywhere: as
many as their owners want at their largest, and for a while those that still end because a size fell, a template
changed, or a node was lost and came back. `docs/explanation/reductions.md` has the argument.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction

from kubeproof.cluster.labels import NO_SCHEDULE, Taint
from kubeproof.cluster.loops.footprint import ON_NODES, RESIZING, Scope, Sizing, Writes, footprint_of
from kubeproof.cluster.nodes.daemons import eligibility
from kubeproof.cluster.nodes.places import UNREACHABLE
from kubeproof.cluster.objects import (
    Node,
    PodTemplate,
    Workload,
)
from kubeproof.cluster.steering.counted import foreign_to
from kubeproof.cluster.steering.policies import HorizontalPodAutoscaler, Metric
from kubeproof.cluster.usage import DEFAULT_PERCENT, Pod, containers_of, pod_usage
from kubeproof.controllers.scheduler.plugins.node_affinity import required_affinity_matches
from kubeproof.controllers.scheduler.plugins.taint_toleration import keeps_pods_off
from kubeproof.controllers.scheduler.requests import pod_requests
from kubeproof.controllers.workloads.daemon_update import surges
from kubeproof.events.declarations import Event, is_drain
from kubeproof.manifests.loaded import Loaded
from kubeproof.model.expansion.cron import bound_jobs
from kubeproof.model.loops.adjusting import autoscaler_settings
from kubeproof.named_tuples import NamedTuple
from kubeproof.verify.proofs.crowd.healing import is_healed

PODS = "pods"
SILENT = Taint(UNREACHABLE, "", NO_SCHEDULE)  # of a node that is lost
ENDLESS = 1_000_000  # times: so many pods are more than any node takes
SILENCING = Writes.FAILURES | Writes.OUTAGES
PODS_OF_ONE = Writes.PODS | Writes.DELETIONS | Writes.CRASHES | Writes.USAGE
COUNTED = ON_NODES | RESIZING | PODS_OF_ONE  # what is counted here and in `resizing`
SIZED = Writes.SIZES | Writes.PODS
SHAPED = Writes.TEMPLATES | Writes.OBJECTS
Amounts = Mapping[str, int]


class Crowd(NamedTuple):
    """The pods of one workload that may be anywhere."""

    requests: Amounts
    scored: Amounts  # what it requests where nodes are scored
    lasting: int  # when all events are over and what they ended is gone
    most: int  # at any time, where no node was lost
    lost: int  # pods that a lost node can take with it, and that are replaced


class Room:
    """What the pods of an input may take of its nodes."""

    def __init__(self, loaded: Loaded) -> None:
        self._loaded = loaded
        self.scalers = tuple(working(loaded))  # that may ever write a size
        self._roaming = [one for one in loaded.setup.workloads if not one.rules.runs_per_node]
        self._crowds = [self._crowd(one) for one in self._roaming]
        self._daemons = [one for one in loaded.setup.workloads if one.rules.runs_per_node]
        self._lost = _count_lost(loaded)
        self._fillings: dict[frozenset[int], _Fillings] = {}
        self._guests: dict[str, frozenset[int]] = {}
        self._beside: dict[tuple[str, bool], Amounts] = {}
        self._held: dict[str, tuple[Amounts, Amounts]] = {}

    def find_shortage(self, workload: Workload) -> int:
        """How many of the nodes that admit pods of a workload may lack room for one for ever, at most.

        What ends because of an event is gone in the end, except on a dead node.
        """
        small, nodes, left = self._sum_offered(workload, is_lasting=True)
        return small + min(len(nodes), self._fill(nodes).lasting.most_full(left) + self._dead(workload))

    def find_passing_shortage(self, workload: Workload) -> int:
        """How many of these nodes may lack room for a pod of it at any one time, at most."""
        small, nodes, left = self._sum_offered(workload, is_lasting=False)
        filling = self._fill(nodes)
        full = min(filling.standing.most_full(left) + self._lost, filling.ending.most_full(left))
        full += _count_uncordoned_early(self._loaded)
        return small + min(len(nodes), full + self._dead(workload))

    def find_most_held(self, node: Node) -> tuple[Amounts, Amounts] | None:
        """The most that pods on a node may request at any one time, and the most where nodes are scored."""
        if _count_uncordoned_early(self._loaded):
            return None
        if node.name not in self._held:
            self._held[node.name] = self._most_held(node)
        return self._held[node.name]

    def _most_held(self, node: Node) -> tuple[Amounts, Amounts]:
        version, lost = self._loaded.setup.settings.kubernetes_version, self._lost
        held, scored = dict(node.held.requested), dict(node.held.scored)
        for crowd in self._crowds:
            _add(held, crowd.requests, crowd.most + lost * crowd.lost)
            _add(scored, crowd.scored, crowd.most + lost * crowd.lost)
        for daemon in self._daemons:
            count = _most_daemons(self._loaded, daemon, node, is_lasting=False) + lost
            for form in _forms(self._loaded, daemon):
                _add(held, pod_requests(form, version).true, count)
                _add(scored, pod_requests(form, version).scored, count)
        return held, scored

    def _dead(self, workload: Workload) -> int:
        """Dead nodes that take pods: there pods end for ever. Of those that come later, a DaemonSet's alone are few."""
        is_kept_off = keeps_pods_off((SILENT,), workload.template.tolerations)
        return 0 if is_kept_off or workload.rules.runs_per_node else _failing(self._loaded)

    @property
    def is_never_short(self) -> bool:
        """True if every node has room at any time for every pod that its rules admit there."""
        short = (self.find_passing_shortage(workload) for workload in self._loaded.setup.workloads)
        return all(map(is_counted, self._loaded.scenario.events)) and not any(short)

    def find_left(self, node: Node, workload: Workload) -> Amounts | None:
        """What a node has left beside daemon pods and one pod of a workload; None if it is too small for it."""
        forms, version = _forms(self._loaded, workload), self._loaded.setup.settings.kubernetes_version
        own = _largest(_requests(form, version) for form in forms)
        free = self._beside_others(node, workload, own, is_lasting=True)
        left = {name: free.get(name, 0) - amount for name, amount in own.items() if amount}
        return left if all(amount >= 0 for amount in left.values()) else None

    def find_lasting(self, workload: Workload) -> tuple[Amounts, int]:
        """What a pod of a workload requests at most, and how many of them there are when all events are over."""
        crowd = self._crowd(workload)
        return crowd.requests, crowd.lasting

    def _fill(self, nodes: Sequence[Node]) -> _Fillings:
        """What may fill these nodes: the pods that may be on one of them."""
        guests = frozenset[int]().union(*{self._find_guests(node) for node in nodes})
        if guests not in self._fillings:
            self._fillings[guests] = _fill([self._crowds[n] for n in sorted(guests)], self._lost)
        return self._fillings[guests]

    def _find_guests(self, node: Node) -> frozenset[int]:
        """The crowds, by number, of which pods may be on a node."""
        if node.name not in self._guests:
            loaded = self._loaded
            found = (n for n, one in enumerate(self._roaming) if _may_be_on(loaded, node, one))
            self._guests[node.name] = frozenset(found)
        return self._guests[node.name]

    def _sum_offered(self, workload: Workload, *, is_lasting: bool) -> tuple[int, list[Node], Amounts]:
        """Of the nodes that may admit pods: how many are too small, which are not, and what these have left."""
        forms, setup = _forms(self._loaded, workload), self._loaded.setup
        own = _largest(_requests(form, setup.settings.kubernetes_version) for form in forms)
        nodes = [node for node in setup.nodes if any(may_admit(node, form) for form in forms)]
        wanted = {name: amount for name, amount in own.items() if amount}
        free = ((node, self._beside_others(node, workload, own, is_lasting=is_lasting)) for node in nodes)
        roomy = [(node, has) for node, has in free if all(has.get(name, 0) >= wanted[name] for name in wanted)]
        left = {name: min(has.get(name, 0) for _, has in roomy) - wanted[name] for name in wanted if roomy}
        return len(nodes) - len(roomy), [node for node, _ in roomy], left

    # -- pods that may be anywhere --------------------------------------------------------------

    def _crowd(self, workload: Workload) -> Crowd:
        version = self._loaded.setup.settings.kubernetes_version
        forms = _forms(self._loaded, workload)
        requests = _largest(_requests(form, version) for form in forms)
        scored = _largest(pod_requests(form, version).scored for form in forms)
        events = _events_on(self._loaded, workload)
        scalers = [a for a in self.scalers if a.target == workload.ref]
        setup, happening = self._loaded.setup, self._loaded.scenario.events
        jobs = bound_jobs(setup, workload, happening) if workload.rules.starts_jobs else 1
        active = size = _most_wanted(workload, jobs, events, scalers)
        active += _most_surge(workload, size, events)
        lasting = active
        lasting += sum(self._most_let_go(workload, a, active, is_alone=len(scalers) == 1) for a in scalers)
        lasting += active if workload.rules.starts_jobs else 0  # of which Jobs end without end
        most = lasting + _present(self._loaded, workload)
        most += _most_ending(workload, size, active, events, is_healed=is_healed(self._loaded, workload))
        lost = 0 if workload.rules.has_ordinals else active  # an ordinal is replaced when its pod is gone
        return Crowd(requests, scored, lasting, most, lost)

    def _most_let_go(
        self, workload: Workload, autoscaler: HorizontalPodAutoscaler, active: int, *, is_alone: bool
    ) -> int:
        """Pods that an autoscaler lets go within one grace period: each sync may take all above the minimum.

        While it remembers that it wanted more it takes none away, so after a rise nothing falls for a window.
        """
        if workload.rules.has_ordinals:
            return 0
        settings = self._loaded.setup.settings
        fall = max(0, active - min(workload.replicas, autoscaler.min_replicas))
        given = autoscaler.scale_down.window_s if autoscaler.scale_down is not None else None
        window_s = settings.downscale_stabilization_s if given is None else given
        if is_alone and workload.template.grace_s < window_s:
            return fall
        return fall * (1 + workload.template.grace_s // settings.hpa_period_s)

    # -- daemon pods ----------------------------------------------------------------------------

    def _beside_others(self, node: Node, workload: Workload, own: Amounts, *, is_lasting: bool) -> Amounts:
        """What a node offers beside all daemon pods that it may have, one of the workload's own aside."""
        key = (node.name, is_lasting)
        if key not in self._beside:
            self._beside[key] = self._beside_daemons(node, is_lasting=is_lasting)
        free = dict(self._beside[key])
        if workload.rules.runs_per_node:
            for name, amount in own.items():
                free[name] = free.get(name, 0) + amount
        return free

    def _beside_daemons(self, node: Node, *, is_lasting: bool) -> Amounts:
        """What a node offers beside all daemon pods that it may have."""
        version = self._loaded.setup.settings.kubernetes_version
        free = dict(_capacity(node))
        for name, amount in (*node.held.requested, (PODS, node.held.pods)):
            free[name] = free.get(name, 0) - amount
        for daemon in self._daemons:
            count = _most_daemons(self._loaded, daemon, node, is_lasting=is_lasting)
            for name, amount in _largest(_requests(form, version) for form in _forms(self._loaded, daemon)).items():
                free.setdefault(name, 0)
                free[name] -= amount * count
        return free


def is_counted(event: Event) -> bool:
    """True if it is known how many pods it may bring, of which workload, what they ask for, and how often it comes."""
    told = footprint_of(event)
    if told.concerns_all or told.writes not in COUNTED or (told.writes & ~ON_NODES and event.subject is None):
        return False
    is_endless = bool(told.writes & RESIZING) and _most_times(event) is None
    is_unsized = bool(told.writes & SIZED) and told.sizing is Sizing.ANY
    return not (is_endless or is_unsized or (told.writes & SHAPED and told.reshapes))


def may_admit(node: Node, template: PodTemplate) -> bool:
    """True unless the node refuses the pods for ever; a cordon may end."""
    matches = required_affinity_matches(template, dict(node.labels), node.name)
    return matches and not keeps_pods_off(node.taints, template.tolerations)


class _Filling:
    """Pods that may fill nodes, equal ones together; what they fill is worked out once for nodes with as much left."""

    def __init__(self, pods: Iterable[tuple[Amounts, int]]) -> None:
        counts: dict[tuple[tuple[str, int], ...], int] = {}
        for requests, count in pods:
            key = tuple(sorted(requests.items()))
            counts[key] = counts.get(key, 0) + count
        self._pods = [(dict(requests), count) for requests, count in counts.items()]
        self._known: dict[tuple[tuple[str, int], ...], int] = {}

    def most_full(self, left: Amounts) -> int:
        """How many nodes they may fill at once if each has so much left beside one more pod."""
        key = tuple(sorted(left.items()))
        if key not in self._known:
            self._known[key] = _most_full(self._pods, left)
        return self._known[key]


class _Fillings(NamedTuple):
    """What may fill the same nodes."""

    lasting: _Filling
    standing: _Filling
    ending: _Filling


def _fill(crowds: Sequence[Crowd], lost: int) -> _Fillings:
    return _Fillings(
        _Filling((crowd.requests, crowd.lasting) for crowd in crowds),
        _Filling((crowd.requests, crowd.most) for crowd in crowds),
        _Filling((crowd.requests, crowd.most + lost * crowd.lost) for crowd in crowds),
    )


def _may_be_on(loaded: Loaded, node: Node, workload: Workload) -> bool:
    """True unless a node refuses the pods, and none of them was put there without being asked for."""
    if workload.bound_to or workload.template.node_name:
        return True
    if _present(loaded, workload):
        return True
    return any(may_admit(node, form) for form in _forms(loaded, workload))


def _most_full(pods: Sequence[tuple[Amounts, int]], left: Amounts) -> int:
    """How many nodes so many pods may fill at once if each has so much left beside one more pod.

    A full node holds more than that of some resource. So if every pod weighs as much as the largest of its shares of
    what is left, a full node weighs at least 1. Or resource by resource: the better of the two.
    """
    each = sum(
        sum(requests.get(name, 0) * count for requests, count in pods) // (amount + 1) for name, amount in left.items()
    )
    weights = (
        count * max((Fraction(requests.get(name, 0), amount + 1) for name, amount in left.items()), default=Fraction(0))
        for requests, count in pods
    )
    return min(each, int(sum(weights, Fraction(0))))


# -- nodes that are lost and come back --------------------------------------------------------------


def _count_lost(loaded: Loaded) -> int:
    """The nodes that may be lost and come back: pods that were replaced meanwhile still end there.

    With each of them all pods that were there may end, those on the next one perhaps being their successors.
    """
    return sum(_count_lost_by(loaded, event) for event in loaded.scenario.events)


def _count_lost_by(loaded: Loaded, event: Event) -> int:
    nodes, most = loaded.setup.nodes, _most_times(event)
    if not writes_any(event, SILENCING) or not event.ends_any_time:
        return 0
    if most is None:
        return len(nodes)
    if footprint_of(event).takes_pods_of is Scope.NODE:
        return most
    if event.domain_key is None:
        return most * len(nodes)
    domains = [dict(node.labels).get(event.domain_key) for node in nodes]
    return most * max((domains.count(domain) for domain in domains if domain is not None), default=0)


def _failing(loaded: Loaded) -> int:
    """The nodes that may be dead for ever."""
    return len(loaded.setup.nodes) if any(writes_any(event, SILENCING) for event in loaded.scenario.events) else 0


def _count_uncordoned_early(loaded: Loaded) -> int:
    """Nodes that somebody may uncordon while they are being drained; otherwise they are empty by then."""
    events = loaded.scenario.events
    if not any(event.may_uncordon for event in events):
        return 0
    return sum(event.max for event in events if is_drain(event))


# -- pods -------------------------------------------------------------------------------------------


def _requests(template: PodTemplate, version: tuple[int, int]) -> Amounts:
    return {**pod_requests(template, version).true, PODS: 1}


def _largest(amounts: Iterable[Amounts]) -> Amounts:
    """The most of each resource."""
    found: dict[str, int] = {}
    for one in amounts:
        for name, amount in one.items():
            found[name] = max(amount, found.get(name, 0))
    return found


def _add(total: dict[str, int], amounts: Amounts, count: int) -> None:
    for name, amount in amounts.items():
        total[name] = total.get(name, 0) + amount * count


def _forms(loaded: Loaded, workload: Workload) -> tuple[PodTemplate, ...]:
    """The pod templates that a workload may have."""
    forms = (event.form for event in _events_on(loaded, workload))
    return (workload.template, *(form.template for form in forms if form is not None))


def _events_on(loaded: Loaded, workload: Workload) -> list[Event]:
    return [event for event in loaded.scenario.events if event.subject == workload.ref]


def writes_any(event: Event, what: Writes) -> bool:
    """True if the event may change some of this."""
    return bool(footprint_of(event).writes & what)


def _most_times(event: Event) -> int | None:
    """How often it may happen; None: any number of times."""
    return event.max


def _present(loaded: Loaded, workload: Workload) -> int:
    """Pods that are there at the start, perhaps more than wanted."""
    start = loaded.scenario.start
    placed = sum(count for ref, spots in start.placement if ref == workload.ref for _, count in spots)
    return placed + sum(one.number for one in start.pods if one.ref == workload.ref)


def _most_wanted(
    workload: Workload, jobs: int, events: Sequence[Event], scalers: Sequence[HorizontalPodAutoscaler]
) -> int:
    """The largest size of a workload; of a CronJob all `jobs` that it may have at once, of others one."""
    if workload.rules.is_pod:
        return 1
    sizes = [workload.replicas, *(a.max_replicas for a in scalers)]
    sizes += [n for event in events for n in event.sizes]
    return max(sizes) * jobs


def _most_surge(workload: Workload, size: int, events: Sequence[Event]) -> int:
    """Pods that a rollout adds."""
    strategies = [event.form.strategy for event in events if event.form is not None]
    if not workload.rules.owns_replica_sets or not any(writes_any(event, Writes.TEMPLATES) for event in events):
        return 0
    return max(strategy.surge_of(size) for strategy in (workload.strategy, *strategies))


def _most_ending(workload: Workload, size: int, active: int, events: Sequence[Event], *, is_healed: bool) -> int:
    """Pods that end beside the active ones, autoscalers aside, on nodes that nothing has hit.

    A StatefulSet has one pod of each ordinal, ending or not. A Job ends all its pods once, when it is over. The first
    rollout takes away the pods of the first revision, which does not grow again, unless a reconciler undoes it.
    """
    if workload.rules.has_ordinals:
        return 0
    if workload.rules.runs_to_completion:
        return 2 * active
    falls = [event for event in events if writes_any(event, RESIZING)]
    if len(falls) == 1 and only_rolls_out(falls[0]) and falls[0].max == 1 and not is_healed:
        return size
    changes = sum(max(_most_times(event) or ENDLESS, len(event.sizes)) for event in falls)
    return active * changes * (2 if is_healed else 1)


def only_rolls_out(event: Event) -> bool:
    """True if it gives a workload another revision of the template that it has, and does nothing else."""
    told = footprint_of(event)
    return told.writes == Writes.TEMPLATES and not told.reshapes and event.form is None


def _most_daemons(loaded: Loaded, daemon: Workload, node: Node, *, is_lasting: bool) -> int:
    """Pods of a DaemonSet on a node that nothing has hit.

    A pod that ends holds its successor up, unless the DaemonSet surges: then there is one of each revision, and perhaps
    one that ends for a while.
    """
    changes = [event for event in _events_on(loaded, daemon) if writes_any(event, RESIZING)]
    present = 0 if is_lasting else _present(loaded, daemon)
    if not changes and not eligibility(daemon.template, node, node.taints).should_run:
        return present
    is_applied = any(event.form is not None for event in changes)
    if not changes or not (is_applied or surges(daemon.strategy)):
        return 1 + present
    is_single = len(changes) == 1 and not is_applied and changes[0].max == 1 and not is_healed(loaded, daemon)
    return present + (2 if is_lasting or is_single else 3)


def _capacity(node: Node) -> Iterator[tuple[str, int]]:
    yield from (("cpu", node.cpu_milli), ("memory", node.memory_bytes), (PODS, node.pods))
    yield from node.others


# -- autoscalers ------------------------------------------------------------------------------------


def working(loaded: Loaded) -> Iterator[HorizontalPodAutoscaler]:
    """The autoscalers that may ever write a size."""
    known = {workload.ref: workload for workload in loaded.setup.workloads}
    for autoscaler in loaded.setup.autoscalers:
        target = known.get(autoscaler.target)
        if target is None or not _rests(loaded, autoscaler, target):
            yield autoscaler


def _rests(loaded: Loaded, autoscaler: HorizontalPodAutoscaler, target: Workload) -> bool:
    """True if the autoscaler never writes a size.

    Pods use half of their requests. If that is what it aims at it changes nothing, however many pods there are. If it
    is less, it asks for no more than there are, and for no less than its minimum: it rests there as long as there are
    no more pods than wanted, so without rollouts. That takes the target's own pods alone: with those of others it may
    want as many as all of them. After a change of size it may go back to what it wanted before.
    """
    events = _events_on(loaded, target)
    if foreign_to(loaded.setup, autoscaler) or any(writes_any(event, Writes.USAGE) for event in events):
        return False
    changes = [event for event in events if writes_any(event, RESIZING)]
    is_bounded = autoscaler.min_replicas <= target.replicas <= autoscaler.max_replicas
    if is_bounded and all(_is_on_target(loaded, autoscaler, target, metric) for metric in autoscaler.metrics):
        return all(map(only_rolls_out, changes))
    is_least = target.replicas == autoscaler.min_replicas and not changes
    return is_least and all(map(_is_above_usage, autoscaler.metrics))


def _is_on_target(loaded: Loaded, autoscaler: HorizontalPodAutoscaler, target: Workload, metric: Metric) -> bool:
    """True if what pods use without any event is what the metric aims at."""
    if metric.type != "Resource" or metric.target_type != "Utilization":
        return False
    from kubeproof.controllers.hpa.behavior import behavior_of, tolerance_of  # few inputs have an autoscaler
    from kubeproof.controllers.hpa.samples import pod_request

    version = loaded.setup.settings.kubernetes_version
    used = pod_usage((), Pod(containers_of(target.template, version)), metric.name, {})
    request = pod_request(target.template, metric.name, version=version)
    tolerance = tolerance_of(behavior_of(autoscaler), autoscaler_settings(loaded.setup))
    return bool(request) and tolerance.covers(float(used * 100 // (request or 1)) / float(metric.value))


def _is_above_usage(metric: Metric) -> bool:
    is_share = metric.type == "Resource" and metric.target_type == "Utilization"
    return is_share and metric.value >= DEFAULT_PERCENT
