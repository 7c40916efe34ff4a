"""The optimal scaling policy of an autoscaling model, as a table and as an HPA `behavior`."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any

from kubeproof.errors import UsageError
from kubeproof.quantify.prism.building import build
from kubeproof.quantify.prism.programs import Program, properties
from kubeproof.quantify.published.parameters import AutoscalingParameters
from kubeproof.quantify.storm import Model, storm
from kubeproof.values import dataclass

WAIT, KEEP, DOUBLE, ADD, OUT, IN = "wait", "do not scale", "double", "add", "scale out", "scale in"
_TIE = 1e-9  # relative: closer values are equally good
Situation = tuple[int, int, int]  # pods, utilisation, pods wanted
Decision = tuple[tuple[str, ...], tuple[str, ...]]  # the best ones, all possible ones
Decisions = Mapping[Situation, set[Decision]]


@dataclass(frozen=True, slots=True)
class PolicyRow:
    """What is optimal in situations that differ only in the number of pods, and what else could be done there.

    Decisions in one tuple of `best` are equally good; several tuples mean that it depends on the number of pods wanted,
    latency, response time or demand. To wait is to take new metrics first.
    """

    pods: tuple[int, ...]
    utilisation: int
    wanted: tuple[int, ...]
    best: tuple[tuple[str, ...], ...]
    possible: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Policy:
    """The first decision of a run that begins in each situation and lasts for all steps of the property."""

    property: str
    rows: tuple[PolicyRow, ...]
    behavior: str  # YAML; empty if none fits
    reason: str  # why it fits, or why none does


def optimal_policy(program: Program, name: str, text: str, parameters: AutoscalingParameters) -> Policy:
    """The policy for a property R…max=? [C<=n] or R…min=? [C<=n].

    With n steps to go the best choice of a state maximises the expected value of n-1 more steps behind it. Storm
    computes those values for all states; states are compared at the earliest clock at which they occur.
    """
    found = re.fullmatch(r"(R\{\"\w+\"\}(max|min)=\? \[\s*C<=)\s*(\d+)\s*\]", text)
    if found is None:
        raise UsageError(f"there is no policy for {text}", 'Ask for one of a property R{"…"}max=? [C<=n].')
    shorter = properties(f"{found[1]}{int(found[3]) - 1}]", program, file="--policy")
    model = build(program, shorter, valuations=True)
    values = storm().model_checking(model.handle, shorter[0].formula).get_value_vector()
    decisions = _decisions(model, values, max if found[2] == "max" else min, parameters)
    rows = tuple(_rows(decisions))
    behavior, reason = _behavior(decisions, parameters)
    return Policy(name, rows, behavior, reason)


def _decisions(model: Model, values: list[float], best: Any, parameters: AutoscalingParameters) -> Decisions:
    """Situations with, for each of their states, the best choices and all choices; only where there are several."""
    states = _valuations(model)
    found: defaultdict[Situation, set[Decision]] = defaultdict(set)
    for state in _earliest(states):
        pods, wanted = states["pod"][state], states["current_pod"]
        options = [
            (_word(label, pods, wanted[to], parameters), value) for label, to, value in _options(model, state, values)
        ]
        top = best(value for _, value in options)
        good = sorted({word for word, value in options if abs(value - top) <= _TIE * abs(top)})
        every = sorted({word for word, _ in options})
        if len(every) > 1:
            found[pods, states["u"][state], wanted[state]].add((tuple(good), tuple(every)))
    return found


def _valuations(model: Model) -> dict[str, list[int]]:
    """The values of all variables by state; variables that never change are not among them."""
    valuations = model.handle.state_valuations
    return {variable.name: valuations.get_values_states(variable) for variable in valuations.get_all_variables()}


def _earliest(states: Mapping[str, list[int]]) -> Iterable[int]:
    """One state for each situation with all its details: the one with the lowest clock."""
    names = sorted(states.keys() - {"t"})
    clock = states["t"]
    found: dict[tuple[int, ...], int] = {}
    for state, details in enumerate(zip(*(states[name] for name in names), strict=True)):
        if details not in found or clock[state] < clock[found[details]]:
            found[details] = state
    return sorted(found.values())


def _options(model: Model, state: int, values: list[float]) -> Iterator[tuple[str, int, float]]:
    """Action, one successor and expected value behind each choice of a state."""
    matrix, labels = model.handle.transition_matrix, model.handle.choice_labeling
    for row in matrix.get_rows_for_group(state):
        entries = [(entry.column, entry.value) for entry in matrix.get_row(row)]
        actions = sorted(labels.get_labels_of_choice(row))
        yield actions[0] if actions else "", entries[0][0], sum(share * values[to] for to, share in entries)


def _word(action: str, pods: int, target: int, one: AutoscalingParameters) -> str:
    if action == "scale_in":
        return IN
    if action != "scale_out":
        return KEEP if action else WAIT
    is_double = target == min(one.max_pods, pods + pods)
    is_step = target == min(one.max_pods, pods + one.step_pods)
    return OUT if is_double == is_step else DOUBLE if is_double else ADD


def _rows(decisions: Decisions) -> Iterator[PolicyRow]:
    """The table: situations with the same utilisation and the same decisions share a row."""
    grouped: defaultdict[tuple[Any, ...], set[tuple[int, int]]] = defaultdict(set)
    for (pods, utilisation, wanted), seen in decisions.items():
        best = tuple(sorted({good for good, _ in seen}))
        possible = tuple(sorted({word for _, every in seen for word in every}))
        grouped[utilisation, best, possible].add((pods, wanted))
    for (utilisation, best, possible), places in sorted(grouped.items()):
        all_pods = tuple(sorted({pods for pods, _ in places}))
        yield PolicyRow(all_pods, utilisation, tuple(sorted({wanted for _, wanted in places})), best, possible)


def _behavior(decisions: Decisions, one: AutoscalingParameters) -> tuple[str, str]:
    """The part of an HPA that makes these decisions, if they follow a rule that it can state.

    Only situations count in which the pods wanted are there. Where not to scale is just as good, anything fits.
    """
    settled = [seen for (pods, _, wanted), seen in decisions.items() if pods == wanted]
    up, down = _common(settled, {DOUBLE, ADD}), _common(settled, {IN})
    if up is None or down is None:
        direction = "out" if up is None else "in"
        return "", f"no behavior fits: whether or how to scale {direction} depends on more than a behavior can say"
    lines = ["behavior:", *_rule("scaleUp", up, one), *_rule("scaleDown", down, one)]
    return "\n".join(lines) + "\n", "a behavior fits in all situations in which the pods wanted are there"


def _common(settled: Sequence[set[Decision]], words: set[str]) -> set[str] | None:
    """The words that are right wherever one is needed; empty if none ever is, None if none is always right."""
    needed: list[set[str]] = []
    is_refused = False
    for good, possible in (decision for seen in settled for decision in seen):
        if not _find_meant(possible) & words:
            continue
        taken, others = _find_meant(good) & words, set(good) & {WAIT, KEEP}
        is_refused |= not taken
        needed += [taken] if taken and not others else []
    if not needed:
        return set()
    common = set.intersection(*needed)
    return None if is_refused or not common else common


def _find_meant(decisions: Iterable[str]) -> set[str]:
    """The decisions, one that both doubles and adds counted as each of them."""
    return {word for one in decisions for word in ((DOUBLE, ADD) if one == OUT else (one,))}


def _rule(direction: str, chosen: set[str], one: AutoscalingParameters) -> Iterator[str]:
    yield f"  {direction}:"
    if not chosen:
        yield "    selectPolicy: Disabled"
        return
    kind, value = ("Pods", one.step_pods) if chosen == {ADD} else ("Percent", 100)
    yield "    stabilizationWindowSeconds: 0"
    yield "    policies:"
    yield f"    - {{type: {kind}, value: {value}, periodSeconds: {min(1800, max(1, one.period))}}}"


def ranges(numbers: Iterable[int]) -> str:
    """Whole numbers as text, neighbours as a range: 1-3, 7."""
    runs = groupby(enumerate(sorted(numbers)), key=lambda pair: pair[1] - pair[0])
    ends = [[number for _, number in run] for _, run in runs]
    return ", ".join(str(run[0]) if len(run) == 1 else f"{run[0]}-{run[-1]}" for run in ends)
