"""Everything that stays while the cluster changes: the plan of the Scenario on the nodes and workloads known so far."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

from kubeproof.cluster.kinds import DECLARED
from kubeproof.cluster.state import Health
from kubeproof.manifests.load import load_texts
from kubeproof.manifests.loaded import Loaded
from kubeproof.manifests.objects import unpack
from kubeproof.manifests.yaml.guard import Bounds, Budget
from kubeproof.manifests.yaml.reader import read_documents
from kubeproof.manifests.yaml.tree import plain
from kubeproof.model.plan import Plan, make_plan
from kubeproof.monitor.cluster.cells import Cells
from kubeproof.monitor.cluster.change import KINDS, WRITTEN, Change, Key, Object, mapping
from kubeproof.monitor.cluster.judges import Judge, Patience, Unwatchable, judge_of
from kubeproof.monitor.cluster.sight import Memory
from kubeproof.monitor.cluster.store import Store

STAGED = ("Node", *(kind.name for kind in DECLARED if not kind.is_pod))
Texts = Sequence[tuple[str, str]]
OBSERVED = "<observed>"


class WatchedPlan:
    """A plan with its judges, and the cells through which they look at the store."""

    def __init__(self, loaded: Loaded, store: Store, patience: Patience) -> None:
        setup, scenario = loaded.setup, loaded.scenario
        self.loaded = loaded
        self.plan: Plan = make_plan(setup, scenario.events, scenario.intents, merge=False)
        self.shape: Plan = make_plan(setup, scenario.events, scenario.intents)
        self.cells = Cells(self.plan, store)
        self.memory = Memory(self.shape)
        made = {m.intent.name: judge_of(self.plan, m, patience) for m in self.plan.monitors}
        self.judges: dict[str, Judge] = {n: one for n, one in made.items() if not isinstance(one, Unwatchable)}
        self.unwatchable = tuple(one for one in made.values() if isinstance(one, Unwatchable))
        self._known = {"/".join(("Node", "", node.name)) for node in setup.nodes}
        self._known |= {workload.ref for workload in self.plan.setup.workloads if workload.owner is None}

    def knows(self, key: Key) -> bool:
        """True if the object is on the stage."""
        return "/".join(key) in self._known

    def take_over(self, earlier: WatchedPlan) -> None:
        """Goes on where another stage with the same intents stopped."""
        for name, judge in self.judges.items():
            before = earlier.judges.get(name)
            if before is not None:
                kept = {
                    k: v
                    for k, v in vars(before).items()
                    if k not in ("monitor", "patience", "loops", "_views", "_temporal")
                }
                vars(judge).update(kept)


def build_stage(texts: Texts, store: Store, patience: Patience, extra: Sequence[Object] = ()) -> WatchedPlan:
    """The stage of the given files and of objects that were seen."""
    seen = [(OBSERVED, "\n---\n".join(json.dumps(_clean(one)) for one in extra))] if extra else []
    return WatchedPlan(load_texts([*texts, *seen], keeps_texts=False), store, patience)


def _clean(value: Object) -> Object:
    metadata = {k: v for k, v in mapping(value, "metadata").items() if k != "managedFields"}
    return {**value, "metadata": metadata}


def first_changes(texts: Texts, stage: WatchedPlan, time_us: int) -> Iterator[Change]:
    """The objects of the files that are there before anything happens; what an event brings is not."""
    workloads = stage.plan.setup.workloads
    absent = {w.ref for w, cell in zip(workloads, stage.plan.workloads, strict=True) if not cell.exists}
    absent |= {
        f"Node//{node.name}"
        for node, cell in zip(stage.plan.setup.nodes, stage.plan.nodes, strict=True)
        if cell.health == Health.ABSENT
    }
    places = {w.ref: (w.source.file, w.source.line) for w in stage.loaded.setup.workloads}
    for key, value, place in _documents(texts):
        ref = "/".join(key)
        if ref not in absent and places.get(ref, place) == place:
            yield Change(time_us, WRITTEN, key, value)


def keys_of(texts: Texts) -> frozenset[Key]:
    """The objects that the files hold."""
    return frozenset(key for key, _, _ in _documents(texts))


def _documents(texts: Texts) -> Iterator[tuple[Key, Object, tuple[str, int]]]:
    budget = Budget(Bounds())
    for name, text in texts:
        for root in read_documents(text.encode(), file=name, budget=budget):
            for document in unpack(root, name):
                if document.kind in KINDS:
                    value: Object = plain(document.mapping)
                    metadata = mapping(value, "metadata")
                    space = "" if document.kind == "Node" else str(metadata.get("namespace") or "default")
                    yield (document.kind, space, str(metadata.get("name"))), value, (document.file, document.line)
