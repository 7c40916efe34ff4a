"""Cutting an input into parts that cannot influence each other, each verified on its own.

Two workloads belong together if some node could take pods of both, if a selector, budget, autoscaler, event or intent
relates them, or if one owns the other. All nodes stay in every part: the state of a zone depends on all of them,
and empty nodes cost nothing. What time has to do with it, and why the verdicts are exact, is in
`docs/explanation/reductions.md`; where they might not be, `cut` gives a reason and nothing is cut.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import combinations
from string import digits

from kubeproof.cluster.labels import NO_EXECUTE, LabelSelector, Requirement
from kubeproof.cluster.loops.footprint import ON_NODES, Writes, footprint_of
from kubeproof.cluster.objects import Held, Node, PodAffinity, PodTemplate, Setup, Workload
from kubeproof.cluster.steering.counted import selects
from kubeproof.cluster.steering.priorities import has_priorities
from kubeproof.cluster.steering.profiles import NODE_AFFINITY, TAINT_TOLERATION, is_switched_on
from kubeproof.cluster.volumes import Claim, fits, open_claims
from kubeproof.controllers.admission.quota import is_meant
from kubeproof.controllers.loops import may_reach_all
from kubeproof.controllers.scheduler.plugins.node_affinity import required_affinity_matches
from kubeproof.controllers.scheduler.plugins.node_ports import conflict, host_ports
from kubeproof.controllers.scheduler.plugins.taint_toleration import keeps_pods_off
from kubeproof.controllers.scheduler.pod import pod_labels
from kubeproof.controllers.scheduler.registry import find_unproven
from kubeproof.events.declarations import Event, find_writes_of
from kubeproof.intents.catalogue import entry
from kubeproof.intents.declarations import Intent
from kubeproof.intents.predicates.asked import list_followed_targets
from kubeproof.manifests.loaded import Loaded
from kubeproof.values import dataclass, replace
from kubeproof.verify.proofs.crowd.healing import heals_without_end


@dataclass(frozen=True, slots=True)
class Slice:
    """A part of the input that nothing outside influences."""

    loaded: Loaded
    workloads: tuple[str, ...]  # Workload.ref
    intents: tuple[int, ...]  # which of the whole input's intents are about it


@dataclass(frozen=True, slots=True)
class Inseparable:
    """Why an input stays whole."""

    reason: str  # without a full stop


def cut(loaded: Loaded) -> tuple[Slice, ...] | Inseparable:
    """The parts of an input, or why it stays whole."""
    if reason := _find_reason_whole(loaded):
        return Inseparable(reason)
    groups = _Groups(tuple(_forms(loaded)))
    for related in _relations(loaded):
        groups.join(related)
        if groups.count < 2:
            return Inseparable("every workload can influence every other")
    parts = groups.parts()
    slices = tuple(_slice(loaded, part) for part in parts)
    told = {intent for part in slices for intent in part.intents}
    return slices if len(told) == len(loaded.scenario.intents) else Inseparable("an intent speaks of no workload")


def cut_by_relations(loaded: Loaded, *, is_swayed: bool = False) -> tuple[Slice, ...]:
    """The parts of an input whose workloads meet on nodes only; fewer than two if it stays whole.

    Such parts take each other's room and sway each other's scores, so they are not independent. Pods of higher priority
    may take the room of others, unless there is always enough. With `is_swayed` workloads belong together, too, if
    scores of one count pods of the other.
    """
    if _find_entanglement(loaded, on_nodes=False) or heals_without_end(loaded):
        return ()
    if has_priorities(loaded.setup):
        from kubeproof.verify.proofs.crowd.room import Room

        if not Room(loaded).is_never_short:
            return ()
    forms = tuple(_forms(loaded))
    groups = _Groups(forms)
    for related in _relations(loaded, on_nodes=False, is_swayed=is_swayed) if len(forms) > 1 else ():
        groups.join(related)
    alone = replace(loaded, setup=replace(loaded.setup, nodes=_clear(loaded.setup.nodes)))
    return tuple(_slice(alone, part) for part in groups.parts())


def _find_reason_whole(loaded: Loaded) -> str:
    """What makes all parts depend on each other; "" if nothing does."""
    events = loaded.scenario.events
    if reason := _find_entanglement(loaded):
        return reason
    if _occurrences(events) > 1 and any(_comes_any_time(event) or event.ends_any_time for event in events):
        return "events may disturb several parts at once"
    if any(event.hits_several for event in events):
        return "one event may disturb several parts"
    if find_writes_of(events) & (Writes.ARRIVALS | Writes.DEPARTURES):
        return "a node that comes or goes may count for parts that do not run there"
    return ""


def _find_entanglement(loaded: Loaded, *, on_nodes: bool = True) -> str:
    """What lets workloads have to do with each other wherever they run; "" if nothing does.

    Without `on_nodes`, parts may meet on nodes and in time.
    """
    setup, scenario = loaded.setup, loaded.scenario
    if setup.descheduler is not None:
        return "the descheduler sees all pods"
    if setup.cluster_autoscaler is not None:
        return "the cluster autoscaler sees all pods"
    if setup.verticals:
        return "a vertical autoscaler changes what pods ask for"
    if may_reach_all(setup):
        return "a loop may touch the pods of all workloads"
    if unproven := find_unproven(setup.profiles):
        return f"it is not known by what the scheduler's filter {unproven} judges"
    if setup.settings.startup_choices:
        return "pods draw the time that they take to start"
    if on_nodes and _has_open_claims(setup):
        return "claims may get the volumes that others want"
    if on_nodes and any(workload.rules.starts_jobs for workload in setup.workloads):
        return "a CronJob may start Jobs at any time"
    if any(event.must for event in scenario.events):
        return "an event must happen, and what counts as the end of a run depends on all parts"
    if reason := next((why for event in scenario.events if (why := footprint_of(event).concerns_all)), ""):
        return reason
    numbered = {event.name: event for event in scenario.events}
    if any(
        find_writes_of((event, *(numbered[name] for name in event.awaited))) & ON_NODES
        for event in scenario.events
        if event.awaited
    ):
        return "an event waits for one that may hit any node"
    if any(_counts_all(intent) for intent in scenario.intents):
        return "an intent counts over all workloads or nodes"
    return ""


def _has_open_claims(setup: Setup) -> bool:
    return bool(open_claims(setup)) or any(workload.claim_templates for workload in setup.workloads)


def _occurrences(events: Iterable[Event]) -> int:
    """How often something may happen in all; any number is many."""
    return sum(2 if event.max is None else event.max for event in events if footprint_of(event).is_moment)


def _comes_any_time(event: Event) -> bool:
    return footprint_of(event).is_moment and not event.waits_for_rest


def may_be_disturbed_at_any_time(loaded: Loaded) -> bool:
    """True if some event does not wait until the cluster is stable."""
    return any(_comes_any_time(event) for event in loaded.scenario.events)


def _counts_all(intent: Intent) -> bool:
    return intent.target is None and not entry(intent.key).is_sum_of_parts and intent.selector is None


# -- who is related ---------------------------------------------------------------------------------


class _Groups:
    """Sets of references that grow together."""

    def __init__(self, refs: tuple[str, ...]) -> None:
        self._parent = {ref: ref for ref in refs}
        self.count = len(refs)

    def _root(self, ref: str) -> str:
        while self._parent[ref] != ref:
            ref = self._parent[ref]
        return ref

    def join(self, refs: Iterable[str]) -> None:
        roots = list(dict.fromkeys(self._root(ref) for ref in refs if ref in self._parent))
        for root in roots[1:]:
            self._parent[root] = roots[0]
            self.count -= 1

    def parts(self) -> list[tuple[str, ...]]:
        found: dict[str, list[str]] = {}
        for ref in self._parent:
            found.setdefault(self._root(ref), []).append(ref)
        return [tuple(part) for part in found.values()]


def _forms(loaded: Loaded) -> dict[str, list[Workload]]:
    """Every workload by reference, as declared and as events may write it."""
    found: dict[str, list[Workload]] = {}
    for workload in loaded.setup.workloads:
        found.setdefault(workload.owner or workload.ref, []).append(workload)
    for event in loaded.scenario.events:
        if event.form is not None:
            found.setdefault(event.form.ref, []).append(event.form)
    return found


def find_related(loaded: Loaded, refs: Iterable[str]) -> frozenset[str]:
    """The workloads that relate to these other than by room on nodes, or to those that do, and these."""
    found, fixed = frozenset(refs), [*_relate(loaded, _forms(loaded), on_nodes=False)]
    while True:
        near = (*fixed, *_selecting(loaded.setup, _forms(loaded), is_swayed=True, among=found))
        more = found.union(ref for related in near if found.intersection(related) for ref in related)
        if more == found:
            return found
        found = more


def _relations(loaded: Loaded, *, on_nodes: bool = True, is_swayed: bool = True) -> Iterator[tuple[str, ...]]:
    """Sets of workloads that may influence each other; `on_nodes`, also by running on the same node."""
    forms = _forms(loaded)
    if on_nodes:
        yield from _sharing_nodes(loaded, forms)
    yield from _selecting(loaded.setup, forms, is_swayed=is_swayed)
    yield from _relate(loaded, forms, on_nodes=on_nodes)


def _relate(loaded: Loaded, forms: dict[str, list[Workload]], *, on_nodes: bool) -> Iterator[tuple[str, ...]]:
    """Those of these sets for which no scheduling rule is the reason."""
    if not on_nodes:
        yield from _sharing_ports(loaded.setup, forms)
        yield from _sharing_volumes(loaded.setup, forms)
    for budget in loaded.setup.budgets:
        yield tuple(
            ref
            for ref, workloads in forms.items()
            if any(
                w.namespace == budget.namespace and budget.selector and budget.selector.matches(dict(w.template.labels))
                for w in workloads
            )
        )
    follows = any(list_followed_targets(intent) for intent in loaded.scenario.intents)
    for service in loaded.setup.services:
        if not (service.is_split_by_node or follows):
            continue
        yield tuple(
            ref
            for ref, workloads in forms.items()
            if any(service.selects(w.namespace, w.template.labels) for w in workloads)
        )
    for quota in loaded.setup.quotas:
        yield tuple(ref for ref, workloads in forms.items() if any(is_meant(quota, w) for w in workloads))
    for claim in loaded.setup.claims:
        yield tuple(ref for ref, workloads in forms.items() if any(_uses(w, claim) for w in workloads))
    yield from _sharing_claims_of_ordinals(forms)
    yield from _list_counted_together(loaded, forms)
    if on_nodes:
        yield from _sharing_images(loaded.setup, forms)
    yield from _list_chained(loaded)
    for intent in loaded.scenario.intents:
        yield tuple(_read_by(loaded, intent))


def _sharing_nodes(loaded: Loaded, forms: dict[str, list[Workload]]) -> Iterator[tuple[str, ...]]:
    """The workloads that one node could take, node by node."""
    placed: dict[str, set[str]] = {}
    for ref, name in loaded.scenario.start.spots():
        placed.setdefault(ref, set()).add(name)
    for node in loaded.setup.nodes:
        yield tuple(
            ref
            for ref, workloads in forms.items()
            if node.name in placed.get(ref, ()) or any(_may_run_on(loaded.setup, w, node) for w in workloads)
        )


def _may_run_on(setup: Setup, workload: Workload, node: Node) -> bool:
    home = workload.bound_to or workload.template.node_name
    if home is not None:
        return home == node.name
    template = workload.template
    is_wanted = required_affinity_matches(template, dict(node.labels), node.name)
    is_open = not keeps_pods_off(node.taints, template.tolerations)
    return (is_wanted or not is_switched_on(setup, template, NODE_AFFINITY)) and (
        is_open or not is_switched_on(setup, template, TAINT_TOLERATION)
    )


def _selecting(
    setup: Setup, forms: dict[str, list[Workload]], *, is_swayed: bool, among: frozenset[str] | None = None
) -> Iterator[tuple[str, str]]:
    """Pairs of which a scheduling rule of one may count pods of the other; affinity terms in any namespace.

    Only with `is_swayed` rules that make a node better or worse but never refuse it. With `among` only pairs of which
    one is there.
    """
    hashed = {(w.ref, w.owner): pod_labels(setup, index) for index, w in enumerate(setup.workloads)}
    labels = {
        ref: [(w.namespace, dict(w.template.labels)) for w in workloads]
        + [(w.namespace, hashed[w.ref, w.owner]) for w in workloads if (w.ref, w.owner) in hashed]
        for ref, workloads in forms.items()
    }
    for one, workloads in forms.items():
        spreading = [w for w in workloads if is_swayed or _is_spread_hard(setup, w)]
        near = {(w.namespace, s) for w in spreading for s in _spread_selectors(setup, w) if s is not None}
        far = {s for w in workloads for s in _term_selectors(w.template, is_swayed=is_swayed) if s is not None}
        others = labels if among is None or one in among else {ref: labels[ref] for ref in labels if ref in among}
        for other, shown in others.items() if near or far else ():
            if other != one and any(
                any(place == namespace and s.matches(pod) for place, s in near) or any(s.matches(pod) for s in far)
                for namespace, pod in shown
            ):
                yield one, other


def _spread_selectors(setup: Setup, workload: Workload) -> list[LabelSelector | None]:
    """What the workload's spread constraints count; without any, the scheduler's defaults count its own pods.

    These are the pods of its Services where no owner's selector has to match as well.
    """
    constraints = workload.template.spread
    if constraints:
        return [constraint.selector for constraint in constraints]
    served = [s.selector for s in setup.services if s.selects(workload.namespace, workload.template.labels)]
    return [workload.selector, *(LabelSelector(tuple(Requirement(k, "In", (v,)) for k, v in one)) for one in served)]


def _is_spread_hard(setup: Setup, workload: Workload) -> bool:
    """True if a spread constraint of the pods, or a default of their scheduler, may refuse a node."""
    defaults = [profile.default_spread or () for profile in setup.profiles]
    return any(constraint.hard for constraints in (workload.template.spread, *defaults) for constraint in constraints)


def _term_selectors(template: PodTemplate, *, is_swayed: bool) -> Iterator[LabelSelector | None]:
    def of(affinity: PodAffinity) -> Iterator[LabelSelector | None]:
        yield from (term.selector for term in affinity.required)
        yield from (weighted.term.selector for weighted in affinity.preferred if is_swayed)

    yield from of(template.pod_affinity)
    yield from of(template.pod_anti_affinity)


def _uses(workload: Workload, claim: Claim) -> bool:
    return workload.namespace == claim.namespace and claim.name in workload.template.claims


def _sharing_claims_of_ordinals(forms: dict[str, list[Workload]]) -> Iterator[tuple[str, ...]]:
    """StatefulSets with those who mount `data-db-0`, the claim that an ordinal has by a template, such as backups."""
    made = {
        ref: {(w.namespace, f"{by.name}-{w.name}-") for w in workloads for by in w.claim_templates}
        for ref, workloads in forms.items()
    }
    named = {
        ref: {(w.namespace, name.rstrip(digits)) for w in workloads for name in w.template.claims}
        for ref, workloads in forms.items()
    }
    for ref in filter(made.get, forms):
        yield (ref, *(other for other in forms if made[ref] & (named[other] | made[other])))


def _sharing_ports(setup: Setup, forms: dict[str, list[Workload]]) -> Iterator[tuple[str, str]]:
    """Pairs of which pods want the same port of their node."""
    version = setup.settings.kubernetes_version
    ports = {ref: [host_ports(w.template, version) for w in workloads] for ref, workloads in forms.items()}
    taking = [ref for ref, found in ports.items() if any(found)]
    for one, other in combinations(taking, 2):
        if any(conflict(wanted, taken) for wanted in ports[one] for taken in ports[other]):
            yield one, other


def _sharing_volumes(setup: Setup, forms: dict[str, list[Workload]]) -> Iterator[tuple[str, ...]]:
    """The workloads of which a claim may get a volume that is kept for nobody, volume by volume."""
    bound = {claim.volume for claim in setup.claims}
    free = [volume for volume in setup.volumes if not volume.claim and volume.name not in bound]
    for volume in free:
        yield tuple(
            ref
            for ref, workloads in forms.items()
            if any(fits(volume, claim) for workload in workloads for claim in _claims_of(setup, workload))
        )


def _claims_of(setup: Setup, workload: Workload) -> Iterator[Claim]:
    """The claims of a workload's pods that have no volume yet; of a StatefulSet with those that it makes."""
    yield from (claim for claim in setup.claims if not claim.volume and _uses(workload, claim))
    yield from workload.claim_templates


def _sharing_images(setup: Setup, forms: dict[str, list[Workload]]) -> Iterator[tuple[str, ...]]:
    """The workloads whose pods bring an image to nodes that pods of another are drawn to."""
    listed = [dict(node.images) for node in setup.nodes]
    for image in sorted({name for images in listed for name in images}):
        if all(image in images for images in listed):
            continue
        yield tuple(ref for ref, workloads in forms.items() if any(image in _images(w.template) for w in workloads))


def _images(template: PodTemplate) -> frozenset[str]:
    containers = (*template.containers, *template.init_containers)
    return frozenset((*template.volume_images, *(container.image for container in containers)))


def _list_counted_together(loaded: Loaded, forms: dict[str, list[Workload]]) -> Iterator[tuple[str, ...]]:
    """The target of an autoscaler with all whose pods its selector matches: it counts them, whoever owns them.

    Two autoscalers that select the same pods, so that both refuse to look at metrics, are related by these.
    """
    for target in dict.fromkeys(autoscaler.target for autoscaler in loaded.setup.autoscalers):
        yield (
            target,
            *(
                ref
                for ref, workloads in forms.items()
                if any(selects(one, other) for one in forms.get(target, ()) for other in workloads)
            ),
        )


def _list_chained(loaded: Loaded) -> Iterator[tuple[str, ...]]:
    """Workloads of events of which one waits for the other."""
    targets = {event.name: event.subject for event in loaded.scenario.events}
    for event in loaded.scenario.events:
        if event.awaited:
            yield tuple(ref for name in (event.name, *event.awaited) if (ref := targets[name]))


def _read_by(loaded: Loaded, intent: Intent) -> Iterator[str]:
    """The workloads that an intent speaks of."""
    if intent.target is not None:
        yield intent.target
    if intent.selector is not None:
        from kubeproof.intents.facts.places import matching_workloads

        workloads = loaded.setup.workloads
        for index in matching_workloads(workloads, intent.selector, None):
            yield workloads[index].owner or workloads[index].ref
        for event in loaded.scenario.events:
            if event.form is not None:
                yield event.form.ref


# -- the parts --------------------------------------------------------------------------------------


def _slice(loaded: Loaded, part: tuple[str, ...]) -> Slice:
    setup, scenario = loaded.setup, loaded.scenario
    chosen = frozenset(part)
    intents = tuple(i for i, intent in enumerate(scenario.intents) if _is_about(loaded, intent, chosen))
    placement = tuple((ref, spots) for ref, spots in scenario.start.placement if ref in chosen)
    smaller = replace(
        setup,
        workloads=tuple(w for w in setup.workloads if (w.owner or w.ref) in chosen),
        autoscalers=tuple(a for a in setup.autoscalers if a.target in chosen),
    )
    events = tuple(event for event in scenario.events if event.subject is None or event.subject in chosen)
    reduced = replace(
        scenario,
        start=replace(
            scenario.start, placement=placement, pods=tuple(p for p in scenario.start.pods if p.ref in chosen)
        ),
        events=events,
        intents=tuple(scenario.intents[i] for i in intents),
    )
    return Slice(replace(loaded, setup=smaller, scenario=reduced), part, intents)


def _clear(nodes: tuple[Node, ...]) -> tuple[Node, ...]:
    """The nodes with none of the pods that nothing moves: a part is searched as if it had all nodes to itself."""
    return tuple(replace(node, held=Held()) for node in nodes) if any(node.held.pods for node in nodes) else nodes


def _is_about(loaded: Loaded, intent: Intent, chosen: frozenset[str]) -> bool:
    if intent.target is None and intent.selector is None:
        return True
    return any(ref in chosen for ref in _read_by(loaded, intent))


def starts_simply(part: Slice) -> bool:
    """True if all that has a clock, from an empty cluster to the first stable state, is the start of its pods."""
    setup, scenario = part.loaded.setup, part.loaded.scenario
    if setup.autoscalers or setup.settings.gitops_interval_s is not None:
        return False
    if not all(footprint_of(event).is_moment for event in scenario.events):
        return False
    if has_priorities(setup) or any(w.rules.has_ordinals or w.rules.counts_completions for w in setup.workloads):
        return False  # pods that are preempted end, pods with ordinals wait for each other, a Job's end by themselves
    evicting = {n.name for n in setup.nodes if any(taint.effect == NO_EXECUTE for taint in n.taints)}
    if scenario.start.pods or any(node in evicting for _, node in scenario.start.spots()):
        return False
    return not any(
        workload.template.readiness is not None
        or workload.template.node_name
        or workload.bound_to
        or any(_is_evicted(setup, workload, node) for node in setup.nodes)
        for workload in setup.workloads
    )


def _is_evicted(setup: Setup, workload: Workload, node: Node) -> bool:
    """True if a pod may come to the node and its NoExecute taints are not tolerated for ever."""
    if not any(taint.effect == NO_EXECUTE for taint in node.taints):
        return False
    is_open = not keeps_pods_off(node.taints, workload.template.tolerations)
    return is_open or not is_switched_on(setup, workload.template, TAINT_TOLERATION)
