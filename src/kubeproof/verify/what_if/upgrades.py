"""All nodes in turn, each when the cluster is at rest again: decided by one turn, from wherever pods may be.

Between two turns everything is at rest and complete, if every turn ends like that. So what one turn cannot do, from any
placement that the scheduler's rules admit and whichever node has it, all turns together cannot: that is proved of each
workload, whatever the others do. And what one turn does from where the pods are now, a run of all turns does first:
it is looked for with the node that has most pods of the workload, is made a run of the whole and replayed. Where
placements depend on how they came about (constraints that count pods, disks), one turn says nothing of the next.
"""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import field, replace
from functools import cached_property, partial

from kubeproof.cluster.objects import Container, Workload
from kubeproof.cluster.state import Phase
from kubeproof.cluster.steering.policies import PodDisruptionBudget
from kubeproof.cluster.steering.priorities import has_priorities
from kubeproof.controllers.scheduler.registry import SCORE_ORDER
from kubeproof.events.declarations import STABLE, Maintenance, NodeChoice
from kubeproof.manifests.loaded import Loaded, Start
from kubeproof.manifests.scenarios.default_scenario import budget_wants, covers
from kubeproof.manifests.scenarios.matrix_columns import DEPLOYED, Fault, intents_of, is_floor
from kubeproof.values import dataclass
from kubeproof.verdicts import Verdict
from kubeproof.verify.findings.left_out import with_caveats
from kubeproof.verify.matrix.questions import CellQuestion
from kubeproof.verify.matrix.result import Cell, Grade
from kubeproof.verify.matrix.solve import Graded, Solver
from kubeproof.verify.options import VerifyOptions
from kubeproof.verify.planning import plan_input
from kubeproof.verify.proofs.crowd.proving import Input, Memo, prove_part, prove_pod_by_pod
from kubeproof.verify.proofs.crowd.room import may_admit
from kubeproof.verify.proofs.slicing import Slice, cut_by_relations
from kubeproof.verify.proofs.standing import set_aside
from kubeproof.verify.result import IntentResult, Statistics
from kubeproof.verify.searching import Watch
from kubeproof.verify.what_if.questions import UPGRADE, Happens
from kubeproof.verify.words.summary import intent_result

FEW_PODS = 5  # of a workload that is searched pod by pod together, where following one of them proves nothing


def one_turn(nodes: NodeChoice = NodeChoice()) -> Maintenance:
    """One node is drained, rebooted and uncordoned."""
    return Maintenance(name=UPGRADE, nodes=nodes, each_once=True, after=STABLE)


class _Unguarded(Input):
    """An input whose budgets are left out; what they may keep on a node is known from elsewhere."""

    def __init__(self, loaded: Loaded, guarded: frozenset[str]) -> None:
        super().__init__(loaded)
        self._guarded = guarded

    @cached_property
    def guarded(self) -> frozenset[str]:
        """The workloads that a budget may keep on a node which is drained."""
        return self._guarded


class UpgradeSolver:
    """Grades workloads of a running cluster of many nodes; each question is about the same upgrade."""

    def __init__(
        self, loaded: Loaded, options: VerifyOptions, columns: tuple[Fault, ...], least: Grade = Grade.DIPS
    ) -> None:
        self._least = least
        self._loaded, self._options, self._columns = loaded, options, {fault.key: fault for fault in columns}
        self._memo: Memo = {}
        self._known: dict[object, tuple[str, Graded]] = {}  # by all that decides: whose it is, and what was found
        self._pods = _pods_by_node(loaded)
        self.alike: dict[str, str] = {}  # by workload, whose run stands for its own

    def __call__(self, question: CellQuestion) -> Graded:
        """The grade of a workload; of those that differ in names alone one is searched."""
        key = self._tell_apart(question.target)
        known = self._known.get(key)
        if known is None:
            found = self._solve(question)
            if found.cell.grade == Grade.UNKNOWN:
                found = replace(found, is_doubted=True)  # asking again tells no more
            known = self._known[key] = question.target, found
            return found
        return self._rename(known[1], known[0], question.target)

    def _rename(self, graded: Graded, first: str, target: str) -> Graded:
        """What was found of one workload, of another one that is like it; what is proved of one is of both."""
        told = graded.cell.detail.replace(first, target)
        if graded.result.trace is not None or graded.cell.grade == Grade.UNKNOWN:
            self.alike[target] = first
        cell = replace(graded.cell, target=target, detail=told)
        source = self._find(target).source
        result = replace(graded.result, target=target, detail=told, location=source)
        return replace(graded, cell=cell, result=result, statistics=Statistics())

    def _tell_apart(self, target: str) -> tuple[object, ...]:
        """All that decides about a workload, its own names aside; its name where it relates to others."""
        workload, setup = self._find(target), self._loaded.setup
        part = self._parts.get(target)
        alone = () if part is not None and len(part.workloads) == 1 else (target,)
        space = workload.namespace if setup.quotas else ""
        scaled = tuple(one for one in setup.autoscalers if one.target == target)
        at_rest = self._is_at_rest(target)
        return (*_shape(self._loaded, workload), *alone, space, scaled, at_rest, self._most_on_a_node(target))

    def _solve(self, question: CellQuestion) -> Graded:
        part = self._parts.get(question.target)
        if part is None:
            return self._look(question, self._busiest(question.target))
        limited = replace(
            self._options, max_states=question.max_states, timeout_s=question.timeout_s, spent_s=0.0, processes=1
        )
        watch = Watch(clock=time.process_time)
        part = self._ask_part(part)
        found = self._prove(part, question.target, limited, watch)
        if found.is_steady:
            return self._steady(question, part, found, limited)
        return self._judge(question, found)

    # -- what holds of every turn -------------------------------------------------------------------

    @cached_property
    def _any_turn(self) -> Loaded:
        """The input deployed anyhow, with one turn of any node, and all that is asked of anybody.

        Nodes are not scored: earlier turns may have put pods where no score would put them at first.
        """
        loaded, (column,) = self._loaded, self._columns.values()
        unscored = (replace(one, disabled_score=frozenset(SCORE_ORDER)) for one in loaded.setup.profiles)
        setup = replace(loaded.setup, profiles=tuple(unscored))
        asked = [one for one in setup.workloads if one.owner is None and column.concerns(setup, one)]
        intents = tuple(intent for one in asked for intent in intents_of(setup, one, [column]))
        scenario = replace(loaded.scenario, start=Start(DEPLOYED), events=(one_turn(),), intents=intents)
        return replace(loaded, setup=setup, scenario=scenario)

    @cached_property
    def _whole(self) -> Input:
        return Input(self._any_turn)

    @cached_property
    def _asked(self) -> dict[str, tuple[int, ...]]:
        """The numbers of what is asked of each workload."""
        found: dict[str, list[int]] = {}
        for number, intent in enumerate(self._any_turn.scenario.intents):
            found.setdefault(str(intent.target), []).append(number)
        return {target: tuple(numbers) for target, numbers in found.items()}

    @cached_property
    def _parts(self) -> dict[str, Slice]:
        """The part of each workload that placements alone decide about; nothing is asked of it yet."""
        found: dict[str, Slice] = {}
        whole = self._any_turn
        for part in cut_by_relations(replace(whole, scenario=replace(whole.scenario, intents=()))):
            if not _remembers(part.loaded):
                found.update(dict.fromkeys(part.workloads, part))
        return found

    def _ask_part(self, part: Slice) -> Slice:
        """The part with what is asked of its workloads."""
        numbers = tuple(sorted(number for ref in part.workloads for number in self._asked.get(ref, ())))
        intents = tuple(self._any_turn.scenario.intents[number] for number in numbers)
        scenario = replace(part.loaded.scenario, intents=intents)
        return replace(part, loaded=replace(part.loaded, scenario=scenario), intents=numbers)

    @cached_property
    def _guarded(self) -> dict[str, tuple[PodDisruptionBudget, ...]]:
        """The budgets that cover each workload; one that covers several workloads is told twice of each."""
        found: dict[str, tuple[PodDisruptionBudget, ...]] = {}
        for budget in self._loaded.setup.budgets:
            refs = [one.ref for one in self._loaded.setup.workloads if covers(budget, one)]
            for ref in refs:
                found[ref] = (*found.get(ref, ()), *(budget,) * min(2, len(refs)))
        return found

    @cached_property
    def _unguarded(self) -> _Unguarded:
        """The input without budgets, of which it is still known whose pods one may keep on a drained node."""
        plain = replace(self._any_turn, setup=replace(self._any_turn.setup, budgets=()))
        return _Unguarded(plain, frozenset(self._guarded))

    def _prove(self, part: Slice, target: str, options: VerifyOptions, watch: Watch) -> _Proved:
        """What is proved of the intents of a workload."""
        own = self._asked.get(target, ())
        nothing = _Proved(self._any_turn, own, frozenset())
        if not self._is_at_rest(target):
            return replace(nothing, obstacle="it is not complete at the start, or on a closed node")
        plan_part = partial(plan_input, options=options)
        plain = replace(part, loaded=replace(part.loaded, setup=replace(part.loaded.setup, budgets=())))
        found = prove_pod_by_pod(self._unguarded, plain, plan_part, options, watch, self._memo)
        lasting = frozenset(number for number in own if not nothing.count_of(number))
        proved = found.unbroken & lasting
        if not lasting.issubset(proved) and self._find(target).replicas <= FEW_PODS and not watch.is_over:
            whole = prove_part(self._whole, part, plan_part, options, watch, self._memo)
            if whole.unbroken.intersection(own):
                numbers = whole.unbroken.intersection(own)
                return replace(nothing, numbers=numbers, obstacle=whole.obstacle, any_size=whole.any_size)
        budgets = self._guarded.get(target, ())
        if not budgets or not lasting.issubset(proved):
            unbroken = proved if not budgets else frozenset[int]()
            return replace(nothing, numbers=unbroken, obstacle=found.obstacle, any_size=found.any_size)
        kept = self._find_kept(target, budgets)
        if kept is None:
            return replace(nothing, obstacle="its budgets may let no pod go, or count pods of others")
        floors = frozenset(number for number in own if 0 < nothing.count_of(number) <= kept)
        return replace(nothing, numbers=lasting | floors, any_size=found.any_size)

    def _find_kept(self, target: str, budgets: tuple[PodDisruptionBudget, ...]) -> int | None:
        """So many pods the one budget of a workload keeps ready; None if it may let none go for ever.

        Nothing but evictions takes pods of it away, and it grants one only if enough are left. While it grants none
        some pod is missing, which is replaced and ready in the end, as each is: then it grants one again. Every
        eviction takes a pod from the drained node for good, so that the drain comes to an end.
        """
        workload = self._find(target)
        if len(budgets) != 1 or not workload.rules.has_replicas or self._is_resized(target):
            return None
        kept = budget_wants(budgets[0], workload.replicas)
        return kept if kept < workload.replicas else None

    def _is_resized(self, target: str) -> bool:
        """True if an autoscaler may change how many pods there are, or pods of higher priority may take their room."""
        is_scaled = any(one.target == target for one in self._loaded.setup.autoscalers)
        return is_scaled or has_priorities(self._loaded.setup)

    def _is_at_rest(self, target: str) -> bool:
        """True if all pods are ready, on nodes where the scheduler may have put them."""
        workload = self._find(target)
        nodes = {node.name: node for node in self._loaded.setup.nodes}
        pods = [one for one in self._loaded.scenario.start.pods if one.ref == target]
        if any(one.phase != Phase.READY or not one.node for one in pods):
            return False
        admitted = all(
            may_admit(nodes[one.node], workload.template) and not nodes[one.node].unschedulable for one in pods
        )
        is_whole = workload.rules.runs_per_node or sum(one.number for one in pods) == workload.replicas
        return admitted and is_whole

    def _steady(self, question: CellQuestion, part: Slice, found: _Proved, options: VerifyOptions) -> Graded:
        plan = plan_input(part.loaded, options)
        number = part.intents.index(max(found.own, key=found.count_of))
        result = intent_result(part.loaded, plan, number, Verdict.HOLDS, Statistics())
        (result,) = with_caveats(part.loaded, plan, [result], frozenset(part.workloads), found.any_size)
        grade = Grade.STEADY if result.verdict == Verdict.HOLDS else Grade.UNKNOWN
        return _graded(question, grade, result.detail, replace(result, faults=question.faults, target=question.target))

    # -- what one turn does from where pods are -----------------------------------------------------

    def _judge(self, question: CellQuestion, found: _Proved) -> Graded:
        """The grade by what one turn does now, and by what is proved of all turns."""
        looked = self._look(question, self._busiest(question.target))
        cell = looked.cell
        if cell.grade == Grade.STUCK:
            return looked
        if cell.grade == Grade.DIPS and found.comes_back:
            if cell.lowest is not None and found.least_ready >= cell.lowest:
                return looked
            told = f"{cell.detail}; later turns may take more of its pods at once"
            return replace(looked, cell=replace(cell, lowest=None, detail=told))
        if cell.grade == Grade.STEADY and found.comes_back:
            told = (
                "complete again after every turn; never below its minimum in the turn of the node that now has most of "
                "its pods; not decided of later turns, as nothing keeps its pods apart: a PodDisruptionBudget would"
            )
            held = replace(looked.result, verdict=self._enough, detail=told)
            return _graded(question, Grade.UNKNOWN, told, held)
        why = found.obstacle or "it depends on where earlier turns have put its pods, or on room that others leave"
        told = f"one turn, of the node with most of its pods: {cell.detail}; not decided of every turn: {why}"
        result = replace(looked.result, verdict=Verdict.UNKNOWN, detail=told, trace=None)
        return _graded(question, Grade.UNKNOWN, told, result)

    @property
    def _enough(self) -> Verdict:
        """The verdict of what comes back, and may be below its minimum meanwhile."""
        return Verdict.HOLDS if self._least == Grade.DIPS else Verdict.UNKNOWN

    def _look(self, question: CellQuestion, node: str) -> Graded:
        """What one turn of a node does from where pods are."""
        (column,) = self._columns.values()
        happens = Happens((one_turn(NodeChoice(names=(node,))),))
        turn = replace(column, events=happens)
        scenario = replace(self._loaded.scenario, events=happens.events, intents=())
        near = set_aside(replace(self._loaded, scenario=scenario)).loaded
        return Solver(near, self._options, (turn,))(question)

    def _busiest(self, target: str) -> str:
        """The node with most pods of a workload."""
        counts = self._pods.get(target) or Counter({self._find(target).home or self._loaded.setup.nodes[0].name: 0})
        return max(sorted(counts), key=lambda name: counts[name])

    def _most_on_a_node(self, target: str) -> int:
        return max(self._pods.get(target, {"": 0}).values())

    def _find(self, target: str) -> Workload:
        return self._by_ref[target]

    @cached_property
    def _by_ref(self) -> dict[str, Workload]:
        return {one.ref: one for one in self._loaded.setup.workloads if one.owner is None}


@dataclass(frozen=True, slots=True)
class _Proved:
    """What is proved of one turn from anywhere, by number of intent."""

    whole: Loaded
    own: tuple[int, ...]  # that are about the workload
    numbers: frozenset[int]
    obstacle: str = ""
    any_size: frozenset[str] = field(default=frozenset())

    @property
    def is_steady(self) -> bool:
        """True if all of it is proved."""
        return bool(self.own) and self.numbers.issuperset(self.own)

    def count_of(self, number: int) -> int:
        """How many ready pods an intent asks for at every moment; 0 for others."""
        intent = self.whole.scenario.intents[number]
        return intent.count.number if is_floor(intent) and intent.count is not None else 0

    @property
    def comes_back(self) -> bool:
        """True if each turn ends with all complete."""
        lasting = [number for number in self.own if not self.count_of(number)]
        return self.numbers.issuperset(lasting)

    @property
    def least_ready(self) -> int:
        """So many pods are always ready."""
        return max((self.count_of(number) for number in self.numbers), default=0)


def _graded(question: CellQuestion, grade: Grade, told: str, result: IntentResult) -> Graded:
    return Graded(Cell(question.target, question.faults, grade, told), result, Statistics())


def _pods_by_node(loaded: Loaded) -> dict[str, Counter[str]]:
    found: dict[str, Counter[str]] = {}
    for one in loaded.scenario.start.pods:
        if one.node:
            found.setdefault(one.ref, Counter())[one.node] += one.number
    return found


def _remembers(loaded: Loaded) -> bool:
    """True if where pods may be next depends on where they are: constraints that count, disks, ports."""
    return any(
        any(constraint.hard for constraint in one.template.spread)
        or one.template.pod_affinity.required
        or one.template.claims
        or one.claim_templates
        for one in loaded.setup.workloads
    ) or bool(loaded.setup.claims)


def _shape(loaded: Loaded, workload: Workload) -> tuple[object, ...]:
    """All that decides about a workload but its names: those of itself, of its labels, and of its namespace."""
    template = replace(workload.template, labels=(), containers=tuple(map(_plain, workload.template.containers)))
    covering = [b for b in loaded.setup.budgets if b.namespace == workload.namespace and b.selector is not None]
    own = [b for b in covering if b.selector is not None and b.selector.matches(dict(workload.template.labels))]
    budgets = tuple((b.min_available, b.max_unavailable, b.unhealthy_policy) for b in own)
    return workload.kind, workload.replicas, template, workload.strategy, workload.stateful, budgets


def _plain(container: Container) -> Container:
    return replace(container, name="", image="")
