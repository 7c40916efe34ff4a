"""One scheduling decision: which nodes kube-scheduler may choose for a pod, and why.

Mirrors the scheduling cycle of `pkg/scheduler/schedule_one.go`: filters in
order, the first that refuses a node decides; one feasible node is chosen without scoring; otherwise the
weighted sum of the normalised scores decides, and every tie may win. All nodes are looked at: sampling of
large clusters (100 nodes and more) is not modelled. Nor are nominated pods and extenders.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any

from kubeproof.cluster.labels import Taint
from kubeproof.cluster.nodes.near_nodes import NodeSizeMatters, Tells
from kubeproof.cluster.objects import Node, Setup
from kubeproof.controllers.scheduler.pod import IncomingPod
from kubeproof.controllers.scheduler.protocol import (
    Evaluation,
    NodeInfo,
    NodeView,
    PodCount,
    Rejection,
    Row,
)
from kubeproof.controllers.scheduler.registry import SCORE_ORDER, Plugins, plugins_for
from kubeproof.controllers.scheduler.requests import allocatable, node_usage, pod_requests
from kubeproof.named_tuples import NamedTuple

__all__ = ["Evaluation", "NodeInfo", "PodCount", "Rejection", "Row", "Scheduler"]

MOST_WAYS = 500  # to lose some of the feasible nodes; beyond, each of them may win
MOST_REMEMBERED = 100_000  # node contents kept per node before the memory starts afresh

Content = tuple[bool, tuple[Taint, ...], tuple[PodCount, ...], int]  # a NodeInfo without node and count


class Known(NamedTuple):
    """What does not depend on other nodes."""

    refused_by: str  # the first node filter that refuses it, "" if none does
    fixed: int  # weighted sum of the scores that are not normalised, the least of all sizes that the node may have
    slack: int  # how much more it is for some sizes
    scores: tuple[int, ...]  # of the node scores that are normalised
    filter_facts: tuple[Any, ...]  # one per cluster filter
    score_facts: tuple[Any, ...]  # one per cluster score


class Scheduler:
    """Schedules pods of one workload.

    `evaluate` runs every plugin afresh and is the reference; `choose` gives the same choice from memory.
    Both are pure: the memory only holds what a node's content determines.
    """

    def __init__(self, setup: Setup, workload: int, unique_keys: frozenset[str]) -> None:
        """Build the plugins for the workload; `unique_keys` are the labels whose value no two nodes share."""
        name = setup.workloads[workload].template.scheduler_name
        profile = next((profile for profile in setup.profiles if profile.name == name), None)
        self.has_profile = profile is not None  # without one the pod stays pending for ever
        self._profile_name = name
        self._plugins = Plugins((), (), (), ())
        if profile is not None:
            self._plugins = plugins_for(IncomingPod(setup, workload, profile, unique_keys))
        version = setup.settings.kubernetes_version
        self._requests = tuple(pod_requests(other.template, version) for other in setup.workloads)
        self._memory: dict[str, tuple[Node, dict[Content, Known]]] = {}
        self._normalised = [entry for entry in self._plugins.node_scores if entry[2].normalises]

    @property
    def compares_nodes_by(self) -> frozenset[str]:
        """The names of the filters whose answer about a node depends on other nodes."""
        return frozenset(name for name, _ in self._plugins.cluster_filters)

    @property
    def filters(self) -> tuple[str, ...]:
        """The names of the filters that have something to do for the pods."""
        return tuple(name for name, _ in (*self._plugins.node_filters, *self._plugins.cluster_filters))

    @property
    def weights(self) -> dict[str, int]:
        """How much the score of each plugin counts."""
        plugins = self._plugins
        return {name: weight for name, weight, _ in (*plugins.node_scores, *plugins.cluster_scores)}

    @property
    def scores_by_comparing(self) -> frozenset[str]:
        """The names of the scores of a node that depend on what is on other nodes."""
        return frozenset(name for name, _, _ in self._plugins.cluster_scores)

    def find_lead(self, one: NodeInfo, other: NodeInfo) -> int | None:
        """How much better a node scores than another by what is on each alone; None: others decide about that, too."""
        mine, theirs = self._learn(one), self._learn(other)
        is_told = mine.scores == theirs.scores and not mine.slack and not theirs.slack
        return mine.fixed - theirs.fixed if is_told else None

    def evaluate(self, nodes: Sequence[NodeInfo]) -> Evaluation:
        """The verdict of every plugin on every node, and the nodes that may be chosen."""
        if not self.has_profile:
            reason = f"no scheduler profile is named {self._profile_name}"
            return Evaluation(tuple(Row("profile", reason, True) for _ in nodes), ())
        missing = self._missing(nodes)
        if missing:
            reason = f'nodeinfo not found for node name "{min(missing)}"'
            return Evaluation(tuple(Row("PreFilter", reason, True) for _ in nodes), ())
        views = [self._view(info) for info in nodes]
        counts = [info.count for info in nodes]
        rows = self._filter(views, counts)
        feasible = [index for index, row in enumerate(rows) if not row.rejected_by]
        if sum(counts[index] for index in feasible) < 2:
            return Evaluation(tuple(rows), tuple(feasible))
        for index, row in zip(feasible, self._score(views, counts, feasible), strict=True):
            rows[index] = row
        if any(nodes[index].node.sizes for index in feasible):
            return Evaluation(tuple(rows), self.best(nodes, feasible))
        best = max(rows[index].total for index in feasible)
        return Evaluation(tuple(rows), tuple(index for index in feasible if rows[index].total == best))

    def choose(self, nodes: Sequence[NodeInfo], refusing: set[str] | None = None) -> tuple[int, ...]:
        """The same as `evaluate(nodes).chosen`, faster; filters that refuse a node are added to `refusing`."""
        if not self.has_profile or self._missing(nodes):
            return ()
        known = [self._learn(info) for info in nodes]
        counts = [info.count for info in nodes]
        if refusing is not None:
            refusing.update(what.refused_by for what in known if what.refused_by)
        return self._best(nodes, known, self._passing(known, counts, refusing))

    def _passing(self, known: list[Known], counts: list[int], refusing: set[str] | None = None) -> list[int]:
        """The nodes that no filter refuses."""
        feasible = [index for index, what in enumerate(known) if not what.refused_by]
        for position, (name, plugin) in enumerate(self._plugins.cluster_filters):
            if not feasible:
                return []
            facts = [what.filter_facts[position] for what in known]
            state = plugin.prefilter(facts, counts)
            left = [index for index in feasible if plugin.reject(state, facts[index]) is None]
            if refusing is not None and len(left) < len(feasible):
                refusing.add(name)
            feasible = left
        return feasible

    def refusals(self, nodes: Sequence[NodeInfo]) -> tuple[Row, ...] | None:
        """One row per node with the plugin that refuses it, scores left out; None if the attempt itself fails."""
        if not self.has_profile or self._missing(nodes):
            return None
        return tuple(self._filter([self._view(info) for info in nodes], [info.count for info in nodes]))

    def admits(self, nodes: Sequence[NodeInfo], index: int) -> bool:
        """True if every filter lets the pod onto one node."""
        return not self.find_refusal(nodes, index)

    def find_refusal(self, nodes: Sequence[NodeInfo], index: int) -> str:
        """The first filter that keeps the pod off one node, "" if none does."""
        known = [self._learn(info) for info in nodes]
        if known[index].refused_by:
            return known[index].refused_by
        counts = [info.count for info in nodes]
        for position, (name, plugin) in enumerate(self._plugins.cluster_filters):
            facts = [what.filter_facts[position] for what in known]
            if plugin.reject(plugin.prefilter(facts, counts), facts[index]) is not None:
                return name
        return ""

    def lacks_nodes(self, nodes: Sequence[NodeInfo]) -> bool:
        """True if an attempt fails because a node is not there (1.26 only)."""
        return bool(self._missing(nodes))

    def best(self, nodes: Sequence[NodeInfo], feasible: Sequence[int]) -> tuple[int, ...]:
        """Those of the feasible nodes that score best; scores see the cluster as it is."""
        return self._best(nodes, [self._learn(info) for info in nodes], list(feasible))

    def near_best(self, nodes: Sequence[NodeInfo], slack: int, refused: int) -> tuple[int, ...]:
        """The nodes that win if scores not known here make a difference of up to `slack` between any two nodes.

        Besides, up to `refused` of the feasible nodes may be refused by filters not known here, whichever they are.
        """
        feasible = self.feasible(nodes)
        sizes = [nodes[index].count for index in feasible]
        ways = list(islice(_ways_to_lose(sizes, refused), MOST_WAYS + 1))
        if sum(sizes) <= refused + 1 or len(ways) > MOST_WAYS:
            return tuple(feasible)  # each of them may be the only one
        found: set[int] = set()
        for gone in ways:
            found.update(self._near_best_without(nodes, feasible, gone, slack))
        return tuple(index for index in feasible if index in found)

    def _near_best_without(
        self, nodes: Sequence[NodeInfo], feasible: list[int], gone: tuple[int, ...], slack: int
    ) -> Iterator[int]:
        """The same if so many nodes of each feasible group are refused."""
        lost = dict(zip(feasible, gone, strict=True))
        left = [(index, info.count - lost.get(index, 0)) for index, info in enumerate(nodes)]
        split = [(index, count, index in lost) for index, count in left if count]
        split += [(index, count, False) for index, count in lost.items() if count]
        known, counts = [self._learn(nodes[index]) for index, _, _ in split], [count for _, count, _ in split]
        open_ = [place for place, (_, _, is_open) in enumerate(split) if is_open]
        totals = self._totals(known, counts, open_)
        for place, total in zip(open_, totals, strict=True):
            if total >= max(totals) - slack:
                yield split[place][0]

    def feasible(self, nodes: Sequence[NodeInfo]) -> list[int]:
        """The nodes that no filter refuses, whatever they score."""
        if not self.has_profile or self._missing(nodes):
            return []
        return self._passing([self._learn(info) for info in nodes], [info.count for info in nodes])

    def _best(self, nodes: Sequence[NodeInfo], known: list[Known], feasible: list[int]) -> tuple[int, ...]:
        """Those that score best; raises NodeSizeMatters if that depends on which node of a class is which."""
        if len(feasible) < 2:
            return tuple(feasible)
        totals = self._totals(known, [info.count for info in nodes], feasible)
        best = max(totals)
        pairs = zip(feasible, totals, strict=True)
        chosen = tuple(index for index, total in pairs if total + known[index].slack >= best)
        if any(known[index].slack for index in chosen) and sum(nodes[index].count for index in chosen) > 1:
            raise NodeSizeMatters(self._tell_apart([nodes[index] for index in chosen if known[index].slack]))
        return chosen

    def _tell_apart(self, nodes: Sequence[NodeInfo]) -> Tells:
        """What nodes of the same contents score, by their size."""
        views = [self._view(info) for info in nodes]
        return lambda size: tuple(self._score_fixed(_resize(view, size)) for view in views)

    def _missing(self, nodes: Sequence[NodeInfo]) -> frozenset[str]:
        """The nodes whose absence fails the attempt (1.26 only)."""
        named = self._plugins.must_exist
        return named.difference(info.node.name for info in nodes) if named else named

    def _totals(self, known: list[Known], counts: list[int], feasible: list[int]) -> list[int]:
        """The weighted sums, up to a constant that all feasible nodes share."""
        totals = [known[index].fixed for index in feasible]
        for position, (_, weight, node_score) in enumerate(self._normalised):
            scores = [known[index].scores[position] for index in feasible]
            _add(totals, weight, scores, node_score.normalise)
        for position, (_, weight, plugin) in enumerate(self._plugins.cluster_scores):
            facts = [what.score_facts[position] for what in known]
            state = plugin.prescore(facts, counts, feasible)
            if state is None:
                continue
            scores = [plugin.score(state, facts[index]) for index in feasible]
            _add(totals, weight, scores, plugin.normalise)
        return totals

    def _learn(self, info: NodeInfo) -> Known:
        """What the node's content determines, from memory if possible."""
        node = info.node
        remembered = self._memory.get(node.name)
        if remembered is None or (remembered[0] is not node and remembered[0] != node):
            remembered = self._memory[node.name] = (node, {})
        content = info[2:]
        known = remembered[1].get(content)
        if known is None:
            if len(remembered[1]) >= MOST_REMEMBERED:
                remembered[1].clear()
            known = remembered[1][content] = self._study(self._view(info))
        return known

    def _study(self, view: NodeView) -> Known:
        """Everything about a node that does not depend on other nodes; a refused node needs no scores."""
        plugins = self._plugins
        refused_by = next((name for name, plugin in plugins.node_filters if plugin.reject(view) is not None), "")
        scored = () if refused_by else plugins.node_scores
        sums = (
            [self._score_fixed(_resize(view, size)) for size in view.node.sizes[1:-1] or (view.node,)]
            if scored
            else [0]
        )
        return Known(
            refused_by=refused_by,
            fixed=min(sums),
            slack=max(sums) - min(sums),
            scores=tuple(plugin.score(view) for _, _, plugin in scored if plugin.normalises),
            filter_facts=tuple(plugin.observe(view) for _, plugin in plugins.cluster_filters),
            score_facts=tuple(plugin.observe(view) for _, _, plugin in plugins.cluster_scores),
        )

    def _score_fixed(self, view: NodeView) -> int:
        scores = self._plugins.node_scores
        return sum(weight * plugin.score(view) for _, weight, plugin in scores if not plugin.normalises)

    def _view(self, info: NodeInfo) -> NodeView:
        """The node with its labels, allocatable resources and usage looked up."""
        return NodeView(
            info.node,
            info.node.label_map,
            allocatable(info.node),
            info.unschedulable,
            info.taints,
            info.pods,
            node_usage(info.pods, self._requests, info.node.held),
            info.images,
        )

    def _filter(self, views: list[NodeView], counts: list[int]) -> list[Row]:
        """One row per node, with the first plugin that refuses it."""
        rows = [self._first_refusal(view) for view in views]
        for name, plugin in self._plugins.cluster_filters:
            facts = [plugin.observe(view) for view in views]
            state = plugin.prefilter(facts, counts)
            for index, row in enumerate(rows):
                if not row.rejected_by:
                    rejection = plugin.reject(state, facts[index])
                    rows[index] = _row(name, rejection, plugin.explain(state, facts[index]) if rejection else "")
        return rows

    def _first_refusal(self, view: NodeView) -> Row:
        """The verdict of the node filters."""
        for name, plugin in self._plugins.node_filters:
            rejection = plugin.reject(view)
            if rejection is not None:
                explain = getattr(plugin, "explain", None)
                return _row(name, rejection, explain(view) if explain else "")
        return Row()

    def _score(self, views: list[NodeView], counts: list[int], feasible: list[int]) -> list[Row]:
        """One row per feasible node, with its scores."""
        columns: dict[str, tuple[int, list[int]]] = {}
        for name, weight, node_score in self._plugins.node_scores:
            columns[name] = (weight, node_score.normalise([node_score.score(views[i]) for i in feasible]))
        for name, weight, plugin in self._plugins.cluster_scores:
            facts = [plugin.observe(view) for view in views]
            state = plugin.prescore(facts, counts, feasible)
            if state is None:
                continue
            columns[name] = (weight, plugin.normalise([plugin.score(state, facts[i]) for i in feasible]))
        shown = [(name, *columns[name]) for name in SCORE_ORDER if name in columns]
        return [
            Row(
                scores=tuple((name, scores[place]) for name, _, scores in shown),
                total=sum(weight * scores[place] for _, weight, scores in shown),
            )
            for place in range(len(feasible))
        ]


def _resize(view: NodeView, size: Node) -> NodeView:
    """The view of a node of this size with the same contents."""
    return view if size is view.node else replace(view, allocatable=allocatable(size))


def _ways_to_lose(sizes: Sequence[int], most: int) -> Iterator[tuple[int, ...]]:
    """Every way to lose at most so many of groups of these sizes."""
    if not sizes:
        yield ()
        return
    for lost in range(min(sizes[0], most) + 1):
        for others in _ways_to_lose(sizes[1:], most - lost):
            yield (lost, *others)


def _row(plugin: str, rejection: Rejection | None, detail: str) -> Row:
    """The row of a refused node, or of a feasible one that is not scored yet."""
    if rejection is None:
        return Row()
    reason, unresolvable, words, lacks_claim = rejection
    return Row(plugin, reason, unresolvable, detail=detail, words=words, lacks_claim=lacks_claim)


def _add(totals: list[int], weight: int, scores: list[int], normalise: Callable[[list[int]], list[int]]) -> None:
    """Add the weighted normalised scores to the totals; equal scores change no order and are left out."""
    if min(scores) == max(scores):
        return
    for place, score in enumerate(normalise(scores)):
        totals[place] += weight * score
