"""The input as checks look at it: what several of them ask for is worked out once."""

from __future__ import annotations

from functools import cached_property

from kubeproof.cluster.objects import Setup, Source, Workload
from kubeproof.cluster.steering.counted import labels_of
from kubeproof.cluster.steering.policies import PodDisruptionBudget
from kubeproof.cluster.wiring import Wiring, Written
from kubeproof.events.declarations import Apply
from kubeproof.manifests.loaded import DUPLICATE, LEFT_ASIDE, Loaded


class Scene:
    """A loaded input with indexes of it; made for one run of the checks."""

    def __init__(self, loaded: Loaded) -> None:
        self.loaded = loaded

    @property
    def setup(self) -> Setup:
        return self.loaded.setup

    @property
    def wiring(self) -> Wiring:
        return self.loaded.wiring

    @cached_property
    def workloads(self) -> tuple[Workload, ...]:
        """The workloads of the input, and those that events bring."""
        applied = (event.workload for event in self.loaded.scenario.events if isinstance(event, Apply))
        return tuple({one.ref: one for one in (*applied, *self.setup.workloads)}.values())

    @cached_property
    def by_ref(self) -> dict[str, Workload]:
        return {one.ref: one for one in self.workloads}

    @cached_property
    def by_namespace(self) -> dict[str, list[Workload]]:
        found: dict[str, list[Workload]] = {}
        for one in self.workloads:
            found.setdefault(one.namespace, []).append(one)
        return found

    @cached_property
    def _labels(self) -> dict[str, dict[str, str]]:
        return {one.ref: labels_of(one) for one in self.workloads}

    def labels(self, one: Workload) -> dict[str, str]:
        """The labels of a workload's pods, those included that controllers add."""
        return self._labels[one.ref]

    @cached_property
    def written(self) -> dict[tuple[str, str], list[Written]]:
        """All objects by kind and namespace."""
        found: dict[tuple[str, str], list[Written]] = {}
        for one in self.wiring.written:
            found.setdefault((one.kind, one.namespace), []).append(one)
        return found

    @cached_property
    def has_variants(self) -> bool:
        """True if objects stand in the input more than once: all of it is hardly applied to one cluster."""
        return any(note.id in (DUPLICATE, LEFT_ASIDE) for note in self.loaded.notes)

    @cached_property
    def unrendered(self) -> tuple[Source, ...]:
        """Where templates were left out, which may hold objects of any kind."""
        left_out = (note for note in self.loaded.notes if note.is_unrendered)
        return tuple(place for note in left_out for place in (note.source, *note.also))

    @cached_property
    def _changing(self) -> frozenset[str]:
        """The files some of whose objects say something else in other files."""
        repeated = (note for note in self.loaded.notes if note.id == DUPLICATE and note.severity == "warning")
        return frozenset(note.source.file for note in repeated)

    def may_differ(self, place: Source) -> bool:
        """True if the object of a place may be another one in another variant of the input."""
        return place.file in self._changing

    @cached_property
    def budgets(self) -> tuple[tuple[PodDisruptionBudget, tuple[int, ...]], ...]:
        """The budgets with the numbers of the workloads whose pods they select."""
        if not self.setup.budgets:
            return ()
        from kubeproof.controllers.evictions.budgets import select_by

        return tuple((budget, select_by(self.setup, budget)) for budget in self.setup.budgets)

    @cached_property
    def budgeted(self) -> frozenset[int]:
        """The numbers of the workloads that a budget selects."""
        return frozenset(number for _, selected in self.budgets for number in selected)
