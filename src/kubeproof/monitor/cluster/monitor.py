"""Watches a cluster: takes changes in, and asks every judge after every moment."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cached_property
from itertools import groupby

from kubeproof.cluster.kinds import POD
from kubeproof.cluster.loops.actions import CreatePods
from kubeproof.cluster.loops.tags import Tag, tag_of
from kubeproof.errors import ScenarioError
from kubeproof.monitor.alarms import Alarm, Kind
from kubeproof.monitor.cluster.change import RELISTED, Change, Key
from kubeproof.monitor.cluster.judges import FAR, Patience
from kubeproof.monitor.cluster.sight import Sight
from kubeproof.monitor.cluster.stage import STAGED, Texts, WatchedPlan, build_stage, first_changes, keys_of
from kubeproof.monitor.cluster.store import Deed, Store
from kubeproof.verdicts import Verdict

MISSED = "changes were not told in full (an audit level below RequestResponse, or a stream that broke off)"


class ClusterMonitor:
    """Judges the intents of a Scenario on changes, in order of time; changes of one moment are one step."""

    def __init__(self, texts: Texts, patience: Patience = Patience(), *, is_seeded: bool = True) -> None:
        self._texts, self._patience, self._is_seeded = tuple(texts), patience, is_seeded
        self._store = Store()
        self._stage: WatchedPlan | None = None
        self._problem: ScenarioError | None = None
        self._blinded: set[str] = set()  # intents of which was said that nobody knows
        self.now_us: int | None = None
        self.moments = 0
        self.gaps = 0

    def feed(self, changes: Iterable[Change]) -> Iterator[Alarm]:
        """The alarms that the changes give rise to."""
        for time_us, group in groupby(changes, key=lambda change: change.time_us):
            moment = max(time_us, self.now_us or time_us)  # what comes late counts now
            yield from self.advance(moment)
            if self._stage is None:
                yield from self._begin(moment)
            yield from self._happen(moment, list(group))

    def advance(self, now_us: int) -> Iterator[Alarm]:
        """The alarms that the passing of time alone gives rise to, before a moment."""
        judges = self._stage.judges.values() if self._stage is not None else ()
        while True:
            first = min(judges, key=lambda judge: judge.due(), default=None)
            if first is None or first.due() >= now_us:
                break
            yield from self._certain(first.expire(int(first.due())))
        self.now_us = now_us

    def finish(self) -> int:
        """How many intents wait for time to tell; raises what was wrong with the Scenario all along."""
        if self._stage is None and self._problem is not None:
            raise self._problem
        return sum(judge.due() < FAR for judge in self._stage.judges.values()) if self._stage is not None else 0

    # -- the stage ------------------------------------------------------------------------------

    def _begin(self, time_us: int) -> Iterator[Alarm]:
        """Builds the stage as soon as the Scenario makes sense on what is known."""
        seen = self._store.objects.items()
        extra = [value for key, value in seen if self._is_staged(key) and key not in self._given]
        try:
            stage = build_stage(self._texts, self._store, self._patience, extra)
        except ScenarioError as problem:
            self._problem = problem  # the Scenario may name what is not there yet
            return
        self._stage = stage
        for change in first_changes(self._texts, stage, time_us) if self._is_seeded else ():
            if change.key not in self._store.objects:
                self._store.apply(change, Deed())
                self._store.revisions.pop(change.key, None)  # files leave out what the API server adds to templates
        stage.cells.rebuild()
        for one in stage.unwatchable:
            intent = one.monitor.intent
            yield Alarm(
                intent.name, Kind.INTENT, intent.target or intent.key, f"cannot be watched: {one.why}",
                time_us, time_us, time_us, intent.severity, Verdict.UNKNOWN,
            )  # fmt: skip

    def _is_staged(self, key: Key) -> bool:
        return key[0] in STAGED and self._store.root(key) == key

    def _restage(self, stage: WatchedPlan) -> WatchedPlan:
        """The stage with objects that have come since."""
        known = [v for k, v in self._store.objects.items() if self._is_staged(k) and k not in self._given]
        try:
            fresh = build_stage(self._texts, self._store, self._patience, known)
        except ScenarioError:
            return stage  # an object that the Scenario cannot do with: it goes uncounted
        fresh.take_over(stage)
        self._stage = fresh
        return fresh

    @cached_property
    def _given(self) -> frozenset[Key]:
        return keys_of(self._texts)

    # -- moments --------------------------------------------------------------------------------

    def _happen(self, time_us: int, changes: list[Change]) -> Iterator[Alarm]:
        deed, stage = Deed(), self._stage
        if stage is None:
            for change in changes:
                self._store.apply(change, deed)
            yield from self._begin(time_us)
            stage = self._stage
            if stage is None:
                return
            if deed.is_gap:
                yield from self._handle_loss(stage, time_us)
            yield from self._judge(stage, Deed(is_external=True, changed=True), time_us, 0, [])
            return
        tags, actions = 0, []
        relisted = [change.key[0] for change in changes if change.what == RELISTED]
        for change in changes:
            more, made = self._take(stage, change, deed)
            tags |= more
            actions += made
        for kind in relisted:
            self._store.finish_relisting(kind, deed)
        if relisted:
            stage.cells.rebuild()
        if any(self._is_staged(c.key) and not stage.knows(c.key) and c.value is not None for c in changes):
            stage = self._restage(stage)
        if deed.is_gap:
            yield from self._handle_loss(stage, time_us)
        if deed.changed or deed.tags or deed.is_external or not self.moments:
            yield from self._judge(stage, deed, time_us, tags, actions)

    def _take(self, stage: WatchedPlan, change: Change, deed: Deed) -> tuple[int, list[object]]:
        """Takes one change in; tells the tags and actions of what it did."""
        key, cells, known = change.key, stage.cells, len(deed.tags)
        is_new = key not in self._store.objects
        born = len(deed.created)
        templates = sum(map(len, self._store.revisions.values()))
        drained = set(self._store.drained)
        self._store.apply(change, deed)
        tags = int(Tag.STEP) if deed.changed else 0
        for one, tag in deed.tags[known:]:
            number = cells.find_known(one)
            tags |= tag | (tag_of(number, tag) if number is not None and one[0] != "Node" else 0)
        actions: list[object] = []
        for one in deed.created[born:]:
            number = cells.number_of(one)
            actions += [CreatePods(number, 1)] if number is not None else []
        if key[0] == POD:
            cells.refresh(key)
            if key not in self._store.objects:
                self._store.owners.pop(key, None)
        elif key[0] == "Node":
            cells.forget_node(key[2])
        elif is_new or sum(map(len, self._store.revisions.values())) != templates:
            cells.rebuild()
        for name in drained ^ self._store.drained:
            cells.forget_node(name)
        return tags, actions

    def _judge(self, stage: WatchedPlan, deed: Deed, time_us: int, tags: int, actions: list[object]) -> Iterator[Alarm]:
        cells = stage.cells
        workloads = cells.workloads()
        nodes = cells.nodes()
        sight = Sight(
            time_us, workloads, nodes, cells.places(), stage.memory,
            tags=tags, actions=actions, is_external=deed.is_external or not self.moments,
        )  # fmt: skip
        self.moments += 1
        for judge in stage.judges.values():
            yield from self._certain(judge.look(sight))

    def _certain(self, alarms: Iterable[Alarm]) -> Iterator[Alarm]:
        """The alarms as far as the state behind them is known."""
        for alarm in alarms:
            if self._store.blind:
                yield alarm._replace(verdict=Verdict.UNKNOWN, text=f"{alarm.text}; {MISSED}")
            else:
                yield alarm

    def _handle_loss(self, stage: WatchedPlan, time_us: int) -> Iterator[Alarm]:
        """Something was missed: what was counted is worth nothing, and every intent says so once."""
        self.gaps += 1
        if not self._store.blind:
            self._blinded.clear()
        for name, judge in stage.judges.items():
            judge.begin_anew()
            if name not in self._blinded:
                self._blinded.add(name)
                target = next(m.intent for m in stage.plan.monitors if m.intent.name == name)
                about = target.target or target.key
                yield Alarm(
                    name,
                    Kind.INTENT,
                    about,
                    f"not known: {MISSED}",
                    time_us,
                    time_us,
                    time_us,
                    target.severity,
                    Verdict.UNKNOWN,
                )
