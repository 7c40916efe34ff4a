"""Finds out on what of the input each verdict depends: by slices, the cone of influence, and footprints.

What is not said to be apart may always matter. What is apart is so for one of these reasons: the slice of an intent
decides it alone (`kubeproof.verify.proofs.slicing`); nobody reads a label or a resource of nodes (`Mentions`); an
object selects, or is mounted by, no pod of the slice; no loop deletes pods as budgets allow, and no event writes a
template (footprints). A verdict is the same without a whole object that is apart, and whatever a field of it says.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from kubeproof.cluster.loops.footprint import Writes
from kubeproof.cluster.objects import Setup, Workload
from kubeproof.cluster.services import Service
from kubeproof.cluster.steering.policies import PodDisruptionBudget
from kubeproof.cluster.steering.vertical import OFF
from kubeproof.cluster.volumes import open_claims
from kubeproof.events.declarations import CpuLoad, find_writes_of
from kubeproof.manifests.loaded import Loaded
from kubeproof.model.plan import Plan
from kubeproof.model.reductions.starts_in_unison import BY_SIZE_ALONE
from kubeproof.verdicts import Verdict
from kubeproof.verify.dependence import EVERY_NODE, Apart, DependsOn
from kubeproof.verify.proofs.slicing import Slice
from kubeproof.verify.result import IntentResult

DECIDED = (Verdict.HOLDS, Verdict.VIOLATED, Verdict.VACUOUS)
BY_SLICES = "slices"  # the strategy by whose argument other slices decide nothing
EVENT, RUNNING = "event ", "running pods of "
ON_EVERY_NODE = ("cpu", "memory", "pods")
OF_A_NAMESPACE = ("LimitRange", "Ingress")  # that shape nothing outside
UNRELATED = "no node, selector, rule or event relates it to what the intent is about"
UNREAD = "nothing in the input reads it"
NO_EVICTIONS = "nobody evicts pods"
NO_TEMPLATES = "no event changes a pod template"
NO_IMAGES = "no node lists images, and no event changes a pod template"
NO_PODS = "it is for no pods that decide"
NO_CLAIMS = "no pod that decides mounts a claim"
NO_TARGET = "its target is not among what decides"
IS_OFF = "its mode is Off"


def with_dependence(
    loaded: Loaded, plan: Plan, results: Sequence[IntentResult], slices: Sequence[Slice], *, is_own: bool
) -> list[IntentResult]:
    """The results with what each depends on, as far as they are decided; own loops may read everything."""
    parts, is_guarded = _parts(loaded, slices), asks_budgets(plan)
    known: dict[int | None, DependsOn] = {}

    def find(one: IntentResult) -> DependsOn:
        is_sliced = one.strategy is not None and one.strategy.name == BY_SLICES
        at = parts.get(one.intent) if is_sliced else None
        if at not in known:
            part = None if at is None else slices[at]
            known[at] = _Input(loaded, plan, part, is_guarded=is_guarded).dependence(is_own=is_own)
        return known[at]

    return [replace(one, depends_on=find(one)) if one.verdict in DECIDED else one for one in results]


def asks_budgets(plan: Plan) -> bool:
    """True if somebody may take pods away as far as budgets allow."""
    return any(footprint.deletes not in BY_SIZE_ALONE for footprint in plan.footprints)


def _group(found: Iterable[Apart]) -> tuple[Apart, ...]:
    """What is left out for one reason together."""
    groups: dict[tuple[str, str], list[Apart]] = defaultdict(list)
    for one in found:
        groups[one.field, one.why].append(one)
    return tuple(one for group in groups.values() for one in group)


def _parts(loaded: Loaded, slices: Sequence[Slice]) -> dict[str, int]:
    """Of each intent that one slice alone decides, which one."""
    found: dict[str, list[int]] = defaultdict(list)
    for at, part in enumerate(slices):
        for number in part.intents:
            found[loaded.scenario.intents[number].name].append(at)
    return {name: numbers[0] for name, numbers in found.items() if len(numbers) == 1}


class _Input:
    """The input, of which one slice decides, or everything."""

    def __init__(self, loaded: Loaded, plan: Plan, part: Slice | None, *, is_guarded: bool) -> None:
        self._loaded, self._plan, self._is_guarded = loaded, plan, is_guarded
        self._shaping = frozenset(loaded.shaping)
        declared = (one.ref for one in plan.setup.workloads if one.owner is None)
        self._refs = frozenset(declared if part is None else part.workloads)
        self._events = loaded.scenario.events if part is None else part.loaded.scenario.events
        self._near: dict[str, list[Workload]] = defaultdict(list)  # every form that decides, by namespace
        for one in plan.setup.workloads:  # revisions, sizes, ordinals and Jobs included
            if (one.owner or one.ref) in self._refs:
                self._near[one.namespace].append(one)

    def dependence(self, *, is_own: bool) -> DependsOn:
        """What the verdicts depend on."""
        setup, not_on = self._loaded.setup, () if is_own else _group(self._not_on())
        apart = {one.object for one in not_on if not one.field}
        unread = {one.field for one in not_on if one.object == EVERY_NODE}
        labels = sorted({key for node in setup.nodes for key, _ in node.labels})
        resources = sorted({name for node in setup.nodes for name, _ in node.others})
        events = (event.name for event in self._loaded.scenario.events)
        return DependsOn(
            objects=tuple(ref for ref in dict.fromkeys(self._objects()) if ref not in apart),
            nodes=sum(not node.is_slot for node in setup.nodes),
            labels=tuple(key for key in labels if f"label {key}" not in unread),
            resources=(*ON_EVERY_NODE, *(name for name in resources if f"resource {name}" not in unread)),
            events=tuple(name for name in events if f"{EVENT}{name}" not in apart),
            not_on=not_on,
        )

    def _objects(self) -> Iterator[str]:
        """All that is read, nodes aside."""
        setup = self._loaded.setup
        yield from (one.ref for one in setup.workloads if one.owner is None)
        yield from (f"HorizontalPodAutoscaler/{one.namespace}/{one.name}" for one in setup.autoscalers)
        yield from (f"VerticalPodAutoscaler/{one.namespace}/{one.name}" for one in setup.verticals)
        yield from map(_budget_ref, setup.budgets)
        yield from (f"ResourceQuota/{one.namespace}/{one.name}" for one in setup.quotas)
        yield from map(_service_ref, setup.services)
        yield from _storage(setup)
        yield from self._loaded.shaping
        started = dict.fromkeys(one.ref for one in self._loaded.scenario.start.pods)
        yield from (f"{RUNNING}{ref}" for ref in started if ref in self._refs)

    def _not_on(self) -> Iterator[Apart]:
        setup = self._loaded.setup
        for one in setup.workloads:
            if one.owner is None and one.ref not in self._refs and one.ref not in self._shaping:
                yield Apart(one.ref, "", UNRELATED)
        for event in self._loaded.scenario.events:
            if event not in self._events:
                yield Apart(f"{EVENT}{event.name}", "", UNRELATED)
        yield from self._other_autoscalers(setup)
        yield from self._other_budgets(setup)
        yield from self._others_by_namespace(setup)
        yield from self._other_services(setup)
        yield from self._other_volumes(setup)
        if setup.cluster_autoscaler is None:  # which nodes belong to a group depends on all of their labels
            yield from (Apart(EVERY_NODE, what, UNREAD) for what in self._plan.unread)
        yield from self._other_fields(setup)

    def _other_autoscalers(self, setup: Setup) -> Iterator[Apart]:
        for scaler in setup.autoscalers:
            if scaler.target not in self._refs:
                yield Apart(f"HorizontalPodAutoscaler/{scaler.namespace}/{scaler.name}", "", NO_TARGET)
        for vertical in setup.verticals:
            is_aside = vertical.target not in self._refs
            if is_aside or vertical.mode == OFF:
                ref = f"VerticalPodAutoscaler/{vertical.namespace}/{vertical.name}"
                yield Apart(ref, "", NO_TARGET if is_aside else IS_OFF)

    def _other_budgets(self, setup: Setup) -> Iterator[Apart]:
        """Budgets that select nobody who decides; all of them where pods are not taken away as budgets allow."""
        if Writes.BUDGETS in find_writes_of(self._loaded.scenario.events):
            return
        for budget in setup.budgets:
            if not self._is_guarded:
                yield Apart(_budget_ref(budget), "", NO_EVICTIONS)
            elif not self._selects(budget):
                yield Apart(_budget_ref(budget), "", NO_PODS)

    def _selects(self, budget: PodDisruptionBudget) -> bool:
        near, selector = self._near[budget.namespace], budget.selector
        return selector is not None and any(selector.matches(dict(one.template.labels)) for one in near)

    def _others_by_namespace(self, setup: Setup) -> Iterator[Apart]:
        """Objects of namespaces in which nobody decides."""
        for quota in setup.quotas:
            if not self._near[quota.namespace]:
                yield Apart(f"ResourceQuota/{quota.namespace}/{quota.name}", "", NO_PODS)
        for ref in self._loaded.shaping:
            kind, _, rest = ref.partition("/")
            if kind in OF_A_NAMESPACE and not self._near[rest.partition("/")[0]]:
                yield Apart(ref, "", NO_PODS)

    def _other_services(self, setup: Setup) -> Iterator[Apart]:
        if any(isinstance(event, CpuLoad) for event in self._loaded.scenario.events):
            return  # one may name a Service
        for service in setup.services:
            near = self._near[service.namespace]
            if not any(service.selects(one.namespace, one.template.labels) for one in near):
                yield Apart(_service_ref(service), "", NO_PODS)

    def _other_volumes(self, setup: Setup) -> Iterator[Apart]:
        """Volumes and claims, if nobody who decides mounts a claim and no loop gives one a volume."""
        forms = (one for near in self._near.values() for one in near)
        mounts = any(one.template.claims or one.claim_templates for one in forms)
        if not (mounts or open_claims(setup) or setup.cluster_autoscaler is not None):
            yield from (Apart(ref, "", NO_CLAIMS) for ref in _storage(setup))

    def _other_fields(self, setup: Setup) -> Iterator[Apart]:
        """Fields of workloads that decide: what only an update of pods asks for, and images that no node has."""
        if find_writes_of(self._loaded.scenario.events) & Writes.TEMPLATES:
            return
        has_images = any(node.images for node in setup.nodes)
        for one in setup.workloads:
            if one.owner is not None or one.ref not in self._refs or one.ref in self._shaping:
                continue
            if one.rules.owns_replica_sets:
                yield Apart(one.ref, "spec.strategy", NO_TEMPLATES)
            if not has_images:
                yield Apart(one.ref, "image", NO_IMAGES)


def _budget_ref(one: PodDisruptionBudget) -> str:
    return f"PodDisruptionBudget/{one.namespace}/{one.name}"


def _service_ref(one: Service) -> str:
    return f"Service/{one.namespace}/{one.name}"


def _storage(setup: Setup) -> Iterator[str]:
    """All about volumes."""
    yield from (f"PersistentVolumeClaim/{one.key}" for one in setup.claims)
    yield from (f"PersistentVolume/{one.name}" for one in setup.volumes)
    yield from (f"StorageClass/{one.name}" for one in setup.storage_classes)
